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
struct OperationTimer {
    /// When the operation became the one in hand.
    let started: MonotonicTime
    /// Its limit, extensions included.
    private(set) var limit: TimeLimit
    /// When its time is up, in nanoseconds. `Int64.max`: never; `Int64.min`: it is, and the verdict is awaited.
    private var due: Int64

    /// Starts to count at `now`.
    init(limit: TimeLimit, now: MonotonicTime) {
        started = now
        self.limit = limit
        due = limit.end(from: now)
    }

    /// When its time is up; nil: never, or already asking.
    var deadline: MonotonicTime? {
        due == .max || isAsking ? nil : MonotonicTime(nanoseconds: due)
    }

    /// Whether its time is up and the verdict is awaited.
    var isAsking: Bool { due == .min }

    /// Whether it is counting.
    var hasDeadline: Bool { due != .max && due != .min }

    /// Whether its time is up at `now` and nobody was asked yet.
    func isDue(_ now: MonotonicTime) -> Bool {
        hasDeadline && due <= now.nanoseconds
    }

    /// Another limit, counted from the beginning. False, and nothing changes, while the verdict is awaited.
    mutating func change(to limit: TimeLimit) -> Bool {
        guard !isAsking else { return false }
        self.limit = limit
        due = limit.end(from: started)
        return true
    }

    /// Stops to count until a verdict comes.
    mutating func ask() {
        due = .min
    }

    /// The verdict is to go on for `interval` from `now` on.
    mutating func extend(by interval: Duration, now: MonotonicTime) {
        limit.extend(by: interval)
        due = max((now + interval).nanoseconds, .min + 1)
    }
}
