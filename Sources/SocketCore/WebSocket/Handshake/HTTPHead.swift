/// One header field of HTTP (RFC 9110, 5).
public struct HTTPField: Hashable, Sendable, Codable {
    /// Its name; letters of either case mean the same.
    public var name: String
    /// Its value, without white space around it.
    public var value: String

    /// Names a field; nothing is checked here, but where it is sent.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What stands before the empty line of a request or a response: its first line and its fields (RFC 9112, 2.1).
public struct HTTPHead: Hashable, Sendable, Codable {
    /// The request line or the status line, without its line ending.
    public var startLine: String
    /// The fields, in the order in which they came.
    public var fields: [HTTPField]

    /// Describes a head; nothing is checked here.
    public init(startLine: String, fields: [HTTPField] = []) {
        self.startLine = startLine
        self.fields = fields
    }

    /// The values of every field of that name, in order.
    public func values(of name: String) -> [String] {
        let wanted = name.lowercased()
        return fields.lazy.filter { $0.name.lowercased() == wanted }.map(\.value)
    }

    /// The elements of a field that is a list: several lines of one name are one list with commas (RFC 9110, 5.3), and
    /// empty elements do not count (5.6.1). A comma between double quotes separates nothing.
    public func list(of name: String) -> [String] {
        values(of: name).flatMap { HTTPGrammar.elements(of: $0) }
    }

    /// Whether a list has that element, letters of either case being the same.
    func lists(_ element: String, in name: String) -> Bool {
        list(of: name).contains { $0.lowercased() == element.lowercased() }
    }

    /// As it goes over the wire, the empty line included.
    package var bytes: [UInt8] {
        var text = startLine + "\r\n"
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}

/// The rules of HTTP's texts that both sides share.
enum HTTPGrammar {
    /// Cuts at commas that are not between double quotes; white space around an element goes (RFC 9110, 5.6).
    static func elements(of value: String) -> [String] {
        var elements: [String] = []
        var current: [Unicode.Scalar] = []
        var (isQuoted, isEscaped) = (false, false)
        func end() {
            let element = trimmed(current[...])
            if !element.isEmpty { elements.append(element) }
            current = []
        }
        for scalar in value.unicodeScalars {
            if scalar == ",", !isQuoted {
                end()
                continue
            }
            if scalar == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && scalar == "\\" && !isEscaped
            current.append(scalar)
        }
        end()
        return elements
    }

    private static func trimmed(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        let isSpace: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" }
        let inner = scalars.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(String.UnicodeScalarView(inner))
    }

    /// Whether this can be a field's name, a method or a subprotocol (RFC 9110, 5.6.2: token).
    static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Whether this can be a field's value: no control character but the tab, so no line ending either (RFC 9110, 5.5).
    static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 9 || $0 >= 0x20 && $0 != 0x7F }
    }
}
