import SocketCore

/// What one line asks for that was typed after `:`, bound to a key or written in a script: an action's name, as
/// the help shows it, or a verb with its arguments.
package struct Instruction: Sendable {
    /// The action's name.
    package let verb: String
    /// What it does with its arguments, or `nil` if there are none: then it does what its own key does.
    let body: Action.Body?

    /// Why a line means nothing: one sentence that names the word.
    package struct Failure: Error, Hashable, Sendable {
        package var message: String

        package init(_ word: String, _ problem: String) { message = word.isEmpty ? problem : "\(word): \(problem)" }
    }

    /// Reads a line.
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

    /// What follows a verb.
    package struct Arguments: Sendable {
        let verb: String
        /// As it was typed, without the blanks before it.
        let whole: String
        private var words: [String]

        init(verb: String, text: String) {
            self.verb = verb
            whole = text
            words = text.split(separator: " ").map(String.init)
        }

        /// What is left, with one blank between words.
        package var text: String { words.joined(separator: " ") }

        /// The next word; nil: there is none.
        mutating func next() -> String? { words.isEmpty ? nil : words.removeFirst() }

        /// The next word; `what` says what it would be, as in `a number of bytes`.
        mutating func next(after word: String, _ what: String) throws(Failure) -> String {
            guard let next = next() else { throw Failure(word, "needs \(what) after it") }
            return next
        }

        /// The next word, or what stands between double quotes, with its blanks.
        mutating func nextQuoted(after word: String, _ what: String) throws(Failure) -> String {
            guard words.first?.hasPrefix("\"") == true, let begin = whole.firstIndex(of: "\"") else {
                return try next(after: word, what)
            }
            let rest = whole[whole.index(after: begin)...]
            guard let end = rest.firstIndex(of: "\"") else {
                throw Failure(String(whole[begin...]), "has no closing quote; one within is \\x22")
            }
            words = rest[rest.index(after: end)...].split(separator: " ").map(String.init)
            return String(rest[..<end])
        }

        mutating func duration(after word: String) throws(Failure) -> Duration? {
            let text = try next(after: word, "a length of time")
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
