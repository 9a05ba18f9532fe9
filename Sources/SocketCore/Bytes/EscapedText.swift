/// Bytes as the user types them on one line: `\r \n \t \0 \\ \xHH \u{H..}`, and everything else as UTF-8.
package enum EscapedText {
    /// An invalid escape and its position.
    package struct Failure: Error, Equatable, Sendable {
        /// The position in characters, counted from 1.
        package var column: Int
        package var message: String

        package init(column: Int, message: String) {
            self.column = column
            self.message = message
        }
    }

    /// Returns the bytes that the text encodes.
    package static func parse(_ text: String) -> Result<[UInt8], Failure> {
        var reader = Reader(characters: Array(text.unicodeScalars))
        do {
            return .success(try reader.bytes())
        } catch {
            return .failure(error)
        }
    }

    /// Returns text that `parse` reads back. Printable ASCII is not escaped.
    package static func show(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in bytes { text += show(byte) }
        return text
    }

    /// Like `show`, but escapes a `$` that would begin a `${` macro.
    package static func showLiteral(_ bytes: [UInt8]) -> String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            let isMacro = byte == 0x24 && index + 1 < bytes.count && bytes[index + 1] == 0x7B
            text += isMacro ? PrintableText.escape(byte: byte) : show(byte)
        }
        return text
    }

    package static func show(_ byte: UInt8) -> String {
        switch byte {
        case 0x5C: "\\\\"
        case 0x20..<0x7F: String(Unicode.Scalar(byte))
        default: PrintableText.escape(byte: byte)
        }
    }

    /// Reads scalars from left to right.
    package struct Reader {
        package let characters: [Unicode.Scalar]
        package var index = 0

        package init(characters: [Unicode.Scalar]) {
            self.characters = characters
        }

        /// The scalar at `index`, or `nil` at the end.
        package var next: Unicode.Scalar? { index < characters.count ? characters[index] : nil }

        mutating func bytes() throws(Failure) -> [UInt8] {
            var bytes: [UInt8] = []
            while index < characters.count {
                let scalar = characters[index]
                if scalar == "\\" {
                    bytes += try escape()
                } else {
                    bytes += Array(String(scalar).utf8)
                    index += 1
                }
            }
            return bytes
        }

        /// Returns the bytes of the escape that begins at `index`.
        package mutating func escape() throws(Failure) -> [UInt8] {
            let start = index
            index += 1
            guard index < characters.count else { throw Failure(column: start + 1, message: "ends with a lone \\") }
            let letter = characters[index]
            index += 1
            switch letter {
            case "r": return [0x0D]
            case "n": return [0x0A]
            case "t": return [0x09]
            case "0": return [0x00]
            case "\\": return [0x5C]
            case "x": return [try byte(from: start)]
            case "u": return try scalar(from: start)
            default:
                throw Failure(
                    column: start + 1,
                    message: "\\\(PrintableText.escaped(String(letter))) is not an escape; \\\\ writes a backslash")
            }
        }

        private mutating func byte(from start: Int) throws(Failure) -> UInt8 {
            let digits = characters[index..<min(index + 2, characters.count)]
            guard digits.count == 2, let value = hexValue(digits) else {
                throw Failure(column: start + 1, message: "\\x needs two hex digits")
            }
            index += 2
            return UInt8(value)
        }

        private mutating func scalar(from start: Int) throws(Failure) -> [UInt8] {
            guard index < characters.count, characters[index] == "{",
                let end = characters[index...].firstIndex(of: "}"), (2...7).contains(end - index),
                let value = hexValue(characters[index + 1..<end]), let scalar = Unicode.Scalar(value)
            else { throw Failure(column: start + 1, message: "\\u needs a code point in braces, as in \\u{e9}") }
            index = end + 1
            return Array(String(scalar).utf8)
        }

        private func hexValue(_ digits: ArraySlice<Unicode.Scalar>) -> UInt32? {
            guard digits.allSatisfy({ $0.properties.isASCIIHexDigit }) else { return nil }
            return UInt32(String(String.UnicodeScalarView(digits)), radix: 16)
        }
    }
}
