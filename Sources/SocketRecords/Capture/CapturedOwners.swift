import SocketCore

/// Finds the sockets of this host that are the ends of captured connections.
package struct CapturedOwners: Sendable {
    private struct Key: Hashable {
        var isStream: Bool
        var local: SocketAddress
        var peer: SocketAddress?
    }

    /// The host's sockets in its latest snapshot, and the snapshot's time.
    private var rows: [Key: SocketSnapshot] = [:]
    private var time: MonotonicTime?
    /// The ends that were found of each captured connection.
    private var known: [SocketID: CapturedEnds] = [:]

    package init() {}

    /// Absorbs a snapshot of the host. Sockets in other network namespaces are ignored, since they can have the same
    /// addresses.
    package mutating func absorb(_ snapshot: EngineSnapshot) {
        guard time != snapshot.time else { return }
        time = snapshot.time
        rows.removeAll(keepingCapacity: true)
        for row in snapshot.sockets where row.role != .listener && row.phase != .closed {
            guard let host = row.host, !host.transport.isUnix, host.namespace?.ordinal ?? 0 == 0, let local = row.local
            else { continue }
            rows[Key(isStream: host.transport.isStream, local: local, peer: row.peer)] = row
        }
    }

    /// Returns the ends of a connection in the latest snapshot.
    package mutating func ends(of session: SocketSnapshot) -> CapturedEnds {
        let before = known[session.id]
        guard let local = session.local, let peer = session.peer, session.phase != .closed else {
            return CapturedEnds(local: before?.local?.gone, peer: before?.peer?.gone)
        }
        let isStream = session.role != .datagram
        let now = CapturedEnds(
            local: row(isStream, local, peer).flatMap(CapturedEnds.End.init) ?? before?.local?.gone,
            peer: row(isStream, peer, local).flatMap(CapturedEnds.End.init) ?? before?.peer?.gone)
        if now.local != nil || now.peer != nil { known[session.id] = now }
        return now
    }

    /// Returns the host's own identifiers of the ends of these connections.
    package func rows(of sessions: some Sequence<CapturedSession>) -> Set<SocketID> {
        var found: Set<SocketID> = []
        for session in sessions where session.closed == nil {
            let (local, peer) = (
                SocketAddress(session.local.ip, port: session.local.port),
                SocketAddress(session.peer.ip, port: session.peer.port)
            )
            row(session.isStream, local, peer).map { _ = found.insert($0.id) }
            row(session.isStream, peer, local).map { _ = found.insert($0.id) }
        }
        return found
    }

    /// Drops connections that are not listed.
    package mutating func forget(but listed: [SocketID]) {
        guard known.count > listed.count else { return }
        let listed = Set(listed)
        known = known.filter { listed.contains($0.key) }
    }

    /// Returns the socket with these ends. For datagrams, that can be a socket without a peer, or one bound to a
    /// wildcard address.
    private func row(_ isStream: Bool, _ local: SocketAddress, _ peer: SocketAddress) -> SocketSnapshot? {
        if let row = rows[Key(isStream: isStream, local: local, peer: peer)] { return row }
        guard !isStream, let port = local.port else { return nil }
        let every = [SocketAddress(.v4(0), port: port), SocketAddress(.v6(0, 0), port: port)]
        return ([local] + every).lazy.compactMap { rows[Key(isStream: false, local: $0, peer: nil)] }.first
    }
}
