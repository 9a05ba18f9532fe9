/// Why a WebSocket did not open or has ended.
public enum WebSocketProblem: Hashable, Sendable {
    /// The server answered with something other than 101.
    case refused(HandshakeRefusal)
    /// The proxy refused the tunnel.
    case proxyRefused(HandshakeRefusal)
    /// The peer's opening handshake breaks a rule.
    case badHandshake
    /// The opening handshake, name resolution and connecting included, took too long.
    case handshakeTimeout
    /// The peer broke the protocol or timed out.
    case failed(WebSocketFailure)
    /// The WebSocket was closed with this code, which does not mean an orderly end.
    case closed(WebSocketCloseCode)
    /// Something to be sent was rejected.
    case notSent(WebSocketRefusal)

    /// SocketRocket's error code: 2132 for a status other than 101, 2133 for a bad response, 504 for a timeout, or the
    /// close code.
    public var code: Int {
        switch self {
        case .refused, .proxyRefused: 2132
        case .badHandshake: 2133
        case .handshakeTimeout: 504
        case .failed(let failure): Int(failure.closeCode.rawValue)
        case .closed(let code): Int(code.rawValue)
        case .notSent: 2134
        }
    }
}
