/// The current operation of a queue, with its clock and the limit it was queued with.
protocol TimedOperation {
    var timer: OperationTimer { get set }
    /// The limit, without extensions.
    var ownLimit: TimeLimit { get }
}

extension TimedOperation {
    /// The limit, including extensions.
    @inline(__always)
    var limit: TimeLimit { timer.limit(ownLimit) }

    /// The deadline, or `nil` if there is none or a verdict is awaited.
    @inline(__always)
    var deadline: MonotonicTime? { timer.deadline(ownLimit) }

    /// Whether the clock is running towards a deadline.
    @inline(__always)
    var hasDeadline: Bool { timer.hasDeadline(ownLimit) }

    /// Whether the operation has timed out at `now` and no verdict was requested yet.
    @inline(__always)
    func isDue(_ now: MonotonicTime) -> Bool { timer.isDue(ownLimit, now) }

    /// Stops the clock until a verdict is given.
    @inline(__always)
    mutating func ask() { timer.ask(ownLimit) }

    /// Continues for `interval` from `now`, as the verdict says.
    @inline(__always)
    mutating func extend(by interval: Duration, now: MonotonicTime) {
        timer.extend(ownLimit, by: interval, now: now)
    }
}
