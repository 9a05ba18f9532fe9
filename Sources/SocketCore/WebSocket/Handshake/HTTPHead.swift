/// An HTTP header field (RFC 9110, 5).
public struct HTTPField: Hashable, Sendable {
    /// The field's name, which is not case-sensitive.
    public var name: String
    /// The field's value, without surrounding white space.
    public var value: String

    /// Creates a field. It is checked only when it is sent.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The head of a request or response: its first line and its fields (RFC 9112, 2.1).
public struct HTTPHead: Hashable, Sendable {
    /// The request line or the status line, without its line ending.
    public var startLine: String
    /// The fields in the order received.
    public var fields: [HTTPField]

    /// Creates a head without checking it.
    public init(startLine: String, fields: [HTTPField] = []) {
        self.startLine = startLine
        self.fields = fields
    }

    /// Returns the values of all fields with this name, in order.
    public func values(of name: String) -> [String] {
        let wanted = name.lowercased()
        return fields.lazy.filter { $0.name.lowercased() == wanted }.map(\.value)
    }

    /// Returns the elements of a list field. Several lines with one name form one list (RFC 9110, 5.3). Empty elements
    /// are skipped (5.6.1). A comma between double quotes is not a separator.
    public func list(of name: String) -> [String] {
        values(of: name).flatMap { HTTPGrammar.elements(of: $0) }
    }

    /// Whether a list field contains the element, ignoring case.
    package func lists(_ element: String, in name: String) -> Bool {
        list(of: name).contains { $0.lowercased() == element.lowercased() }
    }

    /// The head's bytes on the wire, including the empty line.
    package var bytes: [UInt8] {
        var text = startLine + "\r\n"
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}

/// The rules of HTTP syntax that both sides share.
enum HTTPGrammar {
    /// Splits a value at commas outside double quotes, and trims white space around the elements (RFC 9110, 5.6).
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

    /// Whether the text can be a field name, a method or a subprotocol (RFC 9110, 5.6.2: token).
    static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Whether the text can be a field value: no control characters except tab, and thus no line ending (RFC 9110,
    /// 5.5).
    static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 9 || $0 >= 0x20 && $0 != 0x7F }
    }
}

extension HTTPHead {
    /// The same head without credentials, which would let a reader impersonate the sender.
    package var withoutSecrets: HTTPHead {
        let secrets: Set = ["authorization", "proxy-authorization", "cookie", "set-cookie"]
        var head = self
        for index in fields.indices where secrets.contains(fields[index].name.lowercased()) {
            head.fields[index].value = "***"
        }
        return head
    }
}
