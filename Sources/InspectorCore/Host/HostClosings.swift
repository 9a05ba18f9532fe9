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
