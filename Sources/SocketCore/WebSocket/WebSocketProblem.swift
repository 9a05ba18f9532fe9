/// Why there is no WebSocket, or none any more.
public enum WebSocketProblem: Hashable, Sendable, Codable {
    /// The server answered with something other than 101.
    case refused(HandshakeRefusal)
    /// The proxy gave no tunnel.
    case proxyRefused(HandshakeRefusal)
    /// The peer's part of the opening handshake breaks a rule.
    case badHandshake
    /// The opening handshake, name resolution and connecting included, took too long.
    case handshakeTimeout
    /// The peer broke the protocol, or was silent.
    case failed(WebSocketFailure)
    /// It was closed with this code, which is none of an orderly end.
    case closed(WebSocketCloseCode)
    /// What was to be sent was refused.
    case notSent(WebSocketRefusal)

    /// SocketRocket's code for it: 2132 for a status other than 101, 2133 for a bad answer, 504 for a timeout, the code
    /// of the Close otherwise.
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
