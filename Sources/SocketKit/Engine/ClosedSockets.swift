import SocketCore

/// Ended sessions, kept for a while with their reason. Bounded in number and in time.
struct ClosedSockets {
    private var limit: Int
    private let retention: Duration
    private var sockets: [EndedSession] = []
    private var head = 0
    /// The traffic kept for the latest of them. The limit is there to bound memory only.
    private var traffic: [SocketID: TrafficLog] = [:]
    /// The bytes that this traffic takes.
    private(set) var trafficCost = 0
    private static let trafficLimit = 64

    init(limit: Int, retention: Duration) {
        self.limit = limit
        self.retention = retention
    }

    mutating func append(_ socket: EndedSession, traffic log: TrafficLog?) {
        guard limit > 0 else { return }
        sockets.append(socket)
        if log != nil || !traffic.isEmpty {
            keep(log, of: socket.id)
            let outdated = sockets.count - 1 - Self.trafficLimit
            if outdated >= head { keep(nil, of: sockets[outdated].id) }
        }
        if sockets.count - head > limit { dropFirst() }
    }

    /// Keeps `more` sessions in addition to those that fit now.
    mutating func makeRoom(for more: Int) { if limit > 0 { limit = max(limit, sockets.count - head + more) } }

    /// Returns the sessions that closed less than `retention` ago, oldest first.
    mutating func list(now: MonotonicTime) -> ArraySlice<EndedSession> {
        while head < sockets.count, let time = sockets[head].time, now - time > retention { dropFirst() }
        return sockets[head...]
    }

    /// Corrects the snapshot of a session that has just ended. Returns `false` if none is kept.
    mutating func change(_ id: SocketID, _ change: (inout SocketSnapshot) -> Void) -> Bool {
        guard let index = sockets[head...].lastIndex(where: { $0.id == id }) else { return false }
        var snapshot = sockets[index].snapshot
        change(&snapshot)
        sockets[index] = .whole(snapshot)
        return true
    }

    func traffic(of id: SocketID) -> TrafficSnapshot? {
        traffic[id]?.snapshot
    }

    func log(of id: SocketID) -> TrafficLog? { traffic[id] }

    var trafficUses: [TrafficUse] { traffic.compactMap { TrafficUse($1, of: $0) } }

    /// Trims the traffic of each session to its share.
    mutating func trimTraffic(to share: TrafficShare) {
        for use in trafficUses where use.cost > share[use] {
            guard var log = traffic[use.id] else { continue }
            log.trim(to: share[use])
            keep(log, of: use.id)
        }
    }

    private mutating func keep(_ log: TrafficLog?, of id: SocketID) {
        trafficCost += (log?.cost ?? 0) - (traffic[id]?.cost ?? 0)
        traffic[id] = log
    }

    private mutating func dropFirst() {
        if !traffic.isEmpty { keep(nil, of: sockets[head].id) }
        head += 1
        guard head > 256, head * 2 > sockets.count else { return }
        sockets.removeFirst(head)
        head = 0
    }
}
