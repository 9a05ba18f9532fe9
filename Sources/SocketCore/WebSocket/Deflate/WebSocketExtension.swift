/// One entry of a Sec-WebSocket-Extensions header (RFC 6455, 9.1).
package struct WebSocketExtension: Equatable, Sendable {
    /// `name` or `name=value`. A quoted value is stored without its quotes.
    package struct Parameter: Equatable, Sendable {
        package var name: String
        package var value: String?

        package init(_ name: String, _ value: String? = nil) {
            self.name = name
            self.value = value
        }
    }

    package var name: String
    package var parameters: [Parameter]

    package init(_ name: String, _ parameters: [Parameter] = []) {
        self.name = name
        self.parameters = parameters
    }

    /// Parses the header's value: all of its lines, joined by commas. Returns `nil` if it breaks the grammar. Empty
    /// list elements are skipped (RFC 9110, 5.6.1).
    package static func parse(_ header: String) -> [WebSocketExtension]? {
        var grammar = HeaderGrammar(header)
        var found: [WebSocketExtension] = []
        repeat {
            if grammar.isAtEndOfElement { continue }
            guard let entry = grammar.entry() else { return nil }
            found.append(entry)
        } while grammar.accept(0x2C)
        return grammar.isAtEnd ? found : nil
    }
}

extension WebSocketExtension: CustomStringConvertible {
    /// The entry as it is written in the header.
    package var description: String {
        parameters.reduce(name) { $0 + "; " + $1.name + ($1.value.map { "=" + $0 } ?? "") }
    }
}

/// A parser for HTTP's tokens and quoted strings (RFC 9110, 5.6).
private struct HeaderGrammar {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { index == bytes.count }

    /// Whether a comma or the end is next, after white space.
    var isAtEndOfElement: Bool {
        mutating get {
            skipSpace()
            return isAtEnd || bytes[index] == 0x2C
        }
    }

    /// Accepts a byte and the white space around it if that byte is next.
    mutating func accept(_ byte: UInt8) -> Bool {
        skipSpace()
        guard !isAtEnd, bytes[index] == byte else { return false }
        index += 1
        skipSpace()
        return true
    }

    mutating func entry() -> WebSocketExtension? {
        guard let name = token() else { return nil }
        var entry = WebSocketExtension(name)
        while accept(0x3B) {
            guard let name = token() else { return nil }
            var parameter = WebSocketExtension.Parameter(name)
            if accept(0x3D) {
                guard let value = token() ?? quotedToken() else { return nil }
                parameter.value = value
            }
            entry.parameters.append(parameter)
        }
        return entry
    }

    private mutating func token() -> String? {
        let start = index
        while !isAtEnd, Self.isTokenCharacter(bytes[index]) { index += 1 }
        return start == index ? nil : String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Parses a quoted string that is a token when unquoted, as RFC 6455, 9.1 requires.
    private mutating func quotedToken() -> String? {
        guard !isAtEnd, bytes[index] == 0x22 else { return nil }
        var value: [UInt8] = []
        index += 1
        while !isAtEnd, bytes[index] != 0x22 {
            if bytes[index] == 0x5C { index += 1 }
            guard !isAtEnd, Self.isTokenCharacter(bytes[index]) else { return nil }
            value.append(bytes[index])
            index += 1
        }
        guard !isAtEnd, !value.isEmpty else { return nil }
        index += 1
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func skipSpace() {
        while !isAtEnd, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
