/// A request to a WebSocket server, whether or not it is for a WebSocket.
public struct WebSocketRequest: Hashable, Sendable {
    /// The request line and all fields, as received.
    public let head: HTTPHead
    /// `GET`, or another method.
    public let method: String
    /// The requested path and query.
    public let resource: String
    /// `HTTP/1.1`.
    let version: String

    /// Parses the request line (RFC 9112, 3), or returns `nil` if it is invalid. Only the path and query of an absolute
    /// target (3.2.2) are used.
    package init?(_ head: HTTPHead) {
        let words = head.startLine.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, HTTPGrammar.isToken(String(words[0])), !words[1].isEmpty, words[2].utf8.count == 8,
            words[2].hasPrefix("HTTP/"), words[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        self.head = head
        method = String(words[0])
        version = String(words[2])
        resource = Self.resource(words[1])
    }

    private static func resource(_ target: Substring) -> String {
        let lowered = target.lowercased()
        guard let scheme = ["http://", "https://", "ws://", "wss://"].first(where: lowered.hasPrefix) else {
            return String(target)
        }
        let rest = target.dropFirst(scheme.count)
        guard let start = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        return rest[start] == "?" ? "/" + rest[start...] : String(rest[start...])
    }

    /// The requested path without the query.
    public var path: String { String(resource.prefix { $0 != "?" }) }

    /// The text after the first question mark, or `nil` if there is none.
    public var query: String? {
        resource.firstIndex(of: "?").map { String(resource[resource.index(after: $0)...]) }
    }

    /// The server's name in the request (`Host`), or `nil` if there is none.
    public var host: String? { head.values(of: "host").first }

    /// The requesting page's origin (`Origin`), or `nil` if the client is not a browser or hides it.
    public var origin: String? { head.values(of: "origin").first }

    /// The client's acceptable subprotocols in order of preference. Several lines form one list (RFC 6455, 11.3.4).
    public var subprotocols: [String] { head.list(of: "sec-websocket-protocol") }

    /// The extensions that the client offers, with their parameters (RFC 6455, 9.1).
    public var extensions: [String] { head.list(of: "sec-websocket-extensions") }

    /// Whether the request is for a WebSocket, valid or not.
    public var isUpgrade: Bool { head.lists("websocket", in: "upgrade") }

    /// The client's key.
    package var key: String { head.values(of: "sec-websocket-key").first ?? "" }
}

extension WebSocketRequest {
    /// The response that says why the request can't open a WebSocket (RFC 6455, 4.2.1 and 4.4), or `nil` if it can.
    package var refusal: HTTPResponse? {
        if version != "HTTP/1.1" { return Self.bad("the request is \(version), not HTTP/1.1") }
        if method != "GET" { return Self.bad("the method is \(method), not GET") }
        let hosts = head.values(of: "host")
        if hosts.count != 1 { return Self.bad(hosts.isEmpty ? "Host is missing" : "Host is given twice") }
        if !isUpgrade { return Self.bad("Upgrade: websocket is missing; this is a WebSocket server") }
        if !head.lists("upgrade", in: "connection") { return Self.bad("Connection does not name Upgrade") }
        let hasBody = head.values(of: "content-length").contains { $0 != "0" }
        if hasBody || !head.values(of: "transfer-encoding").isEmpty { return Self.bad("the request has a body") }
        let versions = head.values(of: "sec-websocket-version")
        guard versions == ["13"] else { return Self.otherVersion(versions) }
        let keys = head.values(of: "sec-websocket-key")
        if keys.count != 1 {
            return Self.bad("Sec-WebSocket-Key is \(keys.isEmpty ? "missing" : "given twice")")
        }
        if !Self.isKey(keys[0]) { return Self.bad("Sec-WebSocket-Key is not 16 bytes in base64") }
        if subprotocols.contains(where: { !HTTPGrammar.isToken($0) }) {
            return Self.bad("Sec-WebSocket-Protocol is not a list of tokens")
        }
        return nil
    }

    /// Returns the response that names the supported version (RFC 6455, 4.2.2, 4).
    private static func otherVersion(_ versions: [String]) -> HTTPResponse {
        let got = versions.isEmpty ? "missing" : "not 13"
        return HTTPResponse(
            status: 426, fields: [HTTPField("Sec-WebSocket-Version", "13"), HTTPField("Upgrade", "websocket")],
            text: "Sec-WebSocket-Version is \(got)\n")
    }

    package static func bad(_ problem: String) -> HTTPResponse { HTTPResponse(status: 400, text: problem + "\n") }

    /// Whether the text is base64 of 16 bytes: 22 digits, of which the last carries two bits, and padding.
    private static func isKey(_ text: String) -> Bool {
        let digits = Array(text.utf8)
        guard digits.count == 24, digits[22] == 0x3D, digits[23] == 0x3D else { return false }
        return digits[..<22].allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2B
                || byte == 0x2F
        }
    }

    /// Returns the response that opens the WebSocket (RFC 6455, 4.2.2). `accept` is the answer to `key`, `subprotocol`
    /// is an offered one or `nil`, and `extensions` is the negotiated value or `nil`.
    package func answer(
        accept: String, subprotocol: String?, extensions: String?, fields: [HTTPField] = []
    ) -> HTTPHead {
        var answer = [
            HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"),
            HTTPField("Sec-WebSocket-Accept", accept),
        ]
        if let subprotocol { answer.append(HTTPField("Sec-WebSocket-Protocol", subprotocol)) }
        if let extensions { answer.append(HTTPField("Sec-WebSocket-Extensions", extensions)) }
        return HTTPHead(startLine: "HTTP/1.1 101 Switching Protocols", fields: answer + fields)
    }
}
