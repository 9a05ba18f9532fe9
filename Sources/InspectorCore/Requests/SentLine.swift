/// The ending of a sent line.
package enum LineEnding: String, Equatable, Sendable, CaseIterable {
    case crlf = "CRLF"
    case lf = "LF"
    case none = "nothing"

    /// The word in templates: `crlf`, `lf`, `none`.
    package var word: String { "\(self)" }

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

/// How the line is converted to bytes.
package enum LineMode: String, Equatable, Sendable, CaseIterable {
    /// As typed.
    case text
    /// With escapes and macros.
    case escapes
    /// Hex digits. Nothing is added to the bytes.
    case hex
    /// A path. The file's bytes are sent, and nothing is added to them.
    case file

    package var next: LineMode {
        switch self {
        case .text: .escapes
        case .escapes: .hex
        case .hex: .file
        case .file: .text
        }
    }
}

/// A sent line with its mode and ending.
package struct SentLine: Equatable, Sendable {
    package var text: String
    package var mode: LineMode
    package var ending: LineEnding

    package init(text: String, mode: LineMode, ending: LineEnding) {
        self.text = text
        self.mode = mode
        self.ending = ending
    }
}
