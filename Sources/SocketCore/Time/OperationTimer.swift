/// How long an operation may be the one in hand. It is `Duration?` in eight bytes, since every connection holds some.
struct TimeLimit: Equatable {
    /// `Int64.max` stands for no limit; 292 years are none to anyone.
    private var nanoseconds: Int64

    /// Makes a limit; nil or a negative one: none.
    init(_ duration: Duration?) {
        guard let duration, duration >= .zero else {
            nanoseconds = .max
            return
        }
        nanoseconds = duration.wholeNanoseconds
    }

    /// Whether there is a limit.
    var isLimited: Bool { nanoseconds != .max }

    /// The limit as a duration; nil: none.
    var duration: Duration? { nanoseconds == .max ? nil : .nanoseconds(nanoseconds) }

    /// When it is over, in nanoseconds; `Int64.max`: never.
    func end(from start: MonotonicTime) -> Int64 {
        guard nanoseconds != .max else { return .max }
        let (sum, overflow) = start.nanoseconds.addingReportingOverflow(nanoseconds)
        return overflow ? .max : max(sum, .min + 1)
    }

    /// Makes it longer; no limit stays no limit.
    mutating func extend(by interval: Duration) {
        guard let duration else { return }
        self = TimeLimit(duration + interval)
    }
}

/// The clock of one operation in hand: counting, or stopped while somebody is asked what shall become of it.
///
/// Its limit is kept with the operation, and handed in: the clock itself knows only one that was changed since.
struct OperationTimer {
    /// A limit that is not the operation's own, and the time that comes of it. Boxed, since hardly any operation has one.
    private final class Changed: Sendable {
        /// Extensions included.
        let limit: TimeLimit
        /// When its time is up, in nanoseconds. `Int64.max`: never; `Int64.min`: it is, and the verdict is awaited.
        let due: Int64

        init(_ limit: TimeLimit, due: Int64) { (self.limit, self.due) = (limit, due) }
    }

    /// When the operation became the one in hand.
    let started: MonotonicTime
    private var changed: Changed?

    /// Starts to count at `now`.
    init(now: MonotonicTime) { started = now }

    /// The limit, extensions included.
    func limit(_ own: TimeLimit) -> TimeLimit { changed?.limit ?? own }

    private func due(_ own: TimeLimit) -> Int64 { changed?.due ?? own.end(from: started) }

    /// When its time is up; nil: never, or already asking.
    func deadline(_ own: TimeLimit) -> MonotonicTime? {
        let due = due(own)
        return due == .max || due == .min ? nil : MonotonicTime(nanoseconds: due)
    }

    /// Whether its time is up and the verdict is awaited.
    var isAsking: Bool { changed?.due == .min }

    /// Whether it is counting.
    @inline(__always)
    func hasDeadline(_ own: TimeLimit) -> Bool { changed == nil ? own.isLimited : deadline(own) != nil }

    /// Whether its time is up at `now` and nobody was asked yet.
    func isDue(_ own: TimeLimit, _ now: MonotonicTime) -> Bool { deadline(own).map { $0 <= now } ?? false }

    /// Another limit, counted from the beginning. False, and nothing changes, while the verdict is awaited.
    mutating func change(to limit: TimeLimit) -> Bool {
        guard !isAsking else { return false }
        changed = Changed(limit, due: limit.end(from: started))
        return true
    }

    /// Stops to count until a verdict comes.
    mutating func ask(_ own: TimeLimit) { changed = Changed(limit(own), due: .min) }

    /// The verdict is to go on for `interval` from `now` on.
    mutating func extend(_ own: TimeLimit, by interval: Duration, now: MonotonicTime) {
        var limit = limit(own)
        limit.extend(by: interval)
        changed = Changed(limit, due: max((now + interval).nanoseconds, .min + 1))
    }
}
