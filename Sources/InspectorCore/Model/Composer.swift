/// What ends a line that is sent.
package enum LineEnding: String, Hashable, Sendable, CaseIterable {
    case crlf = "CRLF"
    case lf = "LF"
    case none = "nothing"

    package var bytes: [UInt8] {
        switch self {
        case .crlf: [0x0D, 0x0A]
        case .lf: [0x0A]
        case .none: []
        }
    }

    package var next: LineEnding {
        switch self {
        case .crlf: .lf
        case .lf: .none
        case .none: .crlf
        }
    }
}

/// The line that is being written to one connection, and how it is read.
package struct Composer: Hashable, Sendable {
    /// How the line becomes bytes.
    package enum Mode: String, Hashable, Sendable {
        case text, escapes
    }

    package var editor = LineEditor()
    package var mode = Mode.text
    package var ending = LineEnding.crlf
    /// The tag that the next read or write gets, unless another is asked for.
    package var nextTag = 1

    package init() {}

    /// The bytes of the line without its ending. Line feeds inside it become the chosen ending, or LF where that is
    /// nothing.
    package var body: Result<[UInt8], EscapedText.Failure> {
        let inner = ending == .none ? LineEnding.lf.bytes : ending.bytes
        var bytes: [UInt8] = []
        var column = 0
        for (index, part) in editor.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { bytes += inner }
            switch mode {
            case .text: bytes += Array(part.utf8)
            case .escapes:
                switch EscapedText.parse(String(part)) {
                case .success(let parsed): bytes += parsed
                case .failure(var failure):
                    failure.column += column
                    return .failure(failure)
                }
            }
            column += part.unicodeScalars.count + 1
        }
        return .success(bytes)
    }

    /// What Enter sends.
    package var bytes: Result<[UInt8], EscapedText.Failure> { body.map { $0 + ending.bytes } }

    /// Remembers the line, empties the field and counts the tag on.
    package mutating func sent() {
        editor.commit()
        nextTag += 1
    }
}
