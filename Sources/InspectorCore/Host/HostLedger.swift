import SocketCore

/// Compares each look with those before it, to know since when what has stood. A socket is known by its cookie.
struct HostLedger: Sendable {
    struct Entry: Sendable {
        var socket: HostSocket
        var former: HostSocket?
        /// Nothing was read since; nothing was acknowledged since; it has had an inode, or none, since.
        var read: MonotonicTime
        var written: MonotonicTime
        var owned: MonotonicTime
        /// Samples five to ten seconds apart, so that a share is taken over more than a moment.
        var base: HostSocket
        var middle: HostSocket
        /// When the kernel last dropped something that came for it, how many since the look before, and within what time.
        var dropped: (time: MonotonicTime, count: UInt32, within: Duration)?
        /// How it was asked for, the last look last.
        var askings: [HostAsking] = []
        /// Whether its program may have inherited it, as far as is known.
        var mayBeInherited = true

        init(_ socket: HostSocket) {
            self.socket = socket
            (read, written, owned) = (socket.time, socket.time, socket.time)
            (base, middle) = (socket, socket)
        }
    }

    private(set) var entries: [UInt64: Entry] = [:]
    /// The sockets of which the kernel dropped something lately, and those that have an asking.
    private(set) var dropping: Set<UInt64> = []
    private(set) var asked: Set<UInt64> = []
    /// The inodes of sockets from which bytes were read between the last two looks.
    private(set) var consumed: Set<UInt64> = []
    /// The last look, and the sockets that it had something to say of.
    private var time: MonotonicTime?
    private var former: Set<UInt64> = []

    subscript(id: UInt64) -> Entry? { entries[id] }

    /// How long an asking says something; a program may have gone on since.
    static let askingLasts = Duration.seconds(10)
    private static let sampleLasts = Duration.seconds(5)

    /// Compares a new look with the last one: all sockets that it says anything new of, that are not quiet, or that were
    /// so the last time. The others have rested.
    mutating func take(_ scene: HostScene) {
        let look = scene.look
        guard look.time != time else { return }
        consumed.removeAll(keepingCapacity: true)
        if let changes = look.changes, changes.since == time {
            for id in changes.gone { entries[id] = nil }
            let now = changes.told.union(scene.notable)
            for id in now.union(former) { if let socket = scene[id] { compare(socket, since: changes.since) } }
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

    mutating func noteHeir(_ isHeir: Bool, of id: UInt64) { entries[id]?.mayBeInherited = isHeir }

    /// For how long its unread bytes, and its unsent ones, have stood; zero: they do not.
    func readStands(_ socket: HostSocket) -> Duration { entries[socket.id].map { $0.socket.time - $0.read } ?? .zero }
    func writeStands(_ socket: HostSocket) -> Duration {
        entries[socket.id].map { $0.socket.time - $0.written } ?? .zero
    }
    func ownerStands(_ socket: HostSocket) -> Duration { entries[socket.id].map { $0.socket.time - $0.owned } ?? .zero }

    /// Whether the peer's window has held its sending back for most of the time between the last two looks.
    func isLimited(_ socket: HostSocket) -> Bool {
        guard let entry = entries[socket.id], let former = entry.former else { return false }
        return HostLedger.share(entry.socket, since: former).map { $0 > 0.5 } ?? false
    }

    /// The share of the time for which the peer's window held sending back, where bytes waited at both looks.
    static func share(_ socket: HostSocket, since former: HostSocket) -> Double? {
        guard let now = socket.tcp?.windowLimited, let then = former.tcp?.windowLimited, socket.time > former.time,
            socket.unsent ?? 0 > 0, former.unsent ?? 0 > 0
        else { return nil }
        return (now - then).inSeconds / (socket.time - former.time).inSeconds
    }
}

extension HostLedger.Entry {
    /// - Parameter since: the last look; what this did not learn of then was as it is here. `nil`: it learnt of all.
    fileprivate mutating func compare(_ now: HostSocket, since: MonotonicTime?) {
        guard socket.time < now.time else { return }
        if let since, socket.time < since { rest(until: since) }
        let old = socket
        if !Self.readStands(old, now) { read = now.time }
        if !Self.writeStands(old, now) { written = now.time }
        if (old.inode == 0) != (now.inode == 0) { owned = now.time }
        if let drops = now.memory?.drops, let former = old.memory?.drops, drops != former {
            dropped = (now.time, drops &- former, now.time - old.time)
        }
        if now.time - middle.time >= .seconds(5) { (base, middle) = (middle, now) }
        (former, socket) = (old, now)
    }

    /// Nothing stood in it, and nothing changed.
    private mutating func rest(until time: MonotonicTime) {
        socket.time = time
        (read, written, base, middle) = (time, time, socket, socket)
    }

    /// Whether bytes were read from it since the look before.
    fileprivate var wasConsumed: Bool {
        guard let before = former?.consumed, let now = socket.consumed else { return false }
        return before != now
    }

    /// What a TCP program has read is counted, a Unix-domain one's queue is all there is.
    private static func readStands(_ old: HostSocket, _ now: HostSocket) -> Bool {
        guard old.unread ?? 0 > 0, now.unread ?? 0 > 0 else { return false }
        if now.transport != .tcp { return old.receiveQueue == now.receiveQueue }
        return now.consumed != nil && old.consumed == now.consumed
    }

    private static func writeStands(_ old: HostSocket, _ now: HostSocket) -> Bool {
        guard old.unsent ?? 0 > 0, now.unsent ?? 0 > 0 else { return false }
        if now.transport != .tcp { return old.sendQueue == now.sendQueue }
        return now.tcp?.acknowledged != nil && old.tcp?.acknowledged == now.tcp?.acknowledged
    }
}
