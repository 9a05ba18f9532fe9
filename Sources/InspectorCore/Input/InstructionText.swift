import SocketCore

/// The words of one line that is typed after `:`, bound to a key, written in a script or sent to the control socket.
package enum InstructionText {
    /// The reason why a line is invalid: one sentence that names the word.
    package struct Failure: Error, Equatable, Sendable {
        package var message: String

        package init(_ word: String, _ problem: String) { message = word.isEmpty ? problem : "\(word): \(problem)" }
    }

    /// The arguments of a verb.
    package struct Arguments: Sendable {
        package let verb: String
        /// The text as typed, without leading blanks.
        package let whole: String
        private var words: [String]

        package init(verb: String, text: String) {
            self.verb = verb
            whole = text
            words = text.split(separator: " ").map(String.init)
        }

        /// The remaining words, joined by single blanks.
        package var text: String { words.joined(separator: " ") }

        /// Returns the next word, or `nil` if there is none.
        package mutating func next() -> String? { words.isEmpty ? nil : words.removeFirst() }

        /// Returns the next word. `what` describes it, as in `a number of bytes`.
        package mutating func next(after word: String, _ what: String) throws(Failure) -> String {
            guard let next = next() else { throw Failure(word, "needs \(what) after it") }
            return next
        }

        /// Returns the next word, or the text between double quotes including its blanks.
        package mutating func nextQuoted(after word: String, _ what: String) throws(Failure) -> String {
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

        package mutating func duration(after word: String) throws(Failure) -> Duration? {
            let text = try next(after: word, "a duration")
            guard let duration = DurationText.parse(text) else {
                throw Failure(text, "is not a duration; write 30s or 500ms")
            }
            return duration
        }

        package func unknown(_ word: String, _ known: [String]) -> Failure {
            Failure(word, "\(verb) takes \(known.joined(separator: ", "))")
        }
    }

    package static func escaped(_ text: String, _ verb: String) throws(Failure) -> [UInt8] {
        switch EscapedText.parse(text) {
        case .success(let bytes): return bytes
        case .failure(let failure): throw Failure(verb, "column \(failure.column): \(failure.message)")
        }
    }
}
