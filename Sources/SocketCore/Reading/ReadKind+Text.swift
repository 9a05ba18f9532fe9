// The text form of a read's kind, shared by the command line, the dialog, templates and the screens: `any`,
// `any max 8K`, `length 4096`, `until CRLF max 8K`, `frame u32 little after 2 counts-header max 1M`.

/// The problem with a text that is not a kind of read: the wrong word, and what would be right.
package struct ReadTextProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// The part that the word belongs to, or `nil` if it belongs to none.
    package var part: ReadPart?
    package var word: String
    package var message: String

    init(_ part: ReadPart?, _ word: String, _ message: String) {
        self.part = part
        self.word = word
        self.message = message
    }

    package var description: String { "\(PrintableText.escaped(word)): \(message)" }
}

extension ReadRequest.Kind {
    /// The text form, from which `parse` makes the same kind.
    package var text: String { text(word.parts) }

    /// The text form without the limit, for screens that show it elsewhere.
    package var words: String { text(word.parts.filter { $0 != .limit }) }

    private func text(_ parts: [ReadPart]) -> String {
        let values = values
        return parts.reduce(into: word.rawValue) { text, part in
            guard let value = values.text(part) else { return }
            text += (part.keyword.map { " \($0)" } ?? "") + " " + value
        }
    }

    /// Parses a text form. `line` means `until CRLF`.
    package static func parse(_ text: String) throws(ReadTextProblem) -> ReadRequest.Kind {
        var words = text.split(separator: " ").map(String.init)[...]
        guard !words.isEmpty else { throw ReadTextProblem(nil, "read", "needs \(usage)") }
        var reader = ReadKindReader()
        while let word = words.popFirst() {
            guard try reader.accept(word, next: { words.popFirst() }) else {
                throw ReadTextProblem(nil, word, "must be \(usage)")
            }
        }
        return try reader.kind()
    }

    /// `any|length N|until \r\n|frame u32|line [max 8K]`.
    package static let usage =
        (Word.allCases.map(\.usage) + [line]).joined(separator: "|") + " [max \(ReadPart.limit.example)]"

    /// Every word that a text form can contain.
    package static let vocabulary =
        Word.allCases.map(\.rawValue) + [line] + ReadPart.allCases.compactMap(\.keyword)
        + ReadPart.allCases.flatMap(\.choices)

    fileprivate static let line = "line"
}

extension ReadRequest.Kind.Word {
    /// The word, with an example of what must follow it: `length N`.
    package var usage: String { ([rawValue] + parts.filter(\.isRequired).map(\.example)).joined(separator: " ") }
}

/// Builds a kind of read, word by word or part by part. Without a kind's word it is `any`.
package struct ReadKindReader {
    private var word: ReadRequest.Kind.Word
    /// The word that named the kind, or `nil` if none did.
    private var kindWord: String?
    private var values = ReadValues()
    /// The parts that were given, each with the word that introduced it.
    private var given: [(part: ReadPart, word: String)] = []

    package init(_ word: ReadRequest.Kind.Word = .any) { self.word = word }

    /// Accepts a word, and its value from `next`. Returns `false` if it is not a word of a kind's text form.
    package mutating func accept(_ text: String, next: () -> String?) throws(ReadTextProblem) -> Bool {
        if text == ReadRequest.Kind.line {
            try begin(.until, text)
            try set(.terminator, TerminatorText.names[0].name)
        } else if let word = ReadRequest.Kind.Word(rawValue: text) {
            try begin(word, text)
            if let part = word.parts.first, part.isRequired { try set(part, next()) }
        } else if let part = ReadPart.allCases.first(where: { $0.keyword == text }) {
            try set(part, next())
        } else if let part = ReadPart.allCases.first(where: { !$0.isRequired && $0.choices.contains(text) }) {
            try set(part, text)
        } else {
            return false
        }
        return true
    }

    private mutating func begin(_ word: ReadRequest.Kind.Word, _ text: String) throws(ReadTextProblem) {
        if let kindWord { throw ReadTextProblem(nil, text, "is a second kind of read, after \(kindWord)") }
        (self.word, kindWord) = (word, text)
    }

    /// Takes the value of a part.
    package mutating func set(_ part: ReadPart, _ text: String?) throws(ReadTextProblem) {
        guard let text, !text.isEmpty else { throw ReadTextProblem(part, name(part), "needs \(part.noun) after it") }
        if given.contains(where: { $0.part == part }) { throw ReadTextProblem(part, name(part), "is given twice") }
        try values.set(part, text)
        given.append((part, part.isRequired ? word.rawValue : part.keyword ?? text))
    }

    /// The kind.
    package func kind() throws(ReadTextProblem) -> ReadRequest.Kind {
        if let (part, word) = given.first(where: { !word.parts.contains($0.part) }) {
            let others = ReadRequest.Kind.Word.allCases.filter { $0.parts.contains(part) }.map(\.rawValue)
            throw ReadTextProblem(part, word, "can only be used with \(others.joined(separator: " or "))")
        }
        let kind = ReadRequest.Kind(word, values)
        if let flaw = kind.flaw { throw ReadTextProblem(flaw.part, name(flaw.part), flaw.message) }
        return kind
    }

    /// The word that a part of this kind follows.
    private func name(_ part: ReadPart) -> String { part.keyword ?? word.rawValue }
}
