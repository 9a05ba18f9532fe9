import SocketCore

/// Traffic that is kept for a user to look at, within a limit for each session and one for all of them.
extension EngineState {
    /// An empty log for a session.
    func newTrafficLog() -> TrafficLog { TrafficLog(limit: configuration.trafficLimit) }

    /// What is kept of a session's traffic, whether it is live or closed.
    func traffic(of id: SocketID) -> TrafficSnapshot? {
        connections[id]?.traffic?.snapshot ?? datagrams[id]?.traffic?.snapshot ?? closed.traffic(of: id)
    }

    /// Counts what a live session keeps more, or less. Nobody else's log may be in use meanwhile.
    func charge(_ bytes: Int) {
        trafficCost += bytes
        guard bytes > 0, trafficCost + closed.trafficCost > max(0, configuration.totalTrafficLimit) else { return }
        makeTrafficRoom()
    }

    /// Takes from those that keep most, so that all of these keep equally much; an eighth of the limit at a time, since all
    /// sessions are looked at for it.
    private func makeTrafficRoom() {
        let limit = max(0, configuration.totalTrafficLimit)
        var costs = closed.trafficCosts + datagrams.values.map(\.trafficCost)
        for connection in connections.values where connection.keepsTraffic { costs.append(connection.trafficCost) }
        let level = Self.level(costs, sum: limit - limit / 8)
        closed.trimTraffic(to: level)
        for session in datagrams.values where session.trafficCost > level { session.traffic?.trim(to: level) }
        for connection in connections.values where connection.trafficCost > level {
            connection.traffic?.trim(to: level)
        }
    }

    /// The most that each of them may be, so that they are not more than `sum` together.
    static func level(_ costs: [Int], sum: Int) -> Int {
        let costs = costs.sorted()
        var left = sum
        for (index, cost) in costs.enumerated() {
            let share = left / (costs.count - index)
            guard cost <= share else { return share }
            left -= cost
        }
        return costs.last ?? 0
    }
}

extension Connection {
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
    /// Those of a range that are there.
    func part(_ range: Range<Int>) -> [UInt8] { Array(self[range.clamped(to: indices)]) }
}
