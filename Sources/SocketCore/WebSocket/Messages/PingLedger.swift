/// The pings that were sent, and when: what tells the round-trip time, and whether the peer is still there.
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
    /// The payload of the ping that was sent by itself and is not answered; it may still be queued.
    private var expected: [UInt8]?
    /// The last round-trip time.
    private(set) var roundTrip: Duration?
    /// When the next ping is due by itself.
    private(set) var nextPing: MonotonicTime?
    /// When the pong to it is overdue.
    private(set) var overdue: MonotonicTime?

    init(settings: WebSocketSettings, now: MonotonicTime) {
        limit = max(1, settings.limits.pendingPings)
        interval = settings.pingInterval
        patience = settings.pongTimeout
        nextPing = interval.map { now + $0 }
    }

    /// Pings that are not answered.
    var pending: Int { entries.count }

    /// How long a pong may take.
    var timeout: Duration { patience }

    /// A ping left this end.
    mutating func sent(_ payload: [UInt8], now: MonotonicTime) {
        if payload == expected, overdue == nil { overdue = now + patience }
        if entries.count == limit { _ = entries.popFirst() }
        entries.append(Entry(payload: payload, sent: now))
    }

    /// A pong came. The answer is its round-trip time; nil when no ping had these bytes. Older pings are answered too
    /// (RFC 6455, 5.5.3).
    mutating func answered(_ payload: [UInt8], now: MonotonicTime) -> Duration? {
        guard let index = (0..<entries.count).last(where: { entries[$0].payload == payload }) else { return nil }
        let time = now - entries[index].sent
        for _ in 0...index { _ = entries.popFirst() }
        // What is not behind the one that was answered is answered too, also when it was forgotten meanwhile.
        if overdue != nil, !(0..<entries.count).contains(where: { entries[$0].payload == expected }) {
            (expected, overdue) = (nil, nil)
        }
        roundTrip = time
        return time
    }

    /// The ping that is due by itself, if one is; none while the last is not answered.
    mutating func due(now: MonotonicTime) -> [UInt8]? {
        guard let interval, let next = nextPing, next <= now else { return nil }
        nextPing = now + interval
        guard expected == nil else { return nil }
        number += 1
        let payload = withUnsafeBytes(of: number.bigEndian) { Array($0) }
        expected = payload
        return payload
    }

    /// Bytes came within an unfinished frame: no pong can come between them.
    mutating func isBusy(now: MonotonicTime) {
        if overdue != nil { overdue = now + patience }
    }

    /// No pong is awaited any more.
    mutating func stop() {
        (nextPing, expected, overdue) = (nil, nil, nil)
    }
}
