/// The current operation of a queue: it has a clock and the limit that it was queued with.
protocol TimedOperation {
    var timer: OperationTimer { get set }
    /// Its limit without extensions.
    var ownLimit: TimeLimit { get }
}

extension TimedOperation {
    /// Its limit, extensions included.
    @inline(__always)
    var limit: TimeLimit { timer.limit(ownLimit) }

    /// When its time is up; nil: never, or already asking.
    @inline(__always)
    var deadline: MonotonicTime? { timer.deadline(ownLimit) }

    /// Whether it is counting.
    @inline(__always)
    var hasDeadline: Bool { timer.hasDeadline(ownLimit) }

    /// Whether its time is up at `now` and nobody was asked yet.
    @inline(__always)
    func isDue(_ now: MonotonicTime) -> Bool { timer.isDue(ownLimit, now) }

    /// Its time stops until a verdict comes.
    @inline(__always)
    mutating func ask() { timer.ask(ownLimit) }

    /// The verdict is to go on for `interval` from `now` on.
    @inline(__always)
    mutating func extend(by interval: Duration, now: MonotonicTime) {
        timer.extend(ownLimit, by: interval, now: now)
    }
}
