/// The sent pings and their times, used to measure the round-trip time and to detect a dead peer.
struct PingLedger {
    private struct Entry {
        var payload: [UInt8]
        var sent: MonotonicTime
    }

    private var entries = OperationDeque<Entry>()
    private let limit: Int
    private let interval: Duration?
    private let patience: Duration
    private var number: UInt64 = 0
    /// The payload of the unanswered automatic ping, which may still be queued.
    private var expected: [UInt8]?
    /// The last round-trip time.
    private(set) var roundTrip: Duration?
    /// When the next automatic ping is due.
    private(set) var nextPing: MonotonicTime?
    /// When the pong to the automatic ping is overdue.
    private(set) var overdue: MonotonicTime?

    init(settings: WebSocketSettings, now: MonotonicTime) {
        limit = max(1, settings.limits.pendingPings)
        interval = settings.pingInterval
        patience = settings.pongTimeout
        nextPing = interval.map { now + $0 }
    }

    /// The number of unanswered pings.
    var pending: Int { entries.count }

    /// The timeout for a pong.
    var timeout: Duration { patience }

    /// Notes that a ping was sent.
    mutating func sent(_ payload: [UInt8], now: MonotonicTime) {
        if payload == expected, overdue == nil { overdue = now + patience }
        if entries.count == limit { _ = entries.popFirst() }
        entries.append(Entry(payload: payload, sent: now))
    }

    /// Handles a pong. Returns its round-trip time, or `nil` if no ping had this payload. The pong also answers older
    /// pings (RFC 6455, 5.5.3).
    mutating func answered(_ payload: [UInt8], now: MonotonicTime) -> Duration? {
        guard let index = (0..<entries.count).last(where: { entries[$0].payload == payload }) else { return nil }
        let time = now - entries[index].sent
        for _ in 0...index { _ = entries.popFirst() }
        // The automatic ping is answered unless it was sent after the answered one, even if it was forgotten in
        // between.
        if overdue != nil, !(0..<entries.count).contains(where: { entries[$0].payload == expected }) {
            (expected, overdue) = (nil, nil)
        }
        roundTrip = time
        return time
    }

    /// Returns the automatic ping that is due, or `nil` if none is. None is due while the last one is unanswered.
    mutating func due(now: MonotonicTime) -> [UInt8]? {
        guard let interval, let next = nextPing, next <= now else { return nil }
        nextPing = now + interval
        guard expected == nil else { return nil }
        number += 1
        let payload = withUnsafeBytes(of: number.bigEndian) { Array($0) }
        expected = payload
        return payload
    }

    /// Postpones the pong's deadline while an unfinished frame arrives, because no pong can arrive within it.
    mutating func isBusy(now: MonotonicTime) {
        if overdue != nil { overdue = now + patience }
    }

    /// Stops automatic pings and stops waiting for a pong.
    mutating func stop() {
        (nextPing, expected, overdue) = (nil, nil, nil)
    }
}
