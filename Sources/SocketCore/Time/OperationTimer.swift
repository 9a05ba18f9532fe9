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

    /// Makes it longer; no limit stays no limit.
    mutating func extend(by interval: Duration) {
        guard let duration else { return }
        self = TimeLimit(duration + interval)
    }
}

/// The clock of one operation in hand: counting, or stopped while somebody is asked what shall become of it.
struct OperationTimer {
    private enum State {
        case untimed
        case counting(until: MonotonicTime)
        case asking
    }

    /// When the operation became the one in hand.
    let started: MonotonicTime
    /// Its limit, extensions included.
    private(set) var limit: TimeLimit
    private var state: State

    /// Starts to count at `now`.
    init(limit: TimeLimit, now: MonotonicTime) {
        started = now
        self.limit = limit
        state = limit.duration.map { .counting(until: now + $0) } ?? .untimed
    }

    /// When its time is up; nil: never, or already asking.
    var deadline: MonotonicTime? {
        switch state {
        case .counting(let end): end
        case .untimed, .asking: nil
        }
    }

    /// Whether its time is up and the verdict is awaited.
    var isAsking: Bool {
        switch state {
        case .asking: true
        case .untimed, .counting: false
        }
    }

    /// Whether its time is up at `now` and nobody was asked yet.
    func isDue(_ now: MonotonicTime) -> Bool {
        deadline.map { $0 <= now } ?? false
    }

    /// Another limit, counted from the beginning. False, and nothing changes, while the verdict is awaited.
    mutating func change(to limit: TimeLimit) -> Bool {
        guard !isAsking else { return false }
        self.limit = limit
        state = limit.duration.map { .counting(until: started + $0) } ?? .untimed
        return true
    }

    /// Stops to count until a verdict comes.
    mutating func ask() {
        state = .asking
    }

    /// The verdict is to go on for `interval` from `now` on.
    mutating func extend(by interval: Duration, now: MonotonicTime) {
        limit.extend(by: interval)
        state = .counting(until: now + interval)
    }
}
