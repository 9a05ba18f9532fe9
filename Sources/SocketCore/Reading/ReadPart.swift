/// A value that a kind of read can need. The raw value is its name in the API.
package enum ReadPart: String, Equatable, Sendable, CaseIterable {
    case length
    case terminator = "delimiter"
    /// The size of a frame's length in bytes.
    case width
    /// The byte order of a frame's length.
    case order
    /// The offset of a frame's length in its header.
    case offset
    /// Whether a frame's length also counts the header.
    case counting
    case limit

    /// Whether the part is required and follows the kind's word immediately.
    package var isRequired: Bool {
        switch self {
        case .length, .terminator, .width: true
        case .order, .offset, .counting, .limit: false
        }
    }

    /// The word before the value, or `nil` if the kind's word or the value itself identifies it.
    package var keyword: String? {
        switch self {
        case .offset: "after"
        case .limit: "max"
        case .length, .terminator, .width, .order, .counting: nil
        }
    }

    /// The words that the value can be. Empty for numbers and bytes.
    package var choices: [String] {
        switch self {
        case .width: LengthPrefix.Width.allCases.map(\.word)
        case .order: ["big", "little"]
        case .counting: ["counts-header"]
        case .length, .terminator, .offset, .limit: []
        }
    }

    /// The kind of value it needs, for the error that it is missing.
    package var noun: String {
        switch self {
        case .length, .offset, .limit: "a number of bytes"
        case .terminator: "a delimiter such as \\r\\n"
        case .width, .order, .counting: choices.joined(separator: ", ")
        }
    }

    /// An example of its value.
    package var example: String {
        switch self {
        case .length: "N"
        case .terminator: "\\r\\n"
        case .width: LengthPrefix.Width.u32.word
        case .order: "little"
        case .offset: "2"
        case .counting: "counts-header"
        case .limit: "8K"
        }
    }

    /// Its field in the read dialog: the label, the initial value and the hint beside it. A part with one choice is a
    /// switch that is initially off.
    package var field: (label: String, value: String, hint: String) {
        switch self {
        case .length: ("Length", "", "bytes")
        case .terminator: ("Until", "\\r\\n", "escapes: \\r \\n \\xHH")
        case .width: ("Length as", LengthPrefix.Width.u32.word, "")
        case .order: ("Byte order", "big", "")
        case .offset: ("After", "0", "bytes of header")
        case .counting: ("Counts", "", "header and itself too")
        case .limit: ("At most", "8192", "bytes; empty: no limit")
        }
    }
}

/// The values of the parts of a read's kind. A kind uses only those of its own parts.
package struct ReadValues: Equatable, Sendable {
    package var length = 0
    package var terminator: [UInt8] = []
    /// Its limit applies only if `limit` is `nil`.
    package var prefix = LengthPrefix(.u32)
    package var limit: Int?

    package init(
        length: Int = 0, terminator: [UInt8] = [], prefix: LengthPrefix = LengthPrefix(.u32), limit: Int? = nil
    ) {
        (self.length, self.terminator, self.prefix, self.limit) = (length, terminator, prefix, limit)
    }

    /// Parses the value of one part.
    package mutating func set(_ part: ReadPart, _ text: String) throws(ReadTextProblem) {
        func bytes(from least: Int) throws(ReadTextProblem) -> Int {
            guard let count = SizeText.parse(text), count >= least else {
                let name = part.keyword ?? part.rawValue
                throw ReadTextProblem(part, text, "\(name) needs a number of bytes such as 512 or 8K")
            }
            return count
        }
        if !part.choices.isEmpty, !part.choices.contains(text) {
            throw ReadTextProblem(part, text, "must be \(part.choices.joined(separator: ", "))")
        }
        switch part {
        case .length: length = try bytes(from: 1)
        case .limit: limit = try bytes(from: 1)
        case .offset: prefix.offset = try bytes(from: 0)
        case .terminator:
            do throws(EscapedText.Failure) {
                terminator = try TerminatorText.parse(text)
            } catch {
                throw ReadTextProblem(part, text, "column \(error.column): \(error.message)")
            }
        case .width: prefix.width = LengthPrefix.Width.allCases.first { $0.word == text } ?? .u32
        case .order: prefix.isLittleEndian = text == part.choices.last
        case .counting: prefix.countsHeader = true
        }
    }

    /// The value of one part in the form that `set` parses, or `nil` if it is the default.
    package func text(_ part: ReadPart) -> String? {
        switch part {
        case .length: String(length)
        case .limit: limit.map(SizeText.show)
        case .offset: prefix.offset == 0 ? nil : SizeText.show(prefix.offset)
        case .terminator: TerminatorText.show(terminator)
        case .width: prefix.width.word
        case .order: prefix.isLittleEndian ? part.choices.last : nil
        case .counting: prefix.countsHeader ? part.choices.last : nil
        }
    }
}

extension LengthPrefix {
    /// The valid offsets of the length in a header.
    static let offsets = 0...65_536
}

extension LengthPrefix.Width {
    /// `u8`, `u16`, `u32`, `u64`.
    package var word: String { "u\(rawValue * 8)" }
}

/// A delimiter as the screen shows it and the user types it: `CRLF`, `\r\n`, `"abc"`, `abc`.
package enum TerminatorText {
    package static let names: [(name: String, bytes: [UInt8])] = [
        ("CRLF", [0x0D, 0x0A]), ("CRLFCRLF", [0x0D, 0x0A, 0x0D, 0x0A]), ("LF", [0x0A]), ("CR", [0x0D]), ("NUL", [0x00]),
    ]

    /// Parses a name, or escaped bytes with optional double quotes around them.
    package static func parse(_ text: String) throws(EscapedText.Failure) -> [UInt8] {
        if let known = names.first(where: { $0.name == text }) { return known.bytes }
        let isQuoted = text.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
        return try EscapedText.parse(isQuoted ? String(text.dropFirst().dropLast()) : text).get()
    }

    /// Returns the name, or the bytes in quotes. Spaces are escaped to keep it one word.
    package static func show(_ bytes: [UInt8]) -> String {
        if let known = names.first(where: { $0.bytes == bytes }) { return known.name }
        return "\"" + bytes.map { $0 == 0x20 ? "\\x20" : EscapedText.show($0) }.joined() + "\""
    }
}
