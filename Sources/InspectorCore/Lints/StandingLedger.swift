import SocketCore

/// Compares each snapshot with those before it, to know how long amounts have stood. It remembers only sessions of which
/// a lint may ask.
package struct StandingLedger: Sendable {
    private struct Entry: Sendable {
        var amounts: Amounts?
        var standing = Standing()
    }

    /// What lies between our write queue and the reader. An amount that was not asked for does not count as a change.
    private struct Amounts: Sendable {
        var sent: UInt64
        var sendQueue: Int?
        var unread: Int?

        func moved(from former: Amounts) -> Bool {
            func differs(_ new: Int?, _ old: Int?) -> Bool { new != nil && old != nil && new != old }
            return sent != former.sent || differs(sendQueue, former.sendQueue) || differs(unread, former.unread)
        }
    }

    private var entries: [SocketID: Entry] = [:]
    /// The programs whose sessions were looked at before.
    private var watched: Set<Int> = []
    /// Sessions whose other end should be looked at, even out of sight.
    package private(set) var suspects: Set<SocketID> = []

    /// Sessions out of sight that are looked at.
    private static let suspectLimit = 64
    /// How long a write is stuck before it is looked at more closely.
    private static let suspicion = Duration.milliseconds(300)
    /// How old the last look at the other end may be that says why it made a reset.
    static let lookIsFresh = Duration.seconds(2)

    package init() {}

    /// How long the amounts of a session have stood.
    package subscript(id: SocketID) -> Standing { entries[id]?.standing ?? Standing() }

    /// Whether nothing is known of any session.
    var isEmpty: Bool { entries.isEmpty }

    /// Compares one session with what it was.
    package mutating func note(_ socket: SocketSnapshot, end: PeerEnd?, _ now: MonotonicTime) {
        // What was seen last of a closed one stays.
        guard socket.isLive else { return }
        let stuck = socket.writeStuckSince, hasUnread = end?.unread ?? 0 > 0
        guard stuck != nil || socket.waitsForFIN || hasUnread || entries[socket.id] != nil else { return }
        var entry = entries[socket.id] ?? Entry()
        noteAmounts(socket, end, isStuck: stuck != nil, &entry, now)
        noteEnd(socket, &entry, now)
        if let end, hasUnread {
            entry.standing.unreadThere = Standing.Look(end, now)
        } else if let look = entry.standing.unreadThere, end?.unread != nil || now - look.time > Self.lookIsFresh {
            entry.standing.unreadThere = nil
        }
        let isOfUse = entry.amounts != nil || entry.standing.shut != nil || entry.standing.unreadThere != nil
        entries[socket.id] = isOfUse ? entry : nil
        let isSuspect = stuck.map { now - $0 > Self.suspicion } ?? false || entry.standing.shut != nil
        if isSuspect, suspects.count < Self.suspectLimit { suspects.insert(socket.id) }
        if isSuspect, let linked = socket.linked, suspects.contains(socket.id) { suspects.insert(linked) }
    }

    private func noteAmounts(
        _ socket: SocketSnapshot, _ end: PeerEnd?, isStuck: Bool, _ entry: inout Entry, _ now: MonotonicTime
    ) {
        guard isStuck else {
            (entry.amounts, entry.standing.moved) = (nil, nil)
            return
        }
        let amounts = Amounts(sent: socket.sent, sendQueue: socket.kernel?.sendQueue, unread: end?.unread)
        guard let former = entry.amounts else { return entry.amounts = amounts }
        if amounts.moved(from: former) { entry.standing.moved = now }
        entry.amounts = Amounts(
            sent: amounts.sent, sendQueue: amounts.sendQueue ?? former.sendQueue,
            unread: amounts.unread ?? former.unread)
    }

    private func noteEnd(_ socket: SocketSnapshot, _ entry: inout Entry, _ now: MonotonicTime) {
        guard socket.waitsForFIN else { return entry.standing.shut = nil }
        guard entry.standing.shut == nil else { return }
        entry.standing.shut = now
        entry.standing.shutIsOlder = !watched.contains(socket.id.ordinal)
    }

    /// Begins a round in which every session is looked at.
    mutating func begin() { suspects.removeAll(keepingCapacity: true) }

    /// Ends it: forgets sessions that are no longer listed.
    mutating func finish(_ snapshot: EngineSnapshot) {
        watched = Set(snapshot.engines.map(\.ordinal)).union([0])
        for id in Array(entries.keys) where snapshot.position(of: id) == nil { entries[id] = nil }
    }
}
