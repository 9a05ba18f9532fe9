import InspectorCore
import InspectorScreen
import SocketCore
import SocketWorkshop

/// The steps of a script file, one per line. `#` starts a comment.
struct Script: Equatable {
    /// What one line requests.
    enum Step: Equatable {
        case key([Key])
        case type(String)
        /// Waits until the screen contains this text. Fails after `limit`.
        case wait(String, limit: Duration)
        /// Waits until the screen does not contain this text. Fails after `limit`.
        case waitNot(String, limit: Duration)
        /// Writes the screen to a file, or to stdout if the path is `nil`.
        case dump(String?)
        case resize(Size)
        /// A line as typed after `:`.
        case command(String)
    }

    /// An invalid line. The sentence says what would be valid.
    struct Mistake: Error, Equatable {
        var line: Int
        var sentence: String
    }

    /// The default time limit of a wait.
    static let patience = Duration.seconds(10)

    /// The maximum length of a line in bytes.
    private static let longestLine = 65_536

    /// The steps, with their line numbers.
    private(set) var steps: [(line: Int, step: Step)] = []

    static func == (left: Script, right: Script) -> Bool {
        left.steps.elementsEqual(right.steps) { $0 == $1 }
    }

    /// Parses a script.
    /// - Throws: the first mistake.
    init(_ text: String) throws(Mistake) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard line.utf8.count <= Self.longestLine else {
                throw Mistake(line: index + 1, sentence: "a line can have at most \(Self.longestLine) bytes")
            }
            guard let first = line.first(where: { $0 != " " && $0 != "\t" }), first != "#" else { continue }
            do throws(UsageError) {
                steps.append((index + 1, try Self.step(line.drop { $0 == " " || $0 == "\t" })))
            } catch {
                throw Mistake(line: index + 1, sentence: error.description)
            }
        }
    }

    private static func step(_ line: Substring) throws(UsageError) -> Step {
        let word = line.prefix { $0 != " " }
        let rest = String(line.dropFirst(word.count + 1))
        switch Word(rawValue: String(word)) {
        case .key: return .key(try keys(rest))
        case .type: return .type(rest)
        case .wait:
            let (text, limit) = try waited(rest, .wait)
            return .wait(text, limit: limit)
        case .waitNot:
            let (text, limit) = try waited(rest, .waitNot)
            return .waitNot(text, limit: limit)
        case .dump: return .dump(rest.isEmpty ? nil : rest)
        case .resize:
            guard let size = Size(rest) else { throw UsageError("resize", "needs columns x rows, as in 80x24") }
            return .resize(size)
        case nil:
            switch Instruction.parse(String(line)) {
            case .success: return .command(String(line))
            case .failure(let failure):
                guard Action.names.contains(String(word)) else {
                    throw UsageError(String(word), unknown(String(word)))
                }
                throw UsageError(sentence: failure.message)
            }
        }
    }

    /// The words of the steps that are not commands.
    enum Word: String, CaseIterable {
        case key, type, wait
        case waitNot = "wait-not"
        case dump, resize

        /// The word's arguments, and what the step does.
        var help: (arguments: String, help: String) {
            switch self {
            case .key: ("KEY...", "press keys, named as in the help")
            case .type: ("TEXT", "type text")
            case .wait:
                (
                    "[TIME] TEXT",
                    "wait until the screen shows TEXT, or the selected connection has received it; what was typed and "
                        + "sent here does not count. Fails after TIME (5, 5s or 500ms; 10 s by default), or once "
                        + "every connection is closed"
                )
            case .waitNot: ("[TIME] TEXT", "wait until the screen does not show it")
            case .dump: ("[FILE]", "write the screen to a file, or to stdout")
            case .resize: ("WxH", "resize the screen")
            }
        }
    }

    /// The steps as shown in the manual.
    static let steps: [(form: String, help: String)] =
        Word.allCases.map { ("\($0.rawValue) \($0.help.arguments)", $0.help.help) } + [
            ("# TEXT", "a comment"), ("COMMAND", "run it as if typed after :; the script fails if it is refused"),
        ]

    private static func unknown(_ word: String) -> String {
        let words = Word.allCases.map(\.rawValue)
        return "no such step; write \(Spelling.alternatives(words + ["a command"]))"
            + Spelling.suggestion(for: word, among: words + Action.names)
    }

    /// Parses `TEXT` or `TIME TEXT`, such as `5 live` or `500ms live`.
    private static func waited(_ rest: String, _ word: Word) throws(UsageError) -> (String, Duration) {
        guard !rest.isEmpty else { throw UsageError(word.rawValue, "needs the text to wait for") }
        let number = rest.prefix { $0 != " " }
        let text = String(rest.dropFirst(number.count + 1))
        guard !text.isEmpty else { return (rest, patience) }
        if let seconds = Double(number), seconds > 0, seconds < 100_000 {
            return (text, .milliseconds(Int64(seconds * 1000)))
        }
        if let time = time(number) { return (text, time) }
        return (rest, patience)
    }

    /// Parses `5s` or `500ms`. A number without a unit is not a time.
    private static func time(_ word: Substring) -> Duration? {
        guard word.first?.isNumber == true, word.last?.isLetter == true,
            case .some(.some(let duration)) = DurationText.parse(String(word)), duration > .zero
        else { return nil }
        return duration
    }

    /// Whether the text ends with what was probably meant as a time.
    static func endsWithTime(_ text: String) -> Bool {
        text.split(separator: " ").dropFirst().last.map { time($0) != nil } ?? false
    }

    private static func keys(_ text: String) throws(UsageError) -> [Key] {
        let words = text.split(separator: " ")
        if words.isEmpty { throw UsageError("key", "needs a key, as in key Enter, key q, key ^D, key Alt-1") }
        var keys: [Key] = []
        for word in words {
            guard let key = Key(named: String(word)) else {
                throw UsageError(String(word), "no such key; write a character, Enter, Esc, Up, F1, ^D, Alt-1...")
            }
            keys.append(key)
        }
        return keys
    }
}
