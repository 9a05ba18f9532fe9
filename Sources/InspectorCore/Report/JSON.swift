import SocketCore
import SocketRecords

/// A JSON value (RFC 8259) whose members keep their order, so that the most important ones come first in a line.
package enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number. If it is not finite, it is written as null.
    case number(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    /// One name and its value.
    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: JSON

        package init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// The value in one line. Characters that a terminal would interpret, or that are misleading, are written as `\u`
    /// escapes, so the line is as safe to look at as to parse.
    package var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Lines are many when thousands of connections close, so they are put together as bytes.
    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: Self.add("null", to: &bytes)
        case .bool(let isTrue): Self.add(isTrue ? "true" : "false", to: &bytes)
        case .integer(let number): Self.add(String(number), to: &bytes)
        case .number(let number): Self.add(number.isFinite ? Self.shortest(number) : "null", to: &bytes)
        case .string(let string): Self.quote(string, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.quote(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func add(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    private static func shortest(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static let sanitizer = Sanitizer(isASCII: false)

    private static func quote(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        // Nearly all names and values are plain.
        guard !addIfPlain(string, to: &bytes) else { return }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": add("\\\"", to: &bytes)
            case "\\": add("\\\\", to: &bytes)
            case "\n": add("\\n", to: &bytes)
            case "\r": add("\\r", to: &bytes)
            case "\t": add("\\t", to: &bytes)
            default:
                if case .escape = sanitizer.drawn(scalar) {
                    for unit in String(scalar).utf16 { add(escape(unit), to: &bytes) }
                } else {
                    add(String(scalar), to: &bytes)
                }
            }
        }
    }

    /// Adds a text in which nothing needs an escape, or returns `false`. Not generic, for speed.
    private static func addIfPlain(_ string: String, to bytes: inout [UInt8]) -> Bool {
        var string = string
        return string.withUTF8 { text in
            for byte in text where byte < 0x20 || byte >= 0x7F || byte == 0x22 || byte == 0x5C { return false }
            bytes.append(contentsOf: text)
            return true
        }
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral {
    package init(dictionaryLiteral members: (String, JSON)...) {
        self = .object(members.map { Member($0.0, $0.1) })
    }

    package init(stringLiteral text: String) { self = .string(text) }

    package init(_ count: Int) { self = .integer(Int64(count)) }
    package init(_ count: Int?) { self = count.map { JSON($0) } ?? .null }
    package init(_ count: UInt64) { self = .integer(Int64(clamping: count)) }
    package init(_ count: UInt64?) { self = count.map { JSON($0) } ?? .null }
    package init(_ number: Double?) { self = number.map { .number($0) } ?? .null }
    package init(_ text: String) { self = .string(text) }
    package init(_ text: String?) { self = text.map { .string($0) } ?? .null }

    /// Creates a number of seconds, to the nanosecond.
    package init(seconds duration: Duration?) {
        self = duration.map { .number(Double($0.wholeNanoseconds) / 1e9) } ?? .null
    }

    /// Creates a number of milliseconds, to the microsecond, like round-trip times in `ss`.
    package init(milliseconds duration: Duration?) {
        self = duration.map { .number(Double($0.wholeNanoseconds / 1000) / 1000) } ?? .null
    }

    /// Creates a string in the form that the composer's escapes parse.
    package init(bytes: [UInt8]) { self = .string(EscapedText.show(bytes)) }

    /// Creates a string from a Swift name: `readPartial` becomes `read_partial`.
    package init(word name: String) { self = .string(name.snakeCased) }
}
