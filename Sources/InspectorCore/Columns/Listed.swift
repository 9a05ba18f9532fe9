import SocketCore

/// What one row of the list shows: a session, or both legs of a relayed connection.
package struct Listed {
    package let socket: SocketSnapshot
    /// The relayed connection that is one row, or `nil` if `socket` has a row of its own.
    package let pair: RelayPair?

    /// The number of sockets in TIME-WAIT for which this row stands, if it is not 1.
    package let folded: Int?

    package init(_ socket: SocketSnapshot, _ pair: RelayPair? = nil, folded: Int? = nil) {
        (self.socket, self.pair, self.folded) = (socket, pair, folded)
    }

    package var legs: [SocketSnapshot] { pair?.legs ?? [socket] }
    package var isLive: Bool { pair?.isLive ?? socket.isLive }
    package var closed: CloseRecord? { pair == nil ? socket.closed : pair?.closed }
    /// The role of its words, unless a column has another.
    package var base: Role { isLive ? .plain : .closed }

    /// Whether our end received what the client sent: of a relay's leg, of a connection that was accepted, and of the
    /// socket that clients send datagrams to, which has no peer of its own.
    private var hearsClient: Bool {
        pair != nil || socket.role == .accepted
            || socket.role == .datagram && socket.datagrams?.client == nil && socket.ends == nil && socket.peer == nil
    }

    /// What the client and the server sent: bytes a second, and in all. An association sends what it receives from a
    /// client.
    package var clientSent: (rate: Double?, total: UInt64) { hearsClient ? received : sent }
    package var serverSent: (rate: Double?, total: UInt64) { hearsClient ? sent : received }

    private var received: (rate: Double?, total: UInt64) { (socket.receiveRate, socket.received) }
    private var sent: (rate: Double?, total: UInt64) { (socket.sendRate, socket.sent) }
}

/// What columns know besides the sessions.
package struct Sight {
    package var now: MonotonicTime
    package var findings: Findings
    package var glyphs: Glyphs

    package init(_ now: MonotonicTime, _ findings: Findings, _ glyphs: Glyphs = .unicode) {
        (self.now, self.findings, self.glyphs) = (now, findings, glyphs)
    }
}
