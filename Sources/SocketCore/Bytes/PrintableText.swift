/// Decides which characters can reach a terminal unchanged. Screens, reports and error messages share this one rule.
///
/// A terminal acts on control characters, and invisible or reordering ones mislead readers. Both become visible
/// escapes: `\x1b`, `\u{202e}`.
package enum PrintableText {
    /// Whether a character must not reach a terminal unchanged. Line feeds and tabs count as control characters.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        if value >= 0x20 && value < 0x7F { return false }
        if value < 0xA0 { return true }
        if isVariationSelector(scalar) { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return true
        case .spaceSeparator: return value != 0xA0 && value != 0x3000
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Whether a character only selects a glyph for the one before it.
    package static func isVariationSelector(_ scalar: Unicode.Scalar) -> Bool {
        (0xFE00...0xFE0F).contains(scalar.value) || (0xE0100...0xE01EF).contains(scalar.value)
    }

    /// Returns the escape of a hidden character: `\n`, `\x1b`, `\u{202e}`.
    package static func escape(_ scalar: Unicode.Scalar) -> String {
        scalar.value < 0xA0 ? escape(byte: UInt8(scalar.value)) : "\\u{" + hex(scalar.value) + "}"
    }

    /// Returns the escape of a hidden character in a name. One that stands for a byte is shown as that: `\xe9`.
    package static func escape(named scalar: Unicode.Scalar) -> String {
        scalar.isNativeByte ? escape(byte: UInt8(truncatingIfNeeded: scalar.value)) : escape(scalar)
    }

    /// Returns the escape of a byte: `\n`, `\x1b`.
    package static func escape(byte: UInt8) -> String {
        switch byte {
        case 0x0A: "\\n"
        case 0x0D: "\\r"
        case 0x09: "\\t"
        case 0x00: "\\0"
        default: "\\x" + hex(UInt32(byte))
        }
    }

    /// Returns the text with every hidden character escaped, except line feeds if `keepingLines` is set.
    package static func escaped(_ text: some StringProtocol, keepingLines: Bool = false) -> String {
        let text = String(text)
        guard !isPlain(text, keepingLines) else { return text }
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if !isHidden(scalar) || (keepingLines && scalar == "\n") {
                safe.append(scalar)
            } else {
                safe.append(contentsOf: escape(named: scalar).unicodeScalars)
            }
        }
        return String(safe)
    }

    /// Whether nothing needs an escape. Not generic: this passes over all that is printed.
    private static func isPlain(_ text: String, _ keepingLines: Bool) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            for byte in bytes where (byte < 0x20 || byte >= 0x7F) && !(keepingLines && byte == 0x0A) { return false }
            return true
        }
    }

    /// Returns the bytes as text, or `nil` if one of them is a space or is not printable ASCII.
    package static func visibleASCII(_ bytes: some Collection<UInt8>) -> String? {
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return String(decoding: Array(bytes), as: UTF8.self)
    }

    private static func hex(_ value: UInt32) -> String {
        let text = String(value, radix: 16)
        return text.count < 2 ? "0" + text : text
    }
}
