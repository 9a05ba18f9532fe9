/// All conversations of a capture, put together packet by packet.
package struct CapturedSessions: Sendable {
    private struct Flow: Hashable {
        /// The interface, in a file that has one for each session.
        var interface: Int
        var isStream: Bool
        var first: SyntheticPacket.End
        var second: SyntheticPacket.End
    }

    /// Sessions that are kept; packets of more are counted.
    package static let limit = 1 << 16

    package private(set) var sessions: [CapturedSession] = []
    /// Packets of sessions beyond the limit.
    package private(set) var refused: UInt64 = 0
    /// Packets that a capture says it lost.
    package private(set) var dropped: UInt64 = 0
    package private(set) var packets: UInt64 = 0
    package private(set) var start: Int64?
    package private(set) var latest = MonotonicTime.zero
    private var parser = PacketParser()
    private var flows: [Flow: Int] = [:]
    private var interfaces: [CaptureInterface] = []
    private let zero: Int64?
    private var keeps: (each: Int, all: Int)
    /// What its traffic takes.
    private(set) var cost = 0
    /// What its streams remember of bytes that came, and of those that wait.
    private var remembered = 0
    /// What waits in all streams for bytes before it.
    package private(set) var waiting = 0
    /// The latest events.
    package private(set) var events = EventTail()

    /// The most that all streams remember, to compare what comes again.
    private static let rememberedLimit = 32 << 20
    /// The most that waits in all streams together.
    package static let waitingLimit = 16 << 20

    /// Keeps at most `each` bytes of one session's traffic and about `all` bytes in all.
    /// `zero`: the time of day at which its clock is 0; without, that of the first packet.
    package init(
        keeping each: Int = TrafficLog.standardLimit, all: Int = TrafficLog.standardTotal, zero: Int64? = nil
    ) {
        keeps = (each, all)
        self.zero = zero
    }

    /// Packets that carry neither TCP nor UDP.
    package var skipped: UInt64 { parser.skipped }
    package var lostFragments: UInt64 { parser.lostFragments }

    /// A section begins: its interfaces are numbered from 0 again.
    package mutating func beginSection() { interfaces = [] }
    package mutating func add(_ interface: CaptureInterface) { interfaces.append(interface) }

    /// Takes a packet and returns the session that it belongs to, by its index, and what it adds to the stream.
    @discardableResult
    package mutating func take(
        _ packet: CapturedPacket
    ) -> (session: Int, isSent: Bool, packet: ParsedPacket, pieces: [StreamAssembler.Piece])? {
        packets += 1
        dropped = dropped.saturatingAdd(packet.dropped)
        guard let parsed = parser.parse(packet) else { return nil }
        if start == nil { start = packet.nanoseconds }
        let time = time(of: packet.nanoseconds)
        latest = max(latest, time)
        guard let index = session(of: parsed, packet, time) else {
            refused += 1
            return nil
        }
        let before = (sessions[index].store.cost, sessions[index].remembered, sessions[index].waiting)
        let pieces = sessions[index].take(parsed, at: time, limit: keeps.each)
        cost += sessions[index].store.cost - before.0
        remembered += sessions[index].remembered - before.1
        waiting += sessions[index].waiting - before.2
        tell(index, time)
        if waiting > Self.waitingLimit { giveUp(time) }
        if keeps.each > 0, cost > keeps.all { trim(to: keeps.all - keeps.all / 8) }
        if remembered > Self.rememberedLimit { forget() }
        return (index, parsed.source == sessions[index].local, parsed, pieces)
    }

    /// Counts what a packet says was lost before it, and no more.
    mutating func countOnly(_ packet: CapturedPacket) { dropped = dropped.saturatingAdd(packet.dropped) }

    private mutating func tell(_ index: Int, _ time: MonotonicTime) {
        for (kind, first, second) in sessions[index].takeNews() {
            events.append(
                SocketEvent(
                    sequence: events.next, time: time, socket: sessions[index].id, kind: kind, first: first,
                    second: second))
        }
    }

    /// Lets the streams in which most waits wait no longer, so that half of the room is free.
    private mutating func giveUp(_ time: MonotonicTime) {
        let share = EvenShare.level(sessions.map(\.waiting), sum: Self.waitingLimit / 2)
        for index in sessions.indices where sessions[index].waiting > share {
            let before = (sessions[index].store.cost, sessions[index].remembered, sessions[index].waiting)
            sessions[index].giveUp(at: time, limit: keeps.each)
            cost += sessions[index].store.cost - before.0
            remembered += sessions[index].remembered - before.1
            waiting += sessions[index].waiting - before.2
            tell(index, time)
        }
    }

    /// Holes that were waited for no longer because a limit was reached, of one stream or of all.
    package var givenUp: UInt64 { sessions.reduce(0) { $0 &+ $1.givenUp } }
    /// Bytes that came again and differed.
    package var differing: UInt64 { sessions.reduce(0) { $0 &+ $1.differing } }
    /// Bytes of streams from before the first that was seen.
    package var early: UInt64 { sessions.reduce(0) { $0 &+ $1.early } }

    /// Forgets the bytes that what comes again is compared with.
    mutating func forget() {
        remembered = 0
        for index in sessions.indices {
            sessions[index].forget()
            remembered += sessions[index].remembered
        }
    }

    /// The file has ended: what waits for bytes before it follows now.
    package mutating func finish() {
        for index in sessions.indices {
            sessions[index].finish(limit: keeps.each)
            tell(index, sessions[index].latest)
        }
    }

    /// The instant of a packet, counted from the first one, or from the zero of the common clock.
    package func time(of nanoseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: max(0, nanoseconds - (zero ?? start ?? nanoseconds)))
    }

    private mutating func session(of packet: ParsedPacket, _ captured: CapturedPacket, _ time: MonotonicTime) -> Int? {
        let interface = interfaces.indices.contains(captured.interface) ? interfaces[captured.interface] : nil
        let ends = [packet.source, packet.destination].sorted { $0.isBefore($1) }
        var isStream = false
        if case .tcp = packet.content { isStream = true }
        let isOurs = interface?.name.hasPrefix("#") == true
        let flow = Flow(
            interface: isOurs ? captured.interface : -1, isStream: isStream, first: ends[0], second: ends[1])
        if let index = flows[flow] {
            guard case .tcp(let segment) = packet.content, sessions[index].isOver(before: segment) else { return index }
        }
        guard sessions.count < Self.limit else { return nil }
        let isFromServer = Self.isFromServer(packet, captured.isInbound, isOurs: isOurs)
        var session = CapturedSession(
            SocketID(UInt64(sessions.count + 1)), local: isFromServer ? packet.destination : packet.source,
            peer: isFromServer ? packet.source : packet.destination, isStream: isStream, at: time)
        session.interface = interface?.name ?? ""
        sessions.append(session)
        flows[flow] = sessions.count - 1
        return sessions.count - 1
    }

    /// Which end is the server: it answers a SYN; else the one with the port below, which is mostly the known one.
    private static func isFromServer(_ packet: ParsedPacket, _ isInbound: Bool?, isOurs: Bool) -> Bool {
        if case .tcp(let segment) = packet.content, segment.flags.contains(.syn) { return segment.flags.contains(.ack) }
        if isOurs, let isInbound { return isInbound }
        if case .udp = packet.content { return false }
        return packet.source.port < packet.destination.port
    }

    /// Leaves each session an equal share, so that they are not more than `all` together.
    mutating func trim(to all: Int) {
        guard cost > all else { return }
        let share = EvenShare.level(sessions.map(\.store.cost), sum: all)
        cost = 0
        for index in sessions.indices {
            sessions[index].store.makeRoom(share, keepsLast: false)
            cost += sessions[index].store.cost
        }
    }

    /// Gives back the room of what was dropped.
    mutating func compact() { for index in sessions.indices { sessions[index].store.compact() } }

    mutating func trimEvents(to count: Int) { events.trim(to: count) }

    /// Keeps no more than this of the traffic from now on.
    mutating func limit(to all: Int) { keeps.all = min(keeps.all, all) }

    /// About the memory that all but its traffic takes.
    var memory: Int { remembered + 1_536 * sessions.count + 128 * interfaces.count + 64 * events.events.count }
}

/// Shares what there is among many.
package enum EvenShare {
    /// The most that each of them may be, so that they are not more than `sum` together.
    package static func level(_ costs: [Int], sum: Int) -> Int {
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

extension SyntheticPacket.End {
    fileprivate func isBefore(_ other: SyntheticPacket.End) -> Bool {
        if port != other.port { return port < other.port }
        return ip.networkBytes.lexicographicallyPrecedes(other.ip.networkBytes)
    }
}
