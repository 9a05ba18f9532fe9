import SocketCore

/// What one turn has carried out, and what it may still: the budget, kept like an account.
///
/// Bytes are counted by the engine, which says how many have passed in its life (`moved`). Half of a turn's bytes are for
/// what is ready, or a thread that always writes would keep everybody from reading.
struct TurnAccount {
    private let budget: TurnBudget
    /// Whether a turn is under way.
    private(set) var isOpen = false
    /// Jobs and callbacks that the turn may still carry out; between two turns, those of the next one.
    private(set) var jobsLeft: Int
    private(set) var callbacksLeft: Int
    /// What this turn, or the last one, has carried out.
    private(set) var tally = TurnTally()
    /// Bytes that had passed when the turn began, and those at which no call that moves bytes begins any more.
    private(set) var movedAtStart: UInt64 = 0
    private(set) var byteLimit = UInt64.max
    /// Callbacks in the outbox at which no more is made of what is ready.
    private var callbackLimit = Int.max
    /// Callbacks at the head of the outbox that were decided when readiness was last dealt with, or before.
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

    /// Whether readiness may be dealt with: no callback is left that earlier reports have led to. `waiting`: callbacks in
    /// the outbox.
    func mayDispatch(waiting: Int) -> Bool { min(overdue, waiting) == 0 }

    /// From now on all of the turn's bytes may be moved, and so many callbacks decided as one turn makes.
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

    /// An item was lent: it is no callback of the outbox, but takes the place of one.
    mutating func lentOne() { callbacksLeft &-= 1 }

    /// The most deadlines to deal with in one turn.
    var deadlineLimit: Int { budget.jobs }

    // MARK: Bytes

    /// Whether no call that moves bytes may begin any more in this turn.
    func isSpent(moved: UInt64) -> Bool { moved >= byteLimit }

    /// Whether so much was made of what is ready that the rest is left for the next turn.
    func mustLeaveOff(waiting: Int, moved: UInt64) -> Bool {
        waiting >= callbackLimit || callbacksLeft <= 0 || moved >= byteLimit
    }

    /// Leaves the bytes that moved while user code waited out of the turn's budget: those since `before`. `start` is
    /// `movedAtStart` from then, since a call within this one has left its own bytes out already.
    mutating func leaveOut(moved: UInt64, since before: UInt64, atStart start: UInt64) {
        let own = (moved &- before) &- (movedAtStart &- start)
        guard isOpen, own > 0 else { return }
        movedAtStart &+= own
        if byteLimit != .max { byteLimit &+= own }
    }

    /// Lets bytes pass whatever the budget, for a call that promises that; the answer is for `limit`.
    mutating func lift() -> UInt64 {
        defer { byteLimit = .max }
        return byteLimit
    }

    /// Sets the former limit again.
    mutating func limit(_ former: UInt64) { byteLimit = former }
}
