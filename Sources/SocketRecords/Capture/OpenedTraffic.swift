import SocketCore

/// The traffic in a recording, with limits for each session and for all.
struct OpenedTraffic: Sendable {
    private var kept: [SocketID: MirroredTraffic] = [:]
    private(set) var cost = 0
    /// The number of changes in the traffic of sessions beyond the limit.
    private(set) var refused: UInt64 = 0

    subscript(id: SocketID) -> TrafficSnapshot { kept[id]?.snapshot ?? TrafficSnapshot() }

    mutating func absorb(_ change: InspectionTraffic, each: Int, all: Int) throws(WireError) {
        guard kept.count < CapturedSessions.limit || kept[change.socket] != nil else { return refused += 1 }
        var traffic = kept.removeValue(forKey: change.socket) ?? MirroredTraffic()
        cost -= traffic.cost
        try traffic.absorb(change)
        traffic.trim(to: each)
        cost += traffic.cost
        kept[change.socket] = traffic
        if cost > all { trim(to: all - all / 8) }
    }

    /// Frees the memory of dropped traffic.
    mutating func compact() { for id in kept.keys { kept[id]?.compact() } }

    /// Trims each session to an equal share, so that together they take at most `all`.
    mutating func trim(to all: Int) {
        guard cost > all else { return }
        let share = EvenShare.level(kept.values.map(\.cost), sum: all)
        cost = 0
        for id in kept.keys {
            kept[id]?.trim(to: share)
            cost += kept[id]?.cost ?? 0
        }
    }
}
