/// The calls that wait, by thread, and the latest of those that are over.
package struct CallLedger: Equatable, Sendable {
    package private(set) var waiting: [Int: SocketCall] = [:]
    /// The latest calls that are over, in the order in which they ended.
    package private(set) var latest: [SocketCall] = []
    /// The number of calls that have ended, which is the number of the one that ends next.
    package private(set) var next: UInt64 = 0
    package private(set) var losses = CallLosses()
    /// How many of those that are over are kept, in addition to the last ones that were added.
    private let limit: Int

    /// The most calls that wait.
    private static let mostWaiting = 1 << 16

    package init(limit: Int = 10_000) { self.limit = limit }

    /// The number of earlier calls that are not kept.
    package var dropped: UInt64 { next - UInt64(latest.count) }

    /// The calls that wait, the one that waits longest first.
    package var longestWaiting: [SocketCall] {
        waiting.values.sorted { ($0.began, $0.thread) < ($1.began, $1.thread) }
    }

    /// Returns the kept calls that ended, from this number on.
    package func ended(from number: UInt64) -> ArraySlice<SocketCall> {
        latest.suffix(Int(clamping: next - min(next, number)))
    }

    /// The approximate memory that it takes, in bytes.
    package var weight: Int { (latest.count + waiting.count) * MemoryLayout<SocketCall>.stride }

    /// Whether nothing has happened between the two.
    package func isSame(as other: CallLedger) -> Bool {
        next == other.next && waiting == other.waiting && losses == other.losses
    }

    /// Adds calls in their order.
    package mutating func absorb(_ calls: [SocketCall], _ losses: CallLosses = CallLosses()) {
        trim(to: limit)
        for call in calls { add(call) }
        // Those that seem to wait may be among the lost ends.
        if losses.lost != self.losses.lost { waiting = [:] }
        self.losses = losses
    }

    /// Adds an update of a recording, or only what had happened at an instant before its end.
    package mutating func absorb(_ update: CallUpdate, until instant: MonotonicTime? = nil) {
        trim(to: limit)
        // Those in between were not recorded.
        next = max(next, update.first)
        let known = next - update.first
        for call in update.ended.dropFirst(Int(clamping: known)) {
            let isEarly = instant.map { (call.ended ?? .zero) <= $0 } ?? true
            isEarly ? add(call) : note(call.waiting(), before: instant)
        }
        guard instant == nil else { return update.waiting.forEach { note($0, before: instant) } }
        if !update.continues { waiting = [:] }
        update.waiting.forEach { note($0) }
        losses = update.losses
    }

    /// Drops the earliest of the calls that are over.
    package mutating func trim(to most: Int) {
        if latest.count > most { latest.removeFirst(latest.count - most) }
    }

    /// Gives the sessions of all calls this ordinal.
    package mutating func belongs(to ordinal: Int) {
        func named(_ call: SocketCall) -> SocketCall {
            var call = call
            call.id = call.id.map { SocketID($0.number, of: ordinal) }
            return call
        }
        (latest, waiting) = (latest.map(named), waiting.mapValues(named))
    }

    private mutating func add(_ call: SocketCall) {
        guard !call.isWaiting else { return note(call) }
        waiting[call.thread] = nil
        if call.isBrief { return }
        next += 1
        latest.append(call)
    }

    private mutating func note(_ call: SocketCall, before instant: MonotonicTime? = nil) {
        if let instant, call.began > instant { return }
        if waiting.count < Self.mostWaiting || waiting[call.thread] != nil { waiting[call.thread] = call }
    }
}

/// What a snapshot adds to the calls of a recording.
package struct CallUpdate: Equatable, Sendable {
    /// The number of the first call in `ended`.
    package var first: UInt64 = 0
    /// The calls that ended since the update before.
    package var ended: [SocketCall] = []
    /// The calls that wait.
    package var waiting: [SocketCall] = []
    /// Whether more of the update before follow, so that its calls wait, too.
    package var continues = false
    package var losses = CallLosses()

    package init() {}

    /// The most calls of one update.
    private static let most = 4_096

    /// Returns the updates that tell what happened since a ledger had `told` calls, or since its beginning.
    package static func updates(of ledger: CallLedger, after told: UInt64?) -> [CallUpdate] {
        var ended = ledger.ended(from: told ?? 0)
        var waiting = ledger.longestWaiting[...]
        var updates: [CallUpdate] = []
        repeat {
            var update = CallUpdate()
            (update.first, update.losses) = (ledger.next - UInt64(ended.count), ledger.losses)
            (update.ended, update.waiting) = (Array(ended.prefix(most)), Array(waiting.prefix(most)))
            update.continues = !updates.isEmpty
            (ended, waiting) = (ended.dropFirst(most), waiting.dropFirst(most))
            updates.append(update)
        } while !ended.isEmpty || !waiting.isEmpty
        return updates
    }
}
