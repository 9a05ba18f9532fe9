internal import SocketKit

/// The `WebSocket` settings for one of Foundation's requests, read as SocketRocket reads it.
struct SRWebSocketPlan {
    let url: String
    let configuration: WebSocketConfiguration

    /// The header fields that the handshake writes.
    private static let handshake: Set = ["host", "upgrade", "connection", "content-length", "transfer-encoding"]

    init(_ request: URLRequest, _ protocols: [String], _ cookies: [HTTPCookie]?, _ policy: SRSecurityPolicy) {
        url = request.url.map(Self.text) ?? ""
        var configuration = WebSocketConfiguration()
        configuration.compression = nil
        let seconds = request.timeoutInterval
        configuration.openTimeout = seconds > 0 && seconds < 1e9 ? .seconds(seconds) : nil
        configuration.opening = Self.opening(request, protocols, cookies)
        var tls = TLSSettings.client()
        if !policy.validatesChain { tls.trust = .anything }
        if policy.decides { tls.trustEvaluator = .delegate }
        configuration.tls = tls
        self.configuration = configuration
    }

    /// Converts the URL's scheme to a WebSocket scheme.
    private static func text(_ url: URL) -> String {
        let schemes = ["http": "ws", "https": "wss"]
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url.absoluteString }
        parts.scheme = parts.scheme.map { schemes[$0.lowercased()] ?? $0 }
        parts.fragment = nil
        return parts.string ?? url.absoluteString
    }

    /// Reads the header fields. The request's own fields override the defaults.
    private static func opening(_ request: URLRequest, _ protocols: [String], _ cookies: [HTTPCookie]?)
        -> WebSocketOpening
    {
        var opening = WebSocketOpening()
        opening.subprotocols = protocols
        opening.origin = request.url.flatMap(origin)
        opening.cookies = (cookies ?? []).map { HTTPField($0.name, $0.value) }
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            switch name.lowercased() {
            case "origin": opening.origin = value
            case "sec-websocket-protocol":
                opening.subprotocols = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            case "cookie":
                opening.cookies = []
                opening.fields.append(HTTPField(name, value))
            case let lowered where handshake.contains(lowered) || lowered.hasPrefix("sec-websocket-"): break
            default: opening.fields.append(HTTPField(name, value))
            }
        }
        return opening
    }

    /// Derives the Origin field from the URL, as SocketRocket does.
    private static func origin(_ url: URL) -> String? {
        guard let host = url.host, let scheme = url.scheme?.lowercased() else { return nil }
        let isSecure = scheme == "wss" || scheme == "https"
        let port = url.port.flatMap { $0 == (isSecure ? 443 : 80) ? nil : ":\($0)" } ?? ""
        return "\(isSecure ? "https" : "http")://\(host)\(port)"
    }
}
