/// The longest time that an operation can be current. It stores a `Duration?` in eight bytes, because every connection
/// holds several.
struct TimeLimit: Equatable {
    /// `Int64.max` means no limit. No real limit reaches its 292 years.
    private var nanoseconds: Int64

    /// Creates a limit. `nil` or a negative duration means no limit.
    init(_ duration: Duration?) {
        guard let duration, duration >= .zero else {
            nanoseconds = .max
            return
        }
        nanoseconds = duration.wholeNanoseconds
    }

    /// Whether there is a limit.
    var isLimited: Bool { nanoseconds != .max }

    /// The limit as a duration, or `nil` if there is none.
    var duration: Duration? { nanoseconds == .max ? nil : .nanoseconds(nanoseconds) }

    /// Returns when the limit expires, in nanoseconds, or `Int64.max` if there is none.
    func end(from start: MonotonicTime) -> Int64 {
        guard nanoseconds != .max else { return .max }
        let (sum, overflow) = start.nanoseconds.addingReportingOverflow(nanoseconds)
        return overflow ? .max : max(sum, .min + 1)
    }

    /// Extends the limit. Has no effect if there is none.
    mutating func extend(by interval: Duration) {
        guard let duration else { return }
        self = TimeLimit(duration + interval)
    }
}

/// The clock of the current operation. It is running, or stopped while a verdict is awaited.
///
/// The operation stores its own limit and passes it in. The clock stores only a limit that was changed since.
struct OperationTimer {
    /// A changed limit and its deadline. Boxed, because few operations have one.
    private final class Changed: Sendable {
        /// The limit, including extensions.
        let limit: TimeLimit
        /// The deadline in nanoseconds: `Int64.max` for none, or `Int64.min` if it has passed and the verdict is
        /// awaited.
        let due: Int64

        init(_ limit: TimeLimit, due: Int64) { (self.limit, self.due) = (limit, due) }
    }

    /// When the operation became current.
    let started: MonotonicTime
    private var changed: Changed?

    /// Starts the clock at `now`.
    init(now: MonotonicTime) { started = now }

    /// Returns the limit, including extensions.
    func limit(_ own: TimeLimit) -> TimeLimit { changed?.limit ?? own }

    private func due(_ own: TimeLimit) -> Int64 { changed?.due ?? own.end(from: started) }

    /// Returns the deadline, or `nil` if there is none or a verdict is awaited.
    func deadline(_ own: TimeLimit) -> MonotonicTime? {
        let due = due(own)
        return due == .max || due == .min ? nil : MonotonicTime(nanoseconds: due)
    }

    /// Whether the operation has timed out and the verdict is awaited.
    var isAsking: Bool { changed?.due == .min }

    /// Whether the clock is running towards a deadline.
    @inline(__always)
    func hasDeadline(_ own: TimeLimit) -> Bool { changed == nil ? own.isLimited : deadline(own) != nil }

    /// Whether the operation has timed out at `now` and no verdict was requested yet.
    func isDue(_ own: TimeLimit, _ now: MonotonicTime) -> Bool { deadline(own).map { $0 <= now } ?? false }

    /// Sets another limit, counted from the operation's start. Returns `false` and changes nothing while a verdict is
    /// awaited.
    mutating func change(to limit: TimeLimit) -> Bool {
        guard !isAsking else { return false }
        changed = Changed(limit, due: limit.end(from: started))
        return true
    }

    /// Stops the clock until a verdict is given.
    mutating func ask(_ own: TimeLimit) { changed = Changed(limit(own), due: .min) }

    /// Continues for `interval` from `now`, as the verdict says.
    mutating func extend(_ own: TimeLimit, by interval: Duration, now: MonotonicTime) {
        var limit = limit(own)
        limit.extend(by: interval)
        changed = Changed(limit, due: max((now + interval).nanoseconds, .min + 1))
    }
}
