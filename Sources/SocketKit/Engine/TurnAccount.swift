import SocketCore

/// What one turn has carried out, and what is left of its budget.
///
/// The engine counts bytes, and passes the number that have passed in its life as `moved`. Half of a turn's bytes are
/// for readiness, or a thread that always writes would starve all reads.
struct TurnAccount {
    private let budget: TurnBudget
    /// Whether a turn is running.
    private(set) var isOpen = false
    /// The jobs and callbacks that the turn may still carry out. Between two turns, those of the next one.
    private(set) var jobsLeft: Int
    private(set) var callbacksLeft: Int
    /// What this turn, or the last one, has carried out.
    private(set) var tally = TurnTally()
    /// The bytes that had passed when the turn started, and the count at which no further call that moves bytes starts.
    private(set) var movedAtStart: UInt64 = 0
    private(set) var byteLimit = UInt64.max
    /// The number of callbacks in the outbox at which no more readiness is handled.
    private var callbackLimit = Int.max
    /// Callbacks at the head of the outbox that were decided when readiness was last handled, or before.
    private(set) var overdue = 0

    init(_ budget: TurnBudget) {
        self.budget = budget
        (jobsLeft, callbacksLeft) = (budget.jobs, budget.callbacks)
    }

    // MARK: The turn

    mutating func open(moved: UInt64) {
        isOpen = true
        (jobsLeft, callbacksLeft, tally) = (budget.jobs, budget.callbacks, TurnTally())
        movedAtStart = moved
        byteLimit = moved &+ UInt64(budget.bytes / 2)
        callbackLimit = .max
    }

    mutating func close(moved: UInt64) {
        isOpen = false
        tally.bytes = Int(clamping: moved &- movedAtStart)
        (jobsLeft, callbacksLeft) = (budget.jobs, budget.callbacks)
        (byteLimit, callbackLimit) = (.max, .max)
    }

    // MARK: Readiness

    /// Whether readiness may be handled: no callback from earlier reports is left. `waiting` is the number of callbacks
    /// in the outbox.
    func mayDispatch(waiting: Int) -> Bool { min(overdue, waiting) == 0 }

    /// Allows all of the turn's bytes from now on, and as many new callbacks as one turn runs.
    mutating func beginReadiness(waiting: Int) {
        byteLimit = movedAtStart &+ UInt64(budget.bytes)
        callbackLimit = waiting + budget.callbacks
    }

    mutating func endReadiness(waiting: Int) {
        callbackLimit = .max
        overdue = waiting
    }

    // MARK: What is carried out

    mutating func carriedOut(jobs: Int) {
        jobsLeft -= jobs
        tally.jobs += jobs
    }

    mutating func made(callbacks: Int) {
        callbacksLeft -= callbacks
        tally.callbacks += callbacks
        overdue = max(0, overdue - callbacks)
    }

    /// Counts an item that was lent. It is not a callback of the outbox, but takes the place of one.
    mutating func lentOne() { callbacksLeft &-= 1 }

    /// The most deadlines that one turn handles.
    var deadlineLimit: Int { budget.jobs }

    // MARK: Bytes

    /// Whether no further call that moves bytes may start in this turn.
    func isSpent(moved: UInt64) -> Bool { moved >= byteLimit }

    /// Whether enough readiness was handled that the rest is left for the next turn.
    func mustLeaveOff(waiting: Int, moved: UInt64) -> Bool {
        waiting >= callbackLimit || callbacksLeft <= 0 || moved >= byteLimit
    }

    /// Leaves the bytes that moved while user code waited, those since `before`, out of the turn's budget. `start` is
    /// `movedAtStart` at that time, because a call within this one has already left out its own bytes.
    mutating func leaveOut(moved: UInt64, since before: UInt64, atStart start: UInt64) {
        let own = (moved &- before) &- (movedAtStart &- start)
        guard isOpen, own > 0 else { return }
        movedAtStart &+= own
        if byteLimit != .max { byteLimit &+= own }
    }

    /// Lifts the limit on bytes, for a call that promises to move them. Pass the result to `limit`.
    mutating func lift() -> UInt64 {
        defer { byteLimit = .max }
        return byteLimit
    }

    /// Sets the previous limit again.
    mutating func limit(_ former: UInt64) { byteLimit = former }
}
