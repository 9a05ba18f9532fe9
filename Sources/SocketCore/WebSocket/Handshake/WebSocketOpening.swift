/// A client's options for opening a WebSocket, in addition to the URL (RFC 6455, 4.1).
public struct WebSocketOpening: Hashable, Sendable {
    /// The acceptable subprotocols in order of preference (`Sec-WebSocket-Protocol`). Each must be a token, without
    /// duplicates.
    public var subprotocols: [String] = []
    /// Whether the server must choose one of `subprotocols`. RFC 6455 allows it to choose none.
    public var requiresSubprotocol = false
    /// Additional header fields. Fields of the handshake itself, including `Host`, are rejected.
    public var fields: [HTTPField] = []
    /// Cookies, as names and values (RFC 6265, 4.2).
    public var cookies: [HTTPField] = []
    /// The origin of the requesting page (RFC 6454), or `nil` to send none. Programs other than browsers send none.
    public var origin: String?
    /// The credentials to log in with, or `nil` for those in the URL, if any.
    public var credentials: HTTPCredentials?

    /// Creates options with the default values.
    public init() {}

    /// Fields that only the handshake may set: its own, and those of a body, which it does not have.
    private static let own: Set = ["host", "upgrade", "connection", "content-length", "transfer-encoding"]

    /// Why these options can't be used, as `argument: sentence`, or `nil` if they can.
    package var fault: String? {
        if let fault = credentials?.fault { return "credentials: \(fault)" }
        for name in subprotocols where !HTTPGrammar.isToken(name) {
            return "subprotocol \(HTTPText.shown(name.utf8)): must be a token: letters, digits and !#$%&'*+-.^_`|~"
        }
        if Set(subprotocols).count < subprotocols.count { return "subprotocols: one is named twice" }
        if requiresSubprotocol, subprotocols.isEmpty { return "requiresSubprotocol: no subprotocol is offered" }
        for cookie in cookies {
            if let fault = cookie.fault { return "cookie: \(fault)" }
            if cookie.value.utf8.contains(0x3B) { return "cookie \(cookie.name): must not contain a semicolon" }
        }
        if let origin, let fault = HTTPField("Origin", origin).fault { return fault }
        return fields.lazy.compactMap(fault).first
    }

    private func fault(_ field: HTTPField) -> String? {
        if let fault = field.fault { return fault }
        let name = field.name.lowercased()
        if Self.own.contains(name) || name.hasPrefix("sec-websocket-") {
            return "field \(field.name): is reserved for the handshake"
        }
        let isTwice =
            name == "origin" && origin != nil || name == "cookie" && !cookies.isEmpty
            || name == "authorization" && credentials != nil
        return isTwice ? "field \(field.name): is already set by another option" : nil
    }

    /// Returns the fields for these options, without those of the handshake itself.
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
