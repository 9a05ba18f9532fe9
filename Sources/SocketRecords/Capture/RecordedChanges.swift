import SocketCore

/// The changes from one snapshot to the next, for a recording in a file or in memory.
struct RecordedChanges: Sendable {
    private var former: [SocketID: SocketSnapshot] = [:]
    private var told: [SocketID: ToldTraffic] = [:]
    private var peers: [SocketID: PeerEnd]?
    private var calls: CallLedger?
    /// The number of calls that were reported.
    private var toldCalls: UInt64?

    /// Starts over, so that everything is reported again.
    mutating func startOver() {
        // Calls that are over are in the file before.
        let told = toldCalls
        self = RecordedChanges()
        toldCalls = told
    }

    /// Makes everything except traffic be reported again.
    mutating func tellAllSockets() { (former, peers, calls) = ([:], nil, nil) }

    /// Returns the sockets that changed.
    mutating func sockets(of snapshot: EngineSnapshot) -> [SocketSnapshot] {
        let changed = snapshot.sockets.filter { former[$0.id] != $0 }
        for socket in changed { former[socket.id] = socket }
        return changed
    }

    /// Returns whether more than this many sockets are no longer listed.
    func isGone(moreThan most: Int, from snapshot: EngineSnapshot) -> Bool {
        guard former.count > most else { return false }
        return former.count - snapshot.sockets.count { former[$0.id] != nil } > most
    }

    /// Returns the peers, if they have changed, or else `nil`.
    mutating func peers(of snapshot: EngineSnapshot) -> [InspectionPeer]? {
        guard let found = snapshot.peers, found != peers else { return nil }
        peers = found
        return found.sorted { $0.key < $1.key }.map { socket, end in
            var peer = InspectionPeer()
            (peer.socket, peer.end) = (socket, end)
            return peer
        }
    }

    /// Returns the calls that ended since the last report and those that wait, if anything has changed.
    mutating func calls(of snapshot: EngineSnapshot) -> [CallUpdate] {
        guard let found = snapshot.calls, calls.map({ !found.isSame(as: $0) }) ?? true else { return [] }
        defer { (calls, toldCalls) = (found, found.next) }
        return CallUpdate.updates(of: found, after: toldCalls)
    }

    /// Returns about `most` bytes of a session's new traffic, or `nil` if there is no more.
    mutating func nextTraffic(
        of id: SocketID, _ kept: TrafficSnapshot, most: Int, edge: Int = ToldTraffic.edge
    ) -> InspectionTraffic? {
        var progress = told[id] ?? ToldTraffic()
        var change = InspectionTraffic()
        (change.socket, change.dropped) = (id, kept.dropped)
        change.first = kept.items.first?.sequence ?? 0
        let wasDropped = progress.dropped
        _ = progress.takeNews(of: kept, into: &change.items, most: most, edge: edge)
        told[id] = progress
        return change.items.isEmpty && kept.dropped == wasDropped ? nil : change
    }

    /// Returns the tick that ends the frames of a snapshot.
    mutating func tick(of snapshot: EngineSnapshot) -> InspectionTick {
        var tick = InspectionTick(snapshot)
        let present = Set(snapshot.sockets.map(\.id))
        tick.removed = former.keys.filter { !present.contains($0) }
        for id in tick.removed { (former[id], told[id]) = (nil, nil) }
        return tick
    }
}
