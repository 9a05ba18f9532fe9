import SocketCore

/// A user's request to open something.
package struct OpenRequest: Equatable, Sendable {
    package var target: OpenTarget
    /// For a connect, the time limit, or `nil` for none.
    package var timeout: Duration?
    /// Whether a standing read of kind "any" is queued at once, on each accepted connection too.
    package var standingRead: Bool
    /// Whether the connection stays open for writing after the peer's FIN.
    package var allowsHalfOpen: Bool
    /// For a listener, whether connections wait in the kernel until the user accepts or refuses each one.
    package var holdsConnections: Bool
    /// TLS from the first byte, or `nil` for none.
    package var tls: TLSSettings?
    /// For a connect, the bytes to write at once. Empty for none.
    package var greeting: [UInt8] = []
    /// The auto-reply rules of this connection, or of those that a listener accepts.
    package var replies: [ReplyRule] = []
    /// For a WebSocket, the options in addition to its address.
    package var webSocket = WebSocketChoices()

    /// The target as typed: `tls://localhost:8443`.
    package var address: String { target.description }

    package init(
        _ target: OpenTarget, timeout: Duration? = nil, standingRead: Bool = true, allowsHalfOpen: Bool = false,
        holdsConnections: Bool = false
    ) {
        self.target = target
        self.timeout = timeout
        self.standingRead = standingRead
        self.allowsHalfOpen = allowsHalfOpen
        self.holdsConnections = holdsConnections
    }

    package init(
        _ endpoint: Endpoint, timeout: Duration? = nil, standingRead: Bool = true, allowsHalfOpen: Bool = false,
        holdsConnections: Bool = false
    ) {
        self.init(
            .stream(endpoint), timeout: timeout, standingRead: standingRead, allowsHalfOpen: allowsHalfOpen,
            holdsConnections: holdsConnections)
    }
}
