/// Parses one JSON text (RFC 8259) from an untrusted source. It accepts at most 64 nested values, and only a complete
/// text.
package struct JSONReader {
    package struct Problem: Error, Equatable, Sendable {
        package var message: String
    }

    private let bytes: [UInt8]
    private var position = 0
    private static let deepest = 64

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Parses a value. Throws the problem and its byte offset.
    package static func read(_ bytes: [UInt8]) throws(Problem) -> JSON {
        var reader = JSONReader(bytes)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.problem("unexpected text after the value") }
        return value
    }

    private func problem(_ message: String) -> Problem { Problem(message: "byte \(position + 1): \(message)") }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private mutating func accept(_ byte: Character) -> Bool {
        guard next == byte.asciiValue else { return false }
        position += 1
        return true
    }

    private mutating func accept(word: String, as value: JSON) throws(Problem) -> JSON {
        guard bytes[position...].starts(with: word.utf8) else { throw problem("no such value") }
        position += word.utf8.count
        return value
    }

    private mutating func value(depth: Int) throws(Problem) -> JSON {
        guard depth < Self.deepest else { throw problem("nested too deeply; at most \(Self.deepest) values") }
        skipSpace()
        switch next.map({ Character(Unicode.Scalar($0)) }) {
        case "{": return try object(depth: depth)
        case "[": return try array(depth: depth)
        case "\"": return .string(try string())
        case "t": return try accept(word: "true", as: .bool(true))
        case "f": return try accept(word: "false", as: .bool(false))
        case "n": return try accept(word: "null", as: .null)
        case nil: throw problem("a value is expected, but the text ends")
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(Problem) -> JSON {
        position += 1
        var members: [JSON.Member] = []
        skipSpace()
        if accept("}") { return .object([]) }
        repeat {
            skipSpace()
            guard next == 0x22 else { throw problem("a name in quotes is expected") }
            let name = try string()
            skipSpace()
            guard accept(":") else { throw problem("a colon is expected") }
            members.append(JSON.Member(name, try value(depth: depth + 1)))
            skipSpace()
        } while accept(",")
        guard accept("}") else { throw problem("a comma or } is expected") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(Problem) -> JSON {
        position += 1
        var values: [JSON] = []
        skipSpace()
        if accept("]") { return .array([]) }
        repeat {
            values.append(try value(depth: depth + 1))
            skipSpace()
        } while accept(",")
        guard accept("]") else { throw problem("a comma or ] is expected") }
        return .array(values)
    }

    private mutating func number() throws(Problem) -> JSON {
        let start = position
        while let byte = next, byte == 0x2D || byte == 0x2B || byte == 0x2E || byte | 0x20 == 0x65 || byte.isDigit {
            position += 1
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        let digits = text.drop { $0 == "-" }
        let isWellFormed =
            text.first != "+" && text.count - digits.count <= 1 && digits.first?.isNumber == true
            && !(digits.first == "0" && digits.dropFirst().first?.isNumber == true)
        guard isWellFormed, let last = text.last, last.isNumber, !text.contains(".e"), !text.contains(".E") else {
            throw problem("no such value")
        }
        if let whole = Int64(text) { return .integer(whole) }
        guard let number = Double(text), number.isFinite else { throw problem("the number is out of range") }
        return .number(number)
    }

    private mutating func string() throws(Problem) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case 0x22:
                guard let string = String(validating: text, as: UTF8.self) else { throw problem("is not UTF-8") }
                return string
            case 0x5C: text += try escape()
            case ..<0x20: throw problem("a control character must be escaped")
            default: text.append(byte)
            }
        }
        throw problem("a string is not closed")
    }

    private mutating func escape() throws(Problem) -> [UInt8] {
        guard let byte = next else { throw problem("a string is not closed") }
        position += 1
        switch Character(Unicode.Scalar(byte)) {
        case "\"", "\\", "/": return [byte]
        case "b": return [0x08]
        case "f": return [0x0C]
        case "n": return [0x0A]
        case "r": return [0x0D]
        case "t": return [0x09]
        case "u": return Array(String(try scalar()).utf8)
        default: throw problem("no such escape")
        }
    }

    /// Parses a scalar written as one escape, or as two that form a surrogate pair.
    private mutating func scalar() throws(Problem) -> Unicode.Scalar {
        let high = try unit()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xDC00, accept("\\"), accept("u") else { throw problem("half a surrogate pair") }
        let low = try unit()
        guard (0xDC00..<0xE000).contains(low) else { throw problem("half a surrogate pair") }
        let value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
        guard let scalar = Unicode.Scalar(value) else { throw problem("half a surrogate pair") }
        return scalar
    }

    private mutating func unit() throws(Problem) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw problem("four hexadecimal digits are expected") }
        position += 4
        return unit
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
}

extension JSON {
    /// Returns a member of an object, or `nil` if it has none or this is not an object. Of several with one name the
    /// last counts.
    package subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
}
