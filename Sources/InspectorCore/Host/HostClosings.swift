import SocketCore

/// The rows of sockets that are gone, with their last known state, and the events that report it.
struct HostClosings: Sendable {
    /// The number of rows and events kept. The oldest are dropped.
    private static let mostRows = 200
    private static let mostEvents = 1_000

    /// Oldest first.
    private(set) var rows: [SocketSnapshot] = []
    /// The number of closings, kept or not.
    private(set) var count: UInt64 = 0
    private var events: [SocketEvent] = []
    private var nextEvent: UInt64 = 0
    /// Sockets whose connection is gone while their program still has them open, and the words for their later end.
    private var held: [UInt64: String] = [:]
    /// The number at which all are forgotten, because closings that the kernel lost are never reported.
    private static let mostHeld = 65_536

    /// - Parameter row: the row as last seen.
    /// - Parameter closing: the kernel's last report of the socket, or `nil` if there was none.
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
        // The kernel clears the counters of a connection that is aborted before it reports it.
        if let closing {
            row.received = max(row.received, closing.receivedBytes(isClient: row.role == .client) ?? 0)
            row.sent = max(row.sent, closing.sentBytes ?? 0)
        }
        rows.append(row)
        if rows.count > Self.mostRows { rows.removeFirst(rows.count - Self.mostRows) }
        events.append(SocketEvent(sequence: nextEvent, time: time, socket: row.id, kind: .closed))
        if events.count > Self.mostEvents { events.removeFirst(events.count - Self.mostEvents) }
        (nextEvent, count) = (nextEvent + 1, count + 1)
    }

    /// Counts sockets that were opened and closed between two looks. They have no row.
    mutating func count(unseen: Int) { count += UInt64(unseen) }

    /// Returns the events from a sequence number on, the number of earlier ones no longer kept, and the next number to
    /// request.
    func events(from sequence: UInt64) -> (events: [SocketEvent], lost: UInt64, next: UInt64) {
        let first = max(sequence, nextEvent - UInt64(events.count))
        guard first < nextEvent else { return ([], 0, nextEvent) }
        return (Array(events.suffix(Int(nextEvent - first))), first - sequence, nextEvent)
    }

    /// Adds a socket whose connection is gone while its program still has it open.
    mutating func hold(_ row: SocketSnapshot, at now: MonotonicTime, _ end: HostEnd) {
        append(row, nil, at: now, end.words + end.holder)
        if held.count >= Self.mostHeld { held.removeAll() }
        if let key = row.host?.key { held[key] = end.words }
    }

    /// Handles the kernel's report of a socket's end. Returns whether its connection was already gone.
    mutating func release(_ key: UInt64) -> Bool {
        guard let words = held.removeValue(forKey: key) else { return false }
        if let index = rows.lastIndex(where: { $0.host?.key == key }) {
            rows[index].closed?.error?.detail = words
        }
        return true
    }

    /// Returns how a socket ended, as far as that is visible.
    static func words(_ last: HostSnapshot, _ closing: HostSocket?, isReset: Bool) -> String {
        guard let closing else { return last.transport.isUnix ? "closed" : "gone, cause unknown" }
        if isReset, let unread = closing.receiveQueue { return "closed with \(HostRules.size(unread)) unread: reset" }
        switch last.state {
        case .closeWait, .lastAck, .closing: return "closed after its peer"
        case .synSent: return "gave up connecting"
        default: return "closed"
        }
    }
}

/// How a connection ended that the kernel no longer lists but hasn't destroyed: its program still has the socket open,
/// or it is waiting to be accepted.
struct HostEnd {
    var words: String
    var holder: String

    /// Returns `nil` if that is not known. Sockets of this kind, or a whole namespace, may be unlisted for other
    /// reasons.
    /// - Parameter isResetByPeer: whether the peer was seen to reset it.
    init?(_ row: SocketSnapshot, isResetByPeer: Bool) {
        guard let last = row.host, last.transport == .tcp, last.namespace?.isOwn ?? true else { return nil }
        switch last.state {
        case .established, .finWait1, .finWait2:
            words = isResetByPeer ? "reset by its peer" : "reset or timed out"
        case .closeWait, .lastAck, .closing: words = "closed on both sides, or reset"
        case .synSent: words = "not connected: refused or timed out"
        case .synReceived, .newSynReceived: words = "not connected: the handshake was not completed"
        case .listening: words = "no longer listens"
        case .closed, .timeWait: return nil
        }
        guard let user = last.user else {
            holder = last.state == .established || last.state == .closeWait ? " before it was accepted" : ""
            return
        }
        holder = "; still held by " + (last.program == nil ? "a program of user \(user)" : last.programText)
    }
}
