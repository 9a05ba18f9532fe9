import SocketCore

/// Traffic that is kept for a user to see, with a limit for each session and one for all of them.
extension EngineState {
    func newTrafficLog() -> TrafficLog { TrafficLog(limit: configuration.trafficLimit) }

    /// Returns the traffic kept for a session, whether it is live or closed.
    func traffic(of id: SocketID) -> TrafficSnapshot? {
        sessions[id]?.traffic?.snapshot ?? closed.traffic(of: id)
    }

    /// Returns the kept traffic of those sockets whose version differs from the one in `versions`.
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

    /// Adds to the memory that live sessions keep, or subtracts from it. No other session's log may be in use
    /// meanwhile.
    func charge(_ bytes: Int) {
        trafficCost += bytes
        guard bytes > 0, trafficCost + closed.trafficCost > max(0, configuration.totalTrafficLimit) else { return }
        makeTrafficRoom()
    }

    /// Trims the logs that keep most, so that all of these keep equally much. If that would be too little to be useful,
    /// trims those that have been quiet the longest. Frees an eighth of the limit at a time, because all sessions are
    /// examined.
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

/// The traffic that one session keeps.
struct TrafficUse {
    let id: SocketID
    let latest: MonotonicTime
    let cost: Int

    /// Returns `nil` if nothing is kept.
    init?(_ log: TrafficLog?, of id: SocketID) {
        guard let log, let latest = log.latest else { return nil }
        (self.id, self.latest, cost) = (id, latest, log.cost)
    }

    init(id: SocketID, latest: MonotonicTime, cost: Int) { (self.id, self.latest, self.cost) = (id, latest, cost) }

    /// Whether this session has been quiet for longer.
    func isOlder(than other: TrafficUse) -> Bool { (latest, id) < (other.latest, other.id) }
}

/// How much each session may keep.
struct TrafficShare {
    /// The least that is useful: a few short messages.
    static let least = 4 * TrafficStore.standardItemCost

    private var level: Int
    /// The latest of the sessions that may keep nothing, or `nil` if all may keep something.
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

    /// The most bytes that the session may keep.
    subscript(use: TrafficUse) -> Int {
        guard let evicted, !evicted.isOlder(than: use) else { return level }
        return 0
    }
}

extension Connection {
    /// The traffic that it keeps, or `nil` if it keeps none.
    var trafficUse: TrafficUse? { keepsTraffic ? TrafficUse(traffic, of: id) : nil }

    var trafficCost: Int { keepsTraffic ? traffic?.cost ?? 0 : 0 }

    /// Removes and returns its log, because it has ended.
    func takeTraffic() -> TrafficLog? {
        guard keepsTraffic else { return nil }
        let log = traffic
        traffic = nil
        return log
    }
}

extension DatagramSession {
    /// The traffic that it keeps, or `nil` if it keeps none.
    var trafficUse: TrafficUse? { TrafficUse(traffic, of: id) }

    var trafficCost: Int { traffic?.cost ?? 0 }

    /// Removes and returns its log, because it has ended.
    func takeTraffic() -> TrafficLog? {
        let log = traffic
        traffic = nil
        return log
    }
}

extension [UInt8] {
    /// Returns a copy of the elements of `range` that exist. A slice of all elements would share their memory, into
    /// which a layer above may let its user write.
    func part(_ range: Range<Int>) -> [UInt8] { self[range.clamped(to: indices)].withUnsafeBytes { [UInt8]($0) } }
}
