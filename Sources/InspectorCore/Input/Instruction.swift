import SocketCore

/// One line typed after `:`, bound to a key or written in a script: an action's name, as shown in the help, or a verb
/// with its arguments.
package struct Instruction: Sendable {
    /// The action's name.
    package let verb: String
    /// What it does with its arguments, or `nil` if there are none. It then does what its own key does.
    let body: Action.Body?

    /// The reason why a line is invalid: one sentence that names the word.
    package struct Failure: Error, Hashable, Sendable {
        package var message: String

        package init(_ word: String, _ problem: String) { message = word.isEmpty ? problem : "\(word): \(problem)" }
    }

    /// Parses a line.
    package static func parse(_ line: String) -> Result<Instruction, Failure> {
        let line = line.drop { $0 == " " }
        let verb = String(line.prefix { $0 != " " })
        let rest = String(line.dropFirst(verb.count).drop { $0 == " " })
        do throws(Failure) {
            guard let action = Action.named(verb) else {
                if verb.isEmpty { throw Failure("", "type a command; Tab completes it") }
                throw Failure(verb, "no such command" + Spelling.suggestion(for: verb, among: Action.names))
            }
            if let syntax = action.syntax, !rest.isEmpty || action.uses.isEmpty {
                return .success(Instruction(verb: verb, body: try syntax.read(Arguments(verb: verb, text: rest))))
            }
            guard rest.isEmpty else { throw Failure(rest, "\(verb) takes no arguments") }
            return .success(Instruction(verb: verb, body: nil))
        } catch {
            return .failure(error)
        }
    }

    /// The arguments of a verb.
    package struct Arguments: Sendable {
        let verb: String
        /// The text as typed, without leading blanks.
        let whole: String
        private var words: [String]

        init(verb: String, text: String) {
            self.verb = verb
            whole = text
            words = text.split(separator: " ").map(String.init)
        }

        /// The remaining words, joined by single blanks.
        package var text: String { words.joined(separator: " ") }

        /// Returns the next word, or `nil` if there is none.
        mutating func next() -> String? { words.isEmpty ? nil : words.removeFirst() }

        /// Returns the next word. `what` describes it, as in `a number of bytes`.
        mutating func next(after word: String, _ what: String) throws(Failure) -> String {
            guard let next = next() else { throw Failure(word, "needs \(what) after it") }
            return next
        }

        /// Returns the next word, or the text between double quotes including its blanks.
        mutating func nextQuoted(after word: String, _ what: String) throws(Failure) -> String {
            guard words.first?.hasPrefix("\"") == true, let begin = whole.firstIndex(of: "\"") else {
                return try next(after: word, what)
            }
            let rest = whole[whole.index(after: begin)...]
            guard let end = rest.firstIndex(of: "\"") else {
                throw Failure(String(whole[begin...]), "has no closing quote; write one inside as \\x22")
            }
            words = rest[rest.index(after: end)...].split(separator: " ").map(String.init)
            return String(rest[..<end])
        }

        mutating func duration(after word: String) throws(Failure) -> Duration? {
            let text = try next(after: word, "a duration")
            guard let duration = DurationText.parse(text) else {
                throw Failure(text, "is not a duration; write 30s or 500ms")
            }
            return duration
        }

        func unknown(_ word: String, _ known: [String]) -> Failure {
            Failure(word, "\(verb) takes \(known.joined(separator: ", "))")
        }
    }
}
