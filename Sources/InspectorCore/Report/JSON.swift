import SocketCore
import SocketRecords

/// A JSON value (RFC 8259) whose members keep their order, so that the most important ones come first in a line.
package indirect enum JSON: Equatable, Sendable {
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
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let isTrue): text += isTrue ? "true" : "false"
        case .integer(let number): text += String(number)
        case .number(let number): text += number.isFinite ? Self.shortest(number) : "null"
        case .string(let string): Self.quote(string, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.quote(member.name, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func shortest(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static let sanitizer = Sanitizer(isASCII: false)

    private static func quote(_ string: String, to text: inout String) {
        text += "\""
        defer { text += "\"" }
        // Nearly all names and values are plain, and lines are many when thousands of connections close.
        guard !isPlain(string) else { return text += string }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default:
                if case .escape = sanitizer.drawn(scalar) {
                    for unit in String(scalar).utf16 { text += escape(unit) }
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
    }

    /// Whether nothing needs an escape. Not generic, for speed.
    private static func isPlain(_ string: String) -> Bool {
        var string = string
        return string.withUTF8 { bytes in
            for byte in bytes where byte < 0x20 || byte >= 0x7F || byte == 0x22 || byte == 0x5C { return false }
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
