import SocketCore

/// The two legs of a relayed connection.
package struct RelayPair: Equatable, Sendable {
    /// The leg of the client that connected to the relay.
    package let client: SocketSnapshot
    /// The leg that the relay opened to the target.
    package let server: SocketSnapshot

    package init(client: SocketSnapshot, server: SocketSnapshot) { (self.client, self.server) = (client, server) }

    package var legs: [SocketSnapshot] { [client, server] }
    package var isLive: Bool { client.isLive || server.isLive }

    /// The leg that best shows the state of the pair: the one that has ended, or else the one further from being
    /// established. If both have ended, the one that ended first.
    package var worst: SocketSnapshot {
        if let left = client.closed, let right = server.closed {
            if left.time == right.time { return left.error == nil && right.error != nil ? server : client }
            return right.time < left.time ? server : client
        }
        return server.severity > client.severity ? server : client
    }

    /// `<` if the state is that of the client's leg, `>` if it is the server's, `&` if both have it.
    package var mark: String {
        if isLive, client.stateWord == server.stateWord { return "&" }
        return worst.id == client.id ? "<" : ">"
    }

    /// Returns how it ended, with the end that closed first: `client closed first (FIN)`, `server: reset by peer`.
    /// `timeout` is that of the worst leg.
    package func ending(timeout: TimeoutNote?) -> String? {
        let ended = worst
        guard let words = ended.shortEnding(timeout: timeout), ended.webSocket?.report == nil,
            ended.closed?.error != nil || legs.contains(where: { $0.activity.peerClosed != nil })
        else {
            return ended.shortEnding(timeout: timeout)
        }
        func name(_ leg: SocketSnapshot) -> String { leg.id == client.id ? "client" : "server" }
        let isFailure = legs.contains { $0.closed?.error.map { $0.reason != .closedByPeer } ?? false }
        let finished = legs.filter { $0.activity.peerClosed != nil || $0.closed?.error?.reason == .closedByPeer }
        func time(_ leg: SocketSnapshot) -> MonotonicTime { leg.activity.peerClosed ?? leg.closed?.time ?? .zero }
        let first = finished.min { time($0) < time($1) }
        guard !isFailure, let first else { return "\(name(ended)): \(words)" }
        return "\(name(first)) closed first (FIN)" + (first.lossWords.map { ", " + $0 } ?? "")
    }

    /// The queued bytes of both directions.
    package var queuedBytes: Int { client.writing.pendingBytes + server.writing.pendingBytes }

    /// The close record of the leg that ended first, or `nil` while either is live.
    package var closed: CloseRecord? { isLive ? nil : worst.closed }

    /// Returns the queued bytes in each direction: `> 1.2M`, `< 30K`, or both, with less space between them for lack of
    /// room.
    package func queued(width: Int) -> String {
        let ways = [(">", server.writing.pendingBytes), ("<", client.writing.pendingBytes)].filter { $0.1 > 0 }
        return Shorten.fitting(
            [" ", ""].map { gap in ways.map { $0.0 + gap + Format.bytes($0.1) }.joined(separator: " ") }, in: width)
    }
}

extension SocketSnapshot {
    /// How far it is from an established connection.
    fileprivate var severity: Int {
        switch phase {
        case .closed: 4
        case .lingering: 3
        case .connected, .open, .listening: isWriteShut || flags.contains(.socketHasReadEOF) ? 2 : 0
        case .resolving, .connecting: 1
        }
    }
}

extension EngineSnapshot {
    /// Returns the relayed pair of a leg, or `nil` for any other session.
    package func pair(of socket: SocketSnapshot) -> RelayPair? {
        guard let linked = socket.linked, let index = position(of: linked), sockets[index].linked == socket.id
        else { return nil }
        return socket.isClientLeg
            ? RelayPair(client: socket, server: sockets[index]) : RelayPair(client: sockets[index], server: socket)
    }

    /// Returns the pair of a session by its name.
    package func pair(of id: SocketID) -> RelayPair? { position(of: id).flatMap { pair(of: sockets[$0]) } }

    /// Returns the sessions with each relayed pair replaced by its client's leg, whichever leg is among them.
    package func joiningPairs(_ listed: [SocketSnapshot]) -> [SocketSnapshot] {
        var joined: [SocketSnapshot] = []
        joined.reserveCapacity(listed.count)
        var clients: Set<SocketID> = []
        // By index, because a loop over the elements would copy each of them.
        for index in listed.indices {
            guard listed[index].linked != nil, let pair = pair(of: listed[index]) else {
                joined.append(listed[index])
                continue
            }
            if clients.insert(pair.client.id).inserted { joined.append(pair.client) }
        }
        return joined
    }

    /// The number of rows if each relayed pair is one row.
    package var joinedCount: Int {
        sockets.indices.count { sockets[$0].linked == nil || pair(of: sockets[$0])?.server.id != sockets[$0].id }
    }
}
