import SocketCore

/// Compares each look with earlier ones, to determine since when a state has lasted. A socket is identified by its
/// cookie.
struct HostLedger: Sendable {
    struct Entry: Sendable {
        var socket: HostSocket
        var former: HostSocket?
        /// The times since which nothing was read, nothing was acknowledged, and the inode has been present or absent, or
        /// it has waited to be accepted.
        var read: MonotonicTime
        var written: MonotonicTime
        var owned: MonotonicTime
        /// Samples taken five to ten seconds apart, so that a share covers more than a moment.
        var base: HostSocket
        var middle: HostSocket
        /// When the kernel last dropped input, how many drops there were since the look before, and in what time.
        var dropped: (time: MonotonicTime, count: UInt32, within: Duration)?
        /// How it was requested in each look, the last look last.
        var askings: [HostAsking] = []
        /// Whether its program may have inherited it, as far as known.
        var mayBeInherited = true

        init(_ socket: HostSocket) {
            self.socket = socket
            (read, written, owned) = (socket.time, socket.time, socket.time)
            (base, middle) = (socket, socket)
        }
    }

    private(set) var entries: [UInt64: Entry] = [:]
    /// The sockets with recent drops. `asked` holds those with recorded requests.
    private(set) var dropping: Set<UInt64> = []
    private(set) var asked: Set<UInt64> = []
    /// The inodes of sockets whose bytes were read between the last two looks.
    private(set) var consumed: Set<UInt64> = []
    /// A thread that runs: since when without a pause, and how often it had paused by then.
    private struct Running: Sendable {
        var switches: UInt64
        var since: MonotonicTime
        var seen: MonotonicTime
        var ran: Duration?
        /// Whether it paused between the last looks.
        var pauses = false
    }

    private var runs: [Int32: Running] = [:]
    /// The time of the last look. `former` holds the sockets that it reported on.
    private var time: MonotonicTime?
    private var former: Set<UInt64> = []

    subscript(id: UInt64) -> Entry? { entries[id] }

    /// How long a recorded request is valid. A program may have moved on since.
    static let askingLasts = Duration.seconds(10)
    fileprivate static let sampleLasts = Duration.seconds(5)

    /// Compares a new look with the last one, for all sockets that changed, that are not quiet now or that were not
    /// quiet the last time. The others were idle.
    mutating func absorb(_ scene: HostScene) {
        let look = scene.look
        guard look.time != time else { return }
        if let host = look.changes?.host {
            consumed = consumed.filter { HostOrdinal(ofInode: $0) != host }
        } else {
            consumed.removeAll(keepingCapacity: true)
        }
        if let changes = look.changes, changes.since == time {
            for id in changes.gone.union(changes.anew) { entries[id] = nil }
            let now = changes.told.union(changes.anew).union(scene.notable)
            // The look before may have been another host's, and says nothing of this one's quiet sockets.
            let since = changes.host == nil ? changes.since : nil
            for id in now.union(former) { if let socket = scene[id] { compare(socket, since: since) } }
            former = now
        } else {
            let there = Set(look.sockets.map(\.id))
            entries = entries.filter { there.contains($0.key) }
            for socket in look.sockets { compare(socket, since: nil) }
            former = there
        }
        time = look.time
        dropping = dropping.filter { id in
            entries[id]?.dropped.map { look.time - $0.time <= HostRules.dropsAreNews } ?? false
        }
        asked = asked.filter { entries[$0] != nil }
    }

    private mutating func compare(_ socket: HostSocket, since: MonotonicTime?) {
        // Nothing more happens in one in TIME-WAIT, and there may be tens of thousands.
        if socket.state == .timeWait {
            entries[socket.id] = nil
            return
        }
        if entries[socket.id] == nil { entries[socket.id] = Entry(socket) }
        entries[socket.id]?.compare(socket, since: since)
        if entries[socket.id]?.dropped?.time == socket.time { dropping.insert(socket.id) }
        if socket.inode != 0, entries[socket.id]?.wasConsumed == true { consumed.insert(socket.inode) }
    }

    mutating func note(_ asking: HostAsking, of id: UInt64) {
        guard var askings = entries[id]?.askings else { return }
        if askings.last?.time == asking.time { askings.removeLast() }
        askings.removeAll { asking.time - $0.time > Self.askingLasts }
        entries[id]?.askings = askings + [asking]
        asked.insert(id)
    }

    /// Records which threads of these programs run. Of several hosts, one was looked at.
    mutating func note(_ programs: some Sequence<HostProgram>, of host: HostOrdinal?, at time: MonotonicTime) {
        let former = runs
        runs = host.map { host in former.filter { HostOrdinal(ofProcess: $0.key) != host } } ?? [:]
        for thread in programs.lazy.flatMap(\.process.threads) where thread.isRunning {
            guard let switches = thread.switches, host == nil || HostOrdinal(ofProcess: thread.number) == host else {
                continue
            }
            var run = former[thread.number] ?? Running(switches: switches, since: time, seen: time, ran: thread.ran)
            if run.switches != switches {
                run = Running(switches: switches, since: time, seen: time, ran: thread.ran, pauses: true)
            }
            run.seen = time
            runs[thread.number] = run
        }
    }

    /// Returns how long a thread has been seen to run without a pause, or `nil` if it does not run.
    func running(_ thread: HostThread) -> Duration? { runs[thread.number].map { $0.seen - $0.since } }

    /// Whether a thread runs, and no two looks have told yet whether it pauses.
    func mayRunOn(_ thread: HostThread) -> Bool {
        runs[thread.number].map { $0.seen == $0.since && !$0.pauses } ?? false
    }

    /// Returns how much processor time a thread has used while it was seen to run without a pause, if that is known.
    func worked(_ thread: HostThread) -> Duration? {
        guard let ran = thread.ran, let before = runs[thread.number]?.ran else { return nil }
        return ran - before
    }

    /// Returns how a socket was requested in the recent looks, the last one last.
    func askings(of id: UInt64) -> [HostAsking] { entries[id]?.askings ?? [] }

    mutating func noteHeir(_ isHeir: Bool, of id: UInt64) { entries[id]?.mayBeInherited = isHeir }

    /// Returns how long its unread bytes, and its unsent bytes, have been stalled, or zero if they are not.
    func readStall(_ socket: HostSocket) -> Duration { entries[socket.id].map { $0.socket.time - $0.read } ?? .zero }
    func writeStall(_ socket: HostSocket) -> Duration {
        entries[socket.id].map { $0.socket.time - $0.written } ?? .zero
    }
    func ownerAge(_ socket: HostSocket) -> Duration { entries[socket.id].map { $0.socket.time - $0.owned } ?? .zero }

    /// Whether the peer's window held back sending for most of the time between the last two looks.
    func isLimited(_ socket: HostSocket) -> Bool {
        guard let entry = entries[socket.id], let former = entry.former else { return false }
        return HostLedger.share(entry.socket, since: former).map { $0 > 0.5 } ?? false
    }

    /// Returns the share of time for which the peer's window held back sending, or `nil` if no bytes waited at one of
    /// the looks.
    static func share(_ socket: HostSocket, since former: HostSocket) -> Double? {
        guard let now = socket.tcp?.windowLimited, let then = former.tcp?.windowLimited, socket.time > former.time,
            socket.unsent ?? 0 > 0, former.unsent ?? 0 > 0
        else { return nil }
        return (now - then).inSeconds / (socket.time - former.time).inSeconds
    }
}

extension HostLedger.Entry {
    /// - Parameter since: the last look, or `nil` if the new one covers everything. A socket it did not report was
    ///   unchanged.
    fileprivate mutating func compare(_ now: HostSocket, since: MonotonicTime?) {
        guard socket.time < now.time else { return }
        if let since, socket.time < since { rest(until: since) }
        let old = socket
        if !Self.isReadStalled(old, now) { read = now.time }
        if !Self.isWriteStalled(old, now) { written = now.time }
        if (old.inode == 0) != (now.inode == 0) || old.isQueued != now.isQueued { owned = now.time }
        if let drops = now.memory?.drops, let former = old.memory?.drops, drops != former {
            dropped = (now.time, drops &- former, now.time - old.time)
        }
        if now.time - middle.time >= HostLedger.sampleLasts { (base, middle) = (middle, now) }
        (former, socket) = (old, now)
    }

    /// Records that nothing was stalled and nothing changed until `time`.
    private mutating func rest(until time: MonotonicTime) {
        socket.time = time
        (read, written, base, middle) = (time, time, socket, socket)
    }

    /// Whether bytes were read from it since the look before.
    fileprivate var wasConsumed: Bool {
        guard let before = former?.consumed, let now = socket.consumed else { return false }
        return before != now
    }

    /// A TCP program's reads are counted. For a Unix-domain socket, and for Multipath TCP, there is only the queue length.
    private static func isReadStalled(_ old: HostSocket, _ now: HostSocket) -> Bool {
        guard old.unread ?? 0 > 0, now.unread ?? 0 > 0 else { return false }
        if !now.countsBytes { return old.receiveQueue == now.receiveQueue }
        return now.consumed != nil && old.consumed == now.consumed
    }

    private static func isWriteStalled(_ old: HostSocket, _ now: HostSocket) -> Bool {
        guard old.unsent ?? 0 > 0, now.unsent ?? 0 > 0 else { return false }
        if !now.countsBytes { return old.sendQueue == now.sendQueue }
        return now.tcp?.acknowledged != nil && old.tcp?.acknowledged == now.tcp?.acknowledged
    }
}
