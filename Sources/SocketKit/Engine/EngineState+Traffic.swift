import SocketCore

/// Traffic that is kept for a user to look at, within a limit for each session and one for all of them.
extension EngineState {
    /// An empty log for a session.
    func newTrafficLog() -> TrafficLog { TrafficLog(limit: configuration.trafficLimit) }

    /// What is kept of a session's traffic, whether it is live or closed.
    func traffic(of id: SocketID) -> TrafficSnapshot? {
        sessions[id]?.traffic?.snapshot ?? closed.traffic(of: id)
    }

    /// What is kept of the traffic of those where that has another version.
    func changedTraffic(
        of sockets: [SocketSnapshot], since versions: [SocketID: UInt64]
    ) -> [SocketID: VersionedTraffic] {
        var changed: [SocketID: VersionedTraffic] = [:]
        for index in sockets.indices {
            let id = sockets[index].id
            let log = sessions[id]?.traffic ?? closed.log(of: id)
            guard let log, log.version != versions[id] else { continue }
            changed[id] = VersionedTraffic(version: log.version, traffic: log.snapshot)
        }
        return changed
    }

    /// Counts what a live session keeps more, or less. Nobody else's log may be in use meanwhile.
    func charge(_ bytes: Int) {
        trafficCost += bytes
        guard bytes > 0, trafficCost + closed.trafficCost > max(0, configuration.totalTrafficLimit) else { return }
        makeTrafficRoom()
    }

    /// Takes from those that keep most, so that all of these keep equally much, or where that is too little to be of use,
    /// from those that have been quiet the longest; an eighth of the limit at a time, since all sessions are looked at.
    private func makeTrafficRoom() {
        let limit = max(0, configuration.totalTrafficLimit)
        let live = sessions.values.compactMap(\.trafficUse)
        let share = TrafficShare(of: live + closed.trafficUses, sum: limit - limit / 8)
        closed.trimTraffic(to: share)
        for session in sessions.values {
            if let use = session.trafficUse, use.cost > share[use] { session.trimTraffic(to: share[use]) }
        }
    }
}

/// What one session keeps.
struct TrafficUse {
    let id: SocketID
    let latest: MonotonicTime
    let cost: Int

    /// `nil` if nothing is kept.
    init?(_ log: TrafficLog?, of id: SocketID) {
        guard let log, let latest = log.latest else { return nil }
        (self.id, self.latest, cost) = (id, latest, log.cost)
    }

    init(id: SocketID, latest: MonotonicTime, cost: Int) { (self.id, self.latest, self.cost) = (id, latest, cost) }

    /// Whether it has been quiet for longer.
    func isOlder(than other: TrafficUse) -> Bool { (latest, id) < (other.latest, other.id) }
}

/// How much each session may keep.
struct TrafficShare {
    /// Less than this is of no use: a few short messages.
    static let least = 4 * TrafficStore.standardItemCost

    private var level: Int
    /// The latest of those that may keep nothing, or `nil` if all may keep something.
    private var evicted: TrafficUse?

    init(of uses: [TrafficUse], sum: Int) {
        let least = min(Self.least, sum)
        level = EvenShare.level(uses.map(\.cost), sum: sum)
        guard level < least, uses.contains(where: { $0.cost > level }) else { return }
        level = least
        var left = sum
        for use in uses.sorted(by: { $1.isOlder(than: $0) }) {
            guard min(use.cost, least) <= left else {
                evicted = use
                return
            }
            left -= min(use.cost, least)
        }
    }

    /// The most bytes that it may keep.
    subscript(use: TrafficUse) -> Int {
        guard let evicted, !evicted.isOlder(than: use) else { return level }
        return 0
    }
}

extension Connection {
    /// What is kept of its traffic, or `nil` if nothing is.
    var trafficUse: TrafficUse? { keepsTraffic ? TrafficUse(traffic, of: id) : nil }

    /// What is kept of its traffic, in bytes.
    var trafficCost: Int { keepsTraffic ? traffic?.cost ?? 0 : 0 }

    /// Gives its log away, since it is over.
    func takeTraffic() -> TrafficLog? {
        guard keepsTraffic else { return nil }
        let log = traffic
        traffic = nil
        return log
    }
}

extension DatagramSession {
    /// What is kept of its traffic, or `nil` if nothing is.
    var trafficUse: TrafficUse? { TrafficUse(traffic, of: id) }

    /// What is kept of its traffic, in bytes.
    var trafficCost: Int { traffic?.cost ?? 0 }

    /// Gives its log away, since it is over.
    func takeTraffic() -> TrafficLog? {
        let log = traffic
        traffic = nil
        return log
    }
}

extension [UInt8] {
    /// A copy of those of a range that are there. A slice of all elements would share their memory, into which a layer above
    /// may let its user write.
    func part(_ range: Range<Int>) -> [UInt8] { self[range.clamped(to: indices)].withUnsafeBytes { [UInt8]($0) } }
}
