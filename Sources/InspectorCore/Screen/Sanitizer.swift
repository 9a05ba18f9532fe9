import SocketCore

/// The only place where foreign text becomes cells: peer data, host names, paths, program names, error sentences.
///
/// A terminal interprets control characters, and invisible or reordering characters mislead users. Here each of them
/// becomes visible: `.` in a hex pane, a dim escape such as `\x1b` or `\u{202e}` in text.
package struct Sanitizer: Equatable, Sendable {
    /// Whether the terminal shows only ASCII. Everything else is then escaped too, instead of drawn as a blank.
    package let isASCII: Bool

    package init(isASCII: Bool) {
        self.isASCII = isASCII
    }

    /// How one scalar is drawn.
    package enum Drawn: Equatable, Sendable {
        /// As it is, in `width` columns.
        case cell(width: Int)
        /// As a mark on the previous character.
        case mark
        /// Not at all, because it has no visible form (variation selectors).
        case nothing
        /// As this text instead.
        case escape(String)
    }

    /// Returns how a scalar is drawn.
    package func drawn(_ scalar: Unicode.Scalar) -> Drawn {
        let value = scalar.value
        if value >= 0x20 && value < 0x7F { return .cell(width: 1) }
        if value < 0xA0 || isASCII { return .escape(PrintableText.escape(scalar)) }
        if PrintableText.isVariationSelector(scalar) { return .nothing }
        if PrintableText.isHidden(scalar) { return .escape(PrintableText.escape(scalar)) }
        return TextWidth.isCombining(scalar) ? .mark : .cell(width: TextWidth.of(scalar))
    }

    /// Appends foreign text to a line, with dim escapes. A carriage return, line feed or tab is escaped too, and so is
    /// each byte of the system's that is not UTF-8.
    package func append(_ text: some StringProtocol, _ style: Style = .plain, to line: inout Line) {
        for scalar in text.unicodeScalars {
            if scalar.isNativeByte {
                line.append(PrintableText.escape(named: scalar), Style(.dim, style.emphasis))
            } else {
                append(scalar, style, to: &line)
            }
        }
    }

    /// Appends one foreign scalar.
    package func append(_ scalar: Unicode.Scalar, _ style: Style, to line: inout Line) {
        switch drawn(scalar) {
        case .cell(let width): line.append(scalar, width: width, style)
        case .mark where line.mark(scalar, style): break
        case .mark: line.append(PrintableText.escape(scalar), Style(.dim, style.emphasis))
        case .nothing: break
        case .escape(let text): line.append(text, Style(.dim, style.emphasis))
        }
    }

    /// Returns the text with everything dangerous escaped, for use as a plain string.
    package func text(_ text: some StringProtocol) -> String {
        var line = Line()
        append(text, to: &line)
        return line.text
    }

    /// Returns the form of a byte in the right column of a hex pane.
    package static func hexColumn(_ byte: UInt8) -> Unicode.Scalar {
        byte >= 0x20 && byte < 0x7F ? Unicode.Scalar(byte) : "."
    }
}

extension Sanitizer {
    /// A part of foreign bytes read as UTF-8: one scalar or one invalid byte.
    package enum Piece: Equatable, Sendable {
        case scalar(Unicode.Scalar)
        /// A byte that is not part of valid UTF-8.
        case invalid(UInt8)
    }

    /// Returns the piece at `index` and advances `index` past it.
    package static func nextPiece(_ bytes: [UInt8], _ index: inout Int) -> Piece {
        let first = bytes[index]
        if first < 0x80 {
            index += 1
            return .scalar(Unicode.Scalar(first))
        }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0
        if length > 0, index + length <= bytes.count, let scalar = decode(bytes[index..<index + length]) {
            index += length
            return .scalar(scalar)
        }
        index += 1
        return .invalid(first)
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
        var value = UInt32(bytes.first ?? 0) & (0xFF >> UInt32(bytes.count + 1))
        for byte in bytes.dropFirst() {
            guard byte & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(byte & 0x3F)
        }
        let least: UInt32 = bytes.count == 2 ? 0x80 : bytes.count == 3 ? 0x800 : 0x10000
        return value >= least ? Unicode.Scalar(value) : nil
    }

    /// Appends an invalid byte as U+FFFD, or as its escape if only ASCII is shown.
    package func appendInvalid(_ byte: UInt8, _ style: Style, to line: inout Line) {
        if isASCII {
            line.append(PrintableText.escape(byte: byte), Style(.dim, style.emphasis))
        } else {
            line.append("\u{FFFD}", Style(.dim, style.emphasis))
        }
    }

    /// Appends foreign bytes on one line. Line endings are escaped too.
    package func append(bytes: [UInt8], _ style: Style = .plain, to line: inout Line) {
        var index = 0
        while index < bytes.count {
            switch Self.nextPiece(bytes, &index) {
            case .scalar(let scalar): append(scalar, style, to: &line)
            case .invalid(let byte): appendInvalid(byte, style, to: &line)
            }
        }
    }
}
