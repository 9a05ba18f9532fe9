import SocketCore

/// The protocol in which a client names its target to a relay.
package enum ProxyKind: String, Equatable, Sendable, CaseIterable {
    /// SOCKS version 5 (RFC 1928), without authentication, and CONNECT only.
    case socks5
    /// The CONNECT method of HTTP (RFC 9110, 9.3.6), and requests for `http://` in absolute form.
    case http

    /// The name of the listener of a proxy that requests no client certificate.
    package var listenerName: String {
        switch self {
        case .socks5: "SOCKS 5 proxy"
        case .http: "HTTP proxy"
        }
    }
}

/// The server's side of a proxy handshake, up to the point where the target's bytes begin.
///
/// Pass it the client's bytes until it returns `open`, `forward` or `refuse`. Then answer the client with `connected`
/// or `failed`.
package struct ProxyHandshake: Equatable, Sendable {
    /// What the caller must do next.
    package enum Step: Equatable, Sendable {
        /// Wait for more bytes.
        case wait
        /// Send these, then call `receive` with no bytes, since it may already have more.
        case reply([UInt8])
        /// Connect to this endpoint. `early` followed the request, and belongs to the target.
        case open(Endpoint, early: [UInt8])
        /// Connect to the server of this request and send it the head. `early` followed the head, and the request's
        /// body determines how much of it belongs to the request.
        case forward(HTTPForwardedRequest, early: [UInt8])
        /// Send these and close.
        case refuse([UInt8])
    }

    /// Why a target could not be reached, as far as the protocols distinguish.
    package enum Failure: Equatable, Sendable {
        case refused, networkUnreachable, hostUnreachable, timedOut, other
    }

    private enum State: Equatable {
        case socks(SOCKS5Handshake)
        case http(HTTPConnectHandshake)
    }

    private var state: State

    /// Creates the handshake of a client that has sent nothing yet.
    package init(_ kind: ProxyKind) {
        switch kind {
        case .socks5: state = .socks(SOCKS5Handshake())
        case .http: state = .http(HTTPConnectHandshake())
        }
    }

    /// Processes bytes from the client. Must not be called after `open`, `forward` or `refuse`.
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

    /// The answer to the client when the target's connection is open. It is empty if the server's own answer is
    /// forwarded.
    package var connected: [UInt8] {
        switch state {
        case .socks: SOCKS5Handshake.reply(0)
        case .http(let handshake) where handshake.isForwarded: []
        case .http: Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
        }
    }

    /// Returns the answer to the client when the target can't be reached.
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
    /// The reply code (RFC 1928, 6).
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
        case .other: "could not connect to the target"
        }
    }
}
