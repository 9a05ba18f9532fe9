import SocketCore

/// The rows of sockets that are gone, with what was last known of them, and the events that tell of it.
struct HostClosings: Sendable {
    /// So many rows and events are kept, the latest.
    private static let mostRows = 200
    private static let mostEvents = 1_000

    /// Oldest first.
    private(set) var rows: [SocketSnapshot] = []
    /// How many there were, kept or not.
    private(set) var count: UInt64 = 0
    private var events: [SocketEvent] = []
    private var nextEvent: UInt64 = 0
    /// Sockets whose connection is gone while their program still has them open, and what is said of them after that.
    private var held: [UInt64: String] = [:]
    /// Beyond so many all are forgotten, since what the kernel lost is never told.
    private static let mostHeld = 65_536

    /// - Parameter row: as it was last seen.
    /// - Parameter closing: what the kernel told of it for the last time; `nil`: nothing.
    mutating func append(_ row: SocketSnapshot, _ closing: HostSocket?, at now: MonotonicTime, _ words: String) {
        var row = row
        let time = closing?.time ?? now
        row.phase = .closed
        row.closed = CloseRecord(
            time: time, error: SocketError(.other, operation: "close", detail: words))
        (row.receiveRate, row.sendRate) = (nil, nil)
        if var host = row.host {
            (host.asks, host.asksFor, host.asksWords, host.verdicts) = (nil, nil, nil, [])
            row.host = host
        }
        if let received = closing?.tcp?.received { row.received = received }
        if let sent = closing?.tcp?.acknowledged { row.sent = sent }
        rows.append(row)
        if rows.count > Self.mostRows { rows.removeFirst(rows.count - Self.mostRows) }
        events.append(SocketEvent(sequence: nextEvent, time: time, socket: row.id, kind: .closed))
        if events.count > Self.mostEvents { events.removeFirst(events.count - Self.mostEvents) }
        (nextEvent, count) = (nextEvent + 1, count + 1)
    }

    /// Sockets that came and went between two looks have no row.
    mutating func count(unseen: Int) { count += UInt64(unseen) }

    /// The events from a sequence number on, how many before them are not kept any more, and the number to ask for next.
    func events(from sequence: UInt64) -> (events: [SocketEvent], lost: UInt64, next: UInt64) {
        let first = max(sequence, nextEvent - UInt64(events.count))
        guard first < nextEvent else { return ([], 0, nextEvent) }
        return (Array(events.suffix(Int(nextEvent - first))), first - sequence, nextEvent)
    }

    /// The connection of a socket is over, and its program still has it open.
    mutating func hold(_ row: SocketSnapshot, at now: MonotonicTime, _ end: HostEnd) {
        append(row, nil, at: now, end.words + end.holder)
        if held.count >= Self.mostHeld { held.removeAll() }
        if let key = row.host?.key { held[key] = end.words }
    }

    /// The kernel tells of the end of a socket. Returns whether its connection was over before.
    mutating func release(_ key: UInt64) -> Bool {
        guard let words = held.removeValue(forKey: key) else { return false }
        if let index = rows.lastIndex(where: { $0.host?.key == key }) {
            rows[index].closed?.error?.detail = words
        }
        return true
    }

    /// How a socket ended, as far as that is seen.
    static func words(_ last: HostSnapshot, _ closing: HostSocket?, isReset: Bool) -> String {
        guard let closing else { return last.transport.isUnix ? "closed" : "gone, how was not told" }
        if isReset, let unread = closing.receiveQueue { return "closed with \(HostRules.size(unread)) unread: reset" }
        switch last.state {
        case .closeWait, .lastAck, .closing: return "closed after its peer"
        case .synSent: return "gave up connecting"
        default: return "closed"
        }
    }
}

/// How a connection ended that the kernel does not list any more and has not destroyed either: its program still has the
/// socket open, or it waits to be accepted.
struct HostEnd {
    var words: String
    var holder: String

    /// `nil`: it is not known, since sockets of this kind may be unlisted for other reasons, and a whole namespace may be.
    /// - Parameter isResetByPeer: whether the peer was seen to reset it.
    init?(_ row: SocketSnapshot, isResetByPeer: Bool) {
        guard let last = row.host, last.transport == .tcp, last.namespace?.ordinal ?? 0 == 0 else { return nil }
        switch last.state {
        case .established, .finWait1, .finWait2:
            words = isResetByPeer ? "reset by its peer" : "reset or timed out"
        case .closeWait, .lastAck, .closing: words = "closed on both sides, or reset"
        case .synSent: words = "not connected: refused or timed out"
        case .synReceived, .newSynReceived: words = "not connected: the handshake was not completed"
        case .listening: words = "does not listen any more"
        case .closed, .timeWait: return nil
        }
        if last.inode == 0 {
            holder = last.state == .established || last.state == .closeWait ? " before it was accepted" : ""
        } else {
            holder = "; still held by " + (last.program == nil ? "a program of user \(last.user)" : last.programText)
        }
    }
}
