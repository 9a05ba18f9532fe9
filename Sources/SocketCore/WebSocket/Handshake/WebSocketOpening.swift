/// What a client asks for when it opens a WebSocket, beside the URL (RFC 6455, 4.1).
public struct WebSocketOpening: Hashable, Sendable {
    /// Protocols above it that would do, the best first (`Sec-WebSocket-Protocol`); each a token, none twice.
    public var subprotocols: [String] = []
    /// Whether the server must choose one of them. RFC 6455 lets it choose none.
    public var requiresSubprotocol = false
    /// Fields to add. Those of the handshake itself, `Host` among them, are refused.
    public var fields: [HTTPField] = []
    /// Cookies, as names and values (RFC 6265, 4.2).
    public var cookies: [HTTPField] = []
    /// The page that asks (RFC 6454); programs that are no browser send none. nil: none.
    public var origin: String?
    /// Who is to be logged in; nil: whom the URL names, if anybody.
    public var credentials: HTTPCredentials?

    /// Asks for nothing in particular.
    public init() {}

    /// Fields that the handshake writes by itself.
    private static let own: Set = ["host", "upgrade", "connection", "content-length", "transfer-encoding"]

    /// Why this cannot be asked for, as `argument: sentence`; nil when it can.
    package var fault: String? {
        if let fault = credentials?.fault { return "credentials: \(fault)" }
        for name in subprotocols where !HTTPGrammar.isToken(name) {
            return "subprotocol \(HTTPText.shown(name.utf8)): must be a token: letters, digits and !#$%&'*+-.^_`|~"
        }
        if Set(subprotocols).count < subprotocols.count { return "subprotocols: one is named twice" }
        if requiresSubprotocol, subprotocols.isEmpty { return "requiresSubprotocol: no subprotocol is offered" }
        for cookie in cookies {
            if let fault = cookie.fault { return "cookie: \(fault)" }
            if cookie.value.utf8.contains(where: { $0 == 0x3B }) { return "cookie \(cookie.name): holds a semicolon" }
        }
        if let origin, let fault = HTTPField("Origin", origin).fault { return fault }
        return fields.lazy.compactMap(fault).first
    }

    private func fault(_ field: HTTPField) -> String? {
        if let fault = field.fault { return fault }
        let name = field.name.lowercased()
        if Self.own.contains(name) || name.hasPrefix("sec-websocket-") {
            return "field \(field.name): is written by the handshake itself"
        }
        let isTwice =
            name == "origin" && origin != nil || name == "cookie" && !cookies.isEmpty
            || name == "authorization" && credentials != nil
        return isTwice ? "field \(field.name): is set by a setting of its own too" : nil
    }

    /// The fields that come of this, those of the handshake set aside.
    func fields(for url: WebSocketURL) -> [HTTPField] {
        var result: [HTTPField] = []
        if let origin { result.append(HTTPField("Origin", origin)) }
        if !cookies.isEmpty {
            result.append(HTTPField("Cookie", cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")))
        }
        let isLoggedIn = fields.contains { $0.name.lowercased() == "authorization" }
        if let who = credentials ?? url.credentials, !isLoggedIn {
            result.append(HTTPField("Authorization", who.basic))
        }
        return result + fields
    }
}
