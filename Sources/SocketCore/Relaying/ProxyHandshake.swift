/// How a client tells a relay where it wants to go.
package enum ProxyKind: String, Hashable, Sendable, CaseIterable {
    /// SOCKS version 5 (RFC 1928), without authentication, for its CONNECT.
    case socks5
    /// The CONNECT method of HTTP (RFC 9110, 9.3.6), and requests for `http://` in absolute form.
    case http
}

/// The server's side of a proxy handshake, up to the point where the target's bytes begin.
///
/// Feed it what the client sends until it says `open` or `refuse`; then tell the client by `connected` or `failed` what
/// became of it.
package struct ProxyHandshake: Equatable, Sendable {
    /// What is to be done next.
    package enum Step: Equatable, Sendable {
        /// Nothing: more bytes are needed.
        case wait
        /// Send these, then ask again by receiving nothing: the client may have said more already.
        case reply([UInt8])
        /// Connect there. `early` came behind the request already, and belongs to the target.
        case open(Endpoint, early: [UInt8])
        /// Connect to the server of this request, which gets its head. `early` came after the head: the body of the
        /// request says how much of that belongs to it.
        case forward(HTTPForwardedRequest, early: [UInt8])
        /// Send these and close.
        case refuse([UInt8])
    }

    /// Why a target could not be reached, as far as the protocols have words for it.
    package enum Failure: Hashable, Sendable {
        case refused, networkUnreachable, hostUnreachable, timedOut, other
    }

    private enum State: Equatable {
        case socks(SOCKS5Handshake)
        case http(HTTPConnectHandshake)
    }

    private var state: State

    /// A client has come and said nothing yet.
    package init(_ kind: ProxyKind) {
        switch kind {
        case .socks5: state = .socks(SOCKS5Handshake())
        case .http: state = .http(HTTPConnectHandshake())
        }
    }

    /// Takes bytes from the client. Not to be called after `open` or `refuse`.
    package mutating func receive(_ bytes: [UInt8]) -> Step {
        switch state {
        case .socks(var handshake):
            defer { state = .socks(handshake) }
            return handshake.receive(bytes)
        case .http(var handshake):
            defer { state = .http(handshake) }
            return handshake.receive(bytes)
        }
    }

    /// What the client is told when the target's connection stands; empty: the server answers for itself.
    package var connected: [UInt8] {
        switch state {
        case .socks: SOCKS5Handshake.reply(0)
        case .http(let handshake) where handshake.isForwarded: []
        case .http: Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
        }
    }

    /// What the client is told when the target cannot be reached.
    package func failed(_ failure: Failure) -> [UInt8] {
        switch state {
        case .socks: SOCKS5Handshake.reply(failure.socksCode)
        case .http:
            HTTPConnectHandshake.response(
                failure == .timedOut ? "504 Gateway Timeout" : "502 Bad Gateway", failure.words)
        }
    }
}

extension ProxyHandshake.Failure {
    /// RFC 1928, 6.
    fileprivate var socksCode: UInt8 {
        switch self {
        case .refused: 5
        case .networkUnreachable: 3
        case .hostUnreachable, .timedOut: 4
        case .other: 1
        }
    }

    fileprivate var words: String {
        switch self {
        case .refused: "the target refused the connection"
        case .networkUnreachable: "the target's network cannot be reached"
        case .hostUnreachable: "the target cannot be reached"
        case .timedOut: "the target did not answer in time"
        case .other: "the target could not be connected to"
        }
    }
}
