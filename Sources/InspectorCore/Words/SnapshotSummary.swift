import SocketCore

/// Sums over the sessions on the screen, computed once for each snapshot.
package struct SnapshotSummary: Equatable, Sendable {
    package var live = 0
    package var closed = 0
    package var receiveRate: Double?
    package var sendRate: Double?
    /// The width of the largest id in columns.
    package var idWidth = 4
    /// For sockets inspected from outside: the number of listeners, and the users whose sockets have no visible
    /// program.
    package var listening = 0
    package var hiddenOwners: [UInt32: Int] = [:]
    package var hiddenNames: [UInt32: String] = [:]

    /// What the sessions are, as far as that does not depend on their programs.
    package var kind = ListKind.sockets

    package init() {}
}

extension SnapshotSummary {
    /// Computes sums over the sessions of a snapshot, in one pass. If pairs are joined, a relayed connection counts as
    /// one, which is live while one of its legs is.
    package init(_ snapshot: EngineSnapshot, joinsPairs: Bool) {
        let sockets = snapshot.sockets
        var captured = 0
        var largest = SocketID(0)
        // By index, because a loop over the elements would copy each of them.
        for index in sockets.indices {
            largest = max(largest, sockets[index].id)
            if sockets[index].ends != nil { captured += 1 }
            if sockets[index].linked != nil || sockets[index].datagrams?.client != nil { kind = .relayed }
            let other = joinsPairs ? snapshot.positionOfOtherLeg(at: index) : nil
            if other.map({ $0 > index }) ?? true {
                let isLive = sockets[index].phase != .closed || other.map { sockets[$0].phase != .closed } ?? false
                // Only TIME-WAIT, which lingers, has rows that stand for several.
                let alike = sockets[index].phase == .lingering ? sockets[index].host?.alike ?? 1 : 1
                if isLive { live += alike } else { closed += 1 }
            }
            guard sockets[index].phase != .closed else { continue }
            if sockets[index].role == .listener { listening += 1 }
            if let user = sockets[index].hiddenOwner {
                hiddenOwners[user, default: 0] += 1
                if hiddenNames[user] == nil { hiddenNames[user] = sockets[index].host?.userName }
            }
            if let rate = sockets[index].receiveRate { receiveRate = (receiveRate ?? 0) + rate }
            if let rate = sockets[index].sendRate { sendRate = (sendRate ?? 0) + rate }
        }
        if captured > 0, captured == sockets.count { kind = .captured }
        idWidth = max(4, largest.label.count)
    }
}

extension EngineSnapshot {
    /// Returns the index of the other leg of a pair, or `nil` if the session at `index` is not a leg of one.
    package func positionOfOtherLeg(at index: Int) -> Int? {
        guard let linked = sockets[index].linked, let other = position(of: linked),
            sockets[other].linked == sockets[index].id
        else { return nil }
        return other
    }
}
