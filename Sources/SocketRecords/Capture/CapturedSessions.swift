import SocketCore

/// All conversations of a capture, reassembled packet by packet.
package struct CapturedSessions: Sendable {
    private struct Flow: Hashable {
        /// The interface, in a file that has one for each session.
        var interface: Int
        var isStream: Bool
        var first: SyntheticPacket.End
        var second: SyntheticPacket.End
    }

    /// The sessions of one flow: a port can be used again, with packets of the former connection still to come.
    private struct Numbers {
        var latest: UInt64
        /// The ones before it, the latest first.
        var former: [UInt64] = []

        static let limit = 3
    }

    /// The most sessions with traffic. Packets of further sessions are counted.
    package static let limit = 1 << 16
    /// The most sessions if none of their traffic is kept.
    package static let limitWithoutTraffic = 1 << 20

    package private(set) var sessions: [CapturedSession] = []
    /// The last snapshots of sessions that have not changed since.
    private var shown: [SocketSnapshot?] = []
    /// What was ignored of the sessions that are no longer listed.
    private(set) var forgottenParts = IgnoredParts()
    /// The number of packets of sessions beyond the limit.
    package private(set) var refused: UInt64 = 0
    /// The number of packets that the capture reports as lost.
    package private(set) var dropped: UInt64 = 0
    package private(set) var packets: UInt64 = 0
    package private(set) var start: Int64?
    /// The instant that corresponds to `start`.
    private var origin = MonotonicTime.zero
    package private(set) var latest = MonotonicTime.zero
    /// The number of sessions seen, listed or not, which is also the number of the last one.
    package private(set) var seen: UInt64 = 0
    private(set) var parser = PacketParser()
    /// The numbers of the latest sessions of each flow.
    private var flows: [Flow: Numbers] = [:]
    private var interfaces: [CaptureInterface] = []
    private let zero: Int64?
    private var keeps: (each: Int, all: Int)
    /// The approximate memory of the traffic, in bytes.
    private(set) var cost = 0
    /// The number of bytes that the streams keep, including those that wait for earlier ones.
    private var remembered = 0
    /// The approximate memory of the bytes in all streams that wait for earlier ones.
    package private(set) var waiting = 0
    /// The items that passed since this was last emptied, or `nil` if they aren't collected.
    var passed: [PassedItem]?
    /// The number of bytes that all clients, and all servers, have sent.
    package private(set) var sent: UInt64 = 0
    package private(set) var received: UInt64 = 0
    /// The latest events.
    package private(set) var events = EventTail()

    /// The most bytes that all streams keep to compare with repeated ones.
    private static let rememberedLimit = 32 << 20
    /// The most bytes that wait in all streams together.
    package static let waitingLimit = 16 << 20

    /// Keeps at most `each` bytes of one session's traffic and about `all` bytes in all. `zero` is the time of day at
    /// which its clock is 0, or `nil` for that of the first packet.
    package init(
        keeping each: Int = TrafficLog.standardLimit, all: Int = TrafficLog.standardTotal, zero: Int64? = nil
    ) {
        keeps = (each, all)
        self.zero = zero
    }

    /// The most sessions that are kept.
    package var limit: Int { keeps.each > 0 ? Self.limit : Self.limitWithoutTraffic }

    package var lostFragments: UInt64 { parser.lostFragments }

    /// Begins a section, whose interfaces are numbered from 0 again.
    package mutating func beginSection() { interfaces = [] }
    package mutating func add(_ interface: CaptureInterface) { interfaces.append(interface) }

    /// Processes a packet. Returns the index of its session, and what it adds to the stream.
    @discardableResult
    package mutating func absorb(
        _ packet: CapturedPacket
    ) -> (session: Int, isSent: Bool, packet: ParsedPacket, pieces: [StreamAssembler.Piece])? {
        packets += 1
        dropped = dropped.saturatingAdd(packet.dropped)
        guard let parsed = parser.parse(packet) else { return nil }
        begin(at: packet.nanoseconds)
        let time = time(of: packet.nanoseconds)
        latest = max(latest, time)
        guard let index = session(of: parsed, packet, time) else {
            refused += 1
            return nil
        }
        if shown.indices.contains(index) { shown[index] = nil }
        let limit = keeps.each
        let pieces = update(index, time) { $0.absorb(parsed, at: time, limit: limit) }
        if waiting > Self.waitingLimit { giveUp(time) }
        if keeps.each > 0, cost > keeps.all { trim(to: keeps.all - keeps.all / 8) }
        if remembered > Self.rememberedLimit { forget() }
        return (index, parsed.source == sessions[index].local, parsed, pieces)
    }

    /// Only counts the packets that a packet reports as lost before it.
    mutating func countOnly(_ packet: CapturedPacket) { dropped = dropped.saturatingAdd(packet.dropped) }

    /// Changes a session, and what is counted of all sessions with it.
    private mutating func update<Result>(
        _ index: Int, _ time: MonotonicTime, _ change: (inout CapturedSession) -> Result
    ) -> Result {
        func sizes(_ session: CapturedSession) -> (Int, Int, Int, UInt64, UInt64) {
            (session.store.cost, session.remembered, session.waiting, session.sent, session.received)
        }
        let before = sizes(sessions[index])
        let result = change(&sessions[index])
        let after = sizes(sessions[index])
        cost += after.0 - before.0
        remembered += after.1 - before.1
        waiting += after.2 - before.2
        sent += after.3 - before.3
        received += after.4 - before.4
        tell(index, time)
        return result
    }

    private mutating func tell(_ index: Int, _ time: MonotonicTime) {
        if passed != nil {
            let id = sessions[index].id
            passed? += sessions[index].takeItems().map { PassedItem(socket: id, item: $0) }
        }
        for (kind, first, second) in sessions[index].takeNews() {
            events.append(
                SocketEvent(
                    sequence: events.next, time: time, socket: sessions[index].id, kind: kind, first: first,
                    second: second))
        }
    }

    /// Gives up holes in the streams with the most waiting bytes, until half of the room is free.
    private mutating func giveUp(_ time: MonotonicTime) {
        shown = []
        let share = EvenShare.level(sessions.map(\.waiting), sum: Self.waitingLimit / 2)
        let limit = keeps.each
        for index in sessions.indices where sessions[index].waiting > share {
            update(index, time) { $0.giveUp(at: time, limit: limit) }
        }
    }

    /// Drops the bytes that are kept to compare with repeated ones.
    mutating func forget() {
        remembered = 0
        for index in sessions.indices {
            sessions[index].forget()
            remembered += sessions[index].remembered
        }
    }

    /// Delivers the waiting bytes at the end of the file.
    package mutating func finish() {
        shown = []
        let limit = keeps.each
        for index in sessions.indices {
            update(index, sessions[index].latest) { $0.finish(limit: limit) }
        }
    }

    /// Begins at a time of day that corresponds to the instant `time`. Has no effect if it has begun.
    package mutating func begin(at nanoseconds: Int64, as time: MonotonicTime = .zero) {
        guard start == nil else { return }
        (start, origin, latest) = (nanoseconds, time, time)
    }

    /// Returns the instant of a packet, counted from the beginning, or from the zero of the common clock.
    package func time(of nanoseconds: Int64) -> MonotonicTime {
        origin + .nanoseconds(max(0, nanoseconds - (zero ?? start ?? nanoseconds)))
    }

    /// Returns the index of a session in `sessions`, or `nil` if it was dropped.
    package func index(of number: UInt64) -> Int? {
        // A file's sessions are all kept.
        let usual = Int(clamping: number) - 1
        if sessions.indices.contains(usual), sessions[usual].id.number == number { return usual }
        var (low, high) = (0, sessions.count)
        while low < high {
            let middle = (low + high) / 2
            if sessions[middle].id.number < number { low = middle + 1 } else { high = middle }
        }
        return low < sessions.count && sessions[low].id.number == number ? low : nil
    }

    /// Drops sessions of a live capture: all but the latest of those that have ended, which includes datagram sessions
    /// that were idle for a while, and if more than `live` are left, those that have been idle the longest.
    ///
    /// Returns how many of them had not ended.
    package mutating func forgetEnded(
        keeping most: Int, live limit: Int, _ now: MonotonicTime, idle: Duration
    ) -> Int {
        func isOver(_ session: CapturedSession) -> Bool {
            session.closed != nil || !session.isStream && now - session.latest > idle
        }
        var gone: Set<UInt64> = []
        let over = sessions.filter(isOver)
        if over.count > most + most / 4 {
            gone = Set(over.sorted { $0.latest < $1.latest }.dropLast(most).map(\.id.number))
        }
        let tooMany = sessions.count - gone.count - most - limit
        var live = 0
        if tooMany > limit / 8 {
            let rest = sessions.filter { !gone.contains($0.id.number) }.sorted { $0.latest < $1.latest }.prefix(tooMany)
            live = rest.count { !isOver($0) }
            gone.formUnion(rest.map(\.id.number))
        }
        guard !gone.isEmpty else { return 0 }
        shown = []
        for session in sessions where gone.contains(session.id.number) {
            cost -= session.store.cost
            remembered -= session.remembered
            waiting -= session.waiting
            forgottenParts.add(session)
        }
        sessions.removeAll { gone.contains($0.id.number) }
        flows = flows.filter { !gone.contains($0.value.latest) }
        return live
    }

    private mutating func session(of packet: ParsedPacket, _ captured: CapturedPacket, _ time: MonotonicTime) -> Int? {
        let interface = interfaces.indices.contains(captured.interface) ? interfaces[captured.interface] : nil
        let ends = [packet.source, packet.destination].sorted { $0.isBefore($1) }
        var isStream = false
        if case .tcp = packet.content { isStream = true }
        let isOurs = interface?.name.hasPrefix("#") == true
        let flow = Flow(
            interface: isOurs ? captured.interface : -1, isStream: isStream, first: ends[0], second: ends[1])
        if let numbers = flows[flow], let index = session(of: packet, among: numbers) { return index }
        guard sessions.count < limit else { return nil }
        let isFromServer = Self.isFromServer(packet, captured.isInbound, isOurs: isOurs)
        var session = CapturedSession(
            SocketID(seen + 1), local: isFromServer ? packet.destination : packet.source,
            peer: isFromServer ? packet.source : packet.destination, isStream: isStream, at: time)
        session.interface = interface?.name ?? ""
        session.collectsItems = passed != nil
        sessions.append(session)
        seen += 1
        let former = flows[flow].map { [$0.latest] + $0.former.prefix(Numbers.limit - 1) } ?? []
        flows[flow] = Numbers(latest: seen, former: former)
        return sessions.count - 1
    }

    /// Returns the index of the session that a packet belongs to, or `nil` if it begins another one.
    private func session(of packet: ParsedPacket, among numbers: Numbers) -> Int? {
        guard let latest = index(of: numbers.latest) else { return nil }
        guard case .tcp(let segment) = packet.content else { return latest }
        let isSYN = segment.flags.contains(.syn)
        guard isSYN || !numbers.former.isEmpty else { return latest }
        let candidates = [latest] + numbers.former.compactMap(index)
        let fitting = isSYN ? candidates.filter { sessions[$0].accepts(syn: segment, of: packet) } : candidates
        // The latest one among equals.
        return fitting.min {
            sessions[$0].distance(to: segment, of: packet) < sessions[$1].distance(to: segment, of: packet)
        }
    }

    /// Whether a packet came from the server. The server answers a SYN. Otherwise it is the end with the lower port,
    /// which is usually the well-known one.
    private static func isFromServer(_ packet: ParsedPacket, _ isInbound: Bool?, isOurs: Bool) -> Bool {
        if case .tcp(let segment) = packet.content, segment.flags.contains(.syn) { return segment.flags.contains(.ack) }
        if isOurs, let isInbound { return isInbound }
        if case .udp = packet.content { return false }
        return packet.source.port < packet.destination.port
    }

    /// Trims each session to an equal share, so that together they take at most `all`.
    mutating func trim(to all: Int) {
        guard cost > all else { return }
        let share = EvenShare.level(sessions.map(\.store.cost), sum: all)
        cost = 0
        for index in sessions.indices {
            sessions[index].store.makeRoom(share, keepsLast: false)
            cost += sessions[index].store.cost
        }
    }

    /// Frees the memory of dropped traffic.
    mutating func compact() { for index in sessions.indices { sessions[index].store.compact() } }

    /// The state of each session.
    var snapshots: [SocketSnapshot] { sessions.indices.map(snapshot) }

    private func snapshot(of index: Int) -> SocketSnapshot {
        if shown.indices.contains(index), let known = shown[index] { return known }
        var snapshot = sessions[index].snapshot
        // Neither end is this program's, so nothing was done "by us".
        snapshot.ends = CapturedEnds()
        return snapshot
    }

    /// Keeps the state of each session, which readers then share, until it changes.
    mutating func keepSnapshots() { shown = snapshots }
    mutating func forgetSnapshots() { shown = [] }

    mutating func trimEvents(to count: Int) { events.trim(to: count) }

    /// Lowers the limit for all traffic from now on.
    mutating func limit(to all: Int) { keeps.all = min(keeps.all, all) }

    /// The approximate memory of everything except the traffic, in bytes.
    var memory: Int { remembered + 1_536 * sessions.count + 128 * interfaces.count + 64 * events.events.count }
}

extension SyntheticPacket.End {
    fileprivate func isBefore(_ other: SyntheticPacket.End) -> Bool {
        if port != other.port { return port < other.port }
        return ip.networkBytes.lexicographicallyPrecedes(other.ip.networkBytes)
    }
}
