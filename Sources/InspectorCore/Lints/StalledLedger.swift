import SocketCore

/// Compares each snapshot with earlier ones, to determine how long amounts have been unchanged. Remembers only sessions
/// that a lint may need.
package struct StalledLedger: Sendable {
    private struct Entry: Sendable {
        var amounts: Amounts?
        var stall = Stall()
    }

    /// The amounts between our write queue and the reader. An amount that was not requested does not count as a change.
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
    /// The programs whose sessions were seen before.
    private var watched: Set<Int> = []
    /// The sessions whose other end should be examined even if they are hidden.
    package private(set) var suspects: Set<SocketID> = []

    /// The most hidden sessions that are examined.
    private static let suspectLimit = 64
    /// How long a write must be stuck before it is examined more closely.
    private static let suspicion = Duration.milliseconds(300)
    /// The maximum age of a look at the other end that can explain why it sent a reset.
    static let lookIsFresh = Duration.seconds(2)

    package init() {}

    /// How long the amounts of a session have been unchanged.
    package subscript(id: SocketID) -> Stall { entries[id]?.stall ?? Stall() }

    /// Whether no session is remembered.
    var isEmpty: Bool { entries.isEmpty }

    /// Compares a session with its last state.
    package mutating func note(_ socket: SocketSnapshot, end: PeerEnd?, _ now: MonotonicTime) {
        // The last values of a closed session are kept.
        guard socket.isLive else { return }
        let stuck = socket.writeStuckSince, hasUnread = end?.unread ?? 0 > 0
        guard stuck != nil || socket.waitsForFIN || hasUnread || entries[socket.id] != nil else { return }
        var entry = entries[socket.id] ?? Entry()
        noteAmounts(socket, end, isStuck: stuck != nil, &entry, now)
        noteEnd(socket, &entry, now)
        if let end, hasUnread {
            entry.stall.unreadThere = Stall.Look(end, now)
        } else if let look = entry.stall.unreadThere, end?.unread != nil || now - look.time > Self.lookIsFresh {
            entry.stall.unreadThere = nil
        }
        let isOfUse = entry.amounts != nil || entry.stall.shut != nil || entry.stall.unreadThere != nil
        entries[socket.id] = isOfUse ? entry : nil
        let isSuspect = stuck.map { now - $0 > Self.suspicion } ?? false || entry.stall.shut != nil
        if isSuspect, suspects.count < Self.suspectLimit { suspects.insert(socket.id) }
        if isSuspect, let linked = socket.linked, suspects.contains(socket.id) { suspects.insert(linked) }
    }

    private func noteAmounts(
        _ socket: SocketSnapshot, _ end: PeerEnd?, isStuck: Bool, _ entry: inout Entry, _ now: MonotonicTime
    ) {
        guard isStuck else {
            (entry.amounts, entry.stall.moved) = (nil, nil)
            return
        }
        let amounts = Amounts(sent: socket.sent, sendQueue: socket.kernel?.sendQueue, unread: end?.unread)
        guard let former = entry.amounts else { return entry.amounts = amounts }
        if amounts.moved(from: former) { entry.stall.moved = now }
        entry.amounts = Amounts(
            sent: amounts.sent, sendQueue: amounts.sendQueue ?? former.sendQueue,
            unread: amounts.unread ?? former.unread)
    }

    private func noteEnd(_ socket: SocketSnapshot, _ entry: inout Entry, _ now: MonotonicTime) {
        guard socket.waitsForFIN else { return entry.stall.shut = nil }
        guard entry.stall.shut == nil else { return }
        entry.stall.shut = now
        entry.stall.shutIsOlder = !watched.contains(socket.id.ordinal)
    }

    /// Starts a round in which every session is examined.
    mutating func begin() { suspects.removeAll(keepingCapacity: true) }

    /// Ends the round: forgets sessions that are no longer listed.
    mutating func finish(_ snapshot: EngineSnapshot) {
        watched = Set(snapshot.engines.map(\.ordinal)).union([0])
        for id in Array(entries.keys) where snapshot.position(of: id) == nil { entries[id] = nil }
    }
}
