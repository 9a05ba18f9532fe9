/// A WebSocket's URL: `ws://host/path?query`, `wss://host:port/` (RFC 6455, 3), or, over a Unix-domain socket,
/// `ws+unix:/run/app.sock:/path` and `wss+unix:@name:/path`, in the notation of node's ws.
public struct WebSocketURL: Hashable, Sendable {
    /// Whether the connection uses TLS.
    public var isSecure: Bool
    /// The endpoint to connect to.
    public var endpoint: Endpoint
    /// The server's name in the request: `host`, `host:8080`, `[::1]:8080`, or `localhost` for a Unix-domain socket.
    /// The default port (80, or 443 with TLS) is omitted (RFC 9110, 7.2).
    public var authority: String
    /// The path and the query, at least `/`.
    public var resource: String
    /// The credentials in the URL, if any: `ws://user:password@host/`.
    public var credentials: HTTPCredentials?

    /// The host's name or address, used to verify its certificate, or `nil` for a Unix-domain socket.
    public var host: String? { endpoint.host }

    /// Parses a URL. Characters in its path other than printable ASCII are percent-encoded.
    /// - Throws: An `EndpointError` that names the text and says what would be valid. A fragment, for example, is not
    ///   allowed in a WebSocket's URL.
    public static func parse(_ text: String) throws(EndpointError) -> WebSocketURL {
        func refuse(_ problem: String) -> EndpointError { EndpointError(text: shown(text), problem: problem) }
        if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            throw refuse("control characters are not allowed in a URL")
        }
        if text.contains("#") { throw refuse("a WebSocket's URL has no fragment; in a path, write # as %23") }
        let lowered = text.lowercased()
        for (scheme, isSecure) in [("ws+unix:", false), ("wss+unix:", true)] where lowered.hasPrefix(scheme) {
            return try unix(text, text.dropFirst(scheme.count), isSecure: isSecure)
        }
        for (scheme, isSecure) in [("ws://", false), ("wss://", true)] where lowered.hasPrefix(scheme) {
            return try tcp(text, text.dropFirst(scheme.count), isSecure: isSecure)
        }
        throw refuse("write ws://host/path, wss://host/path or ws+unix:/path.sock:/path")
    }

    private static func tcp(_ text: String, _ rest: Substring, isSecure: Bool) throws(EndpointError) -> WebSocketURL {
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        var authority = rest[..<end]
        var credentials: HTTPCredentials?
        if let at = authority.lastIndex(of: "@") {
            credentials = try self.credentials(text, authority[..<at])
            authority = authority[authority.index(after: at)...]
        }
        let standard: UInt16 = isSecure ? 443 : 80
        let hasPort =
            authority.last != "]" && (authority.lastIndex(of: ":").map { !authority[$0...].contains("]") } ?? false)
        let endpoint: Endpoint
        do throws(EndpointError) {
            endpoint = try Endpoint.parse(hasPort ? String(authority) : "\(authority):\(standard)")
        } catch {
            throw EndpointError(text: shown(text), problem: error.problem)
        }
        guard case .host(let host, let port) = endpoint, !host.isEmpty else {
            throw EndpointError(text: shown(text), problem: "the host is missing; write ws://host/path")
        }
        // A scope is this machine's own name for an interface (RFC 6874, 1) and means nothing to the server.
        let plain = host.prefix { $0 != "%" }
        let named = host.contains(":") ? "[\(plain)]" : String(plain)
        return WebSocketURL(
            isSecure: isSecure, endpoint: endpoint, authority: port == standard ? named : "\(named):\(port)",
            resource: resource(rest[end...]), credentials: credentials)
    }

    private static func unix(_ text: String, _ rest: Substring, isSecure: Bool) throws(EndpointError) -> WebSocketURL {
        let path = rest.hasPrefix("//") ? rest.dropFirst(2) : rest
        let colon = path.firstIndex(of: ":") ?? path.endIndex
        do throws(EndpointError) {
            return WebSocketURL(
                isSecure: isSecure, endpoint: try Endpoint.parse("unix:\(path[..<colon])"), authority: "localhost",
                resource: resource(path[colon...].dropFirst()), credentials: nil)
        } catch {
            throw EndpointError(text: text, problem: error.problem)
        }
    }

    /// Returns the resource in percent-encoding. An empty path becomes `/` (RFC 6455, 3).
    private static func resource(_ text: Substring) -> String {
        let path = text.hasPrefix("/") ? text : "/" + text
        return path.utf8.reduce(into: "") { result, byte in
            let isPlain = byte > 0x20 && byte < 0x7F
            result += isPlain ? String(Unicode.Scalar(byte)) : "%" + PercentCoding.hex(byte)
        }
    }

    private static func credentials(_ text: String, _ userInfo: Substring) throws(EndpointError) -> HTTPCredentials {
        let parts = userInfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let words = parts.map { PercentCoding.decoded($0) }
        guard let user = words[0], let password = words.count > 1 ? words[1] : "" else {
            throw EndpointError(text: shown(text), problem: "a % in the user or password needs two hex digits after it")
        }
        return HTTPCredentials(user: user, password: password)
    }

    /// Returns the text for display, without the password.
    private static func shown(_ text: String) -> String {
        let plain = String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) })
        guard let slashes = plain.firstIndex(of: "/"), let at = plain.lastIndex(of: "@"), slashes < at else {
            return plain
        }
        return plain[...slashes] + "/***" + plain[at...]
    }
}

extension WebSocketURL {
    /// Why no request can be made with this URL, as `argument: sentence`, or `nil` if one can. The properties can be
    /// set to anything, and a space or line ending in one of them would inject another field or request.
    package var fault: String? {
        if let fault = credentials?.fault { return "url.credentials: \(fault)" }
        if !resource.hasPrefix("/") { return "url.resource \(HTTPText.shown(resource.utf8)): must begin with /" }
        if authority.isEmpty { return "url.authority: must not be empty" }
        let parts = [("resource", resource), ("authority", authority), ("endpoint", host ?? "")]
        for (name, text) in parts where !text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            return "url.\(name) \(HTTPText.shown(text.utf8)): must be printable ASCII without spaces"
        }
        return resource.contains("#") ? "url.resource: a WebSocket's URL has no fragment; write # as %23" : nil
    }
}

extension WebSocketURL: CustomStringConvertible {
    /// The URL in the form that `parse` reads, without credentials.
    public var description: String {
        let scheme = isSecure ? "wss" : "ws"
        return endpoint.host == nil
            ? "\(scheme)+unix:\(endpoint.bare):\(resource)" : "\(scheme)://\(authority)\(resource)"
    }
}

/// Percent-encoding: a byte as `%` and two hex digits (RFC 3986, 2.1).
enum PercentCoding {
    static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "0" + digits : digits
    }

    /// Returns the decoded text, or `nil` if a `%` is not followed by two hex digits or the bytes are not UTF-8.
    static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.first?.isHexDigit == true, let value = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
