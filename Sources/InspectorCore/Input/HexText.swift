import SocketCore

/// Bytes as hex digits, in the forms that are commonly copied: `0d 0a`, `0D0A`, `0x0d,0x0a`, `0d:0a`, `# comment`.
package enum HexText {
    /// Parses the bytes. Ignores text from a `#` to the end of its line.
    package static func parse(_ text: String) -> Result<[UInt8], EscapedText.Failure> {
        let characters = Array(text.unicodeScalars)
        var bytes: [UInt8] = []
        var index = 0
        while index < characters.count {
            let scalar = characters[index]
            if scalar == "#" {
                index = characters[index...].firstIndex(of: "\n") ?? characters.count
            } else if isSeparator(scalar) {
                index += 1
            } else {
                let hasMark =
                    scalar == "0" && index + 1 < characters.count && "xX".unicodeScalars.contains(characters[index + 1])
                if hasMark { index += 2 }
                let digits = characters[index...].prefix { value($0) != nil }
                let isAlone = hasMark && digits.count == 1
                guard !digits.isEmpty else { return .failure(unreadable(characters, index)) }
                guard digits.count % 2 == 0 || isAlone else {
                    let column = index + digits.count
                    return .failure(
                        .init(column: column, message: "a byte needs two hex digits; this one has only one"))
                }
                var rest = digits.compactMap(value)[...]
                if isAlone { rest = [0] + rest }
                while let high = rest.popFirst(), let low = rest.popFirst() { bytes.append(high << 4 | low) }
                index += digits.count
            }
        }
        return .success(bytes)
    }

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || ",:;-".unicodeScalars.contains(scalar)
    }

    private static func value(_ scalar: Unicode.Scalar) -> UInt8? {
        guard scalar.properties.isASCIIHexDigit else { return nil }
        return UInt8(String(scalar), radix: 16)
    }

    private static func unreadable(_ characters: [Unicode.Scalar], _ index: Int) -> EscapedText.Failure {
        guard index < characters.count else { return .init(column: index, message: "digits are missing after 0x") }
        let shown = Sanitizer(isASCII: false).text(String(characters[index]))
        return .init(column: index + 1, message: "\(shown) is not a hex digit")
    }
}
