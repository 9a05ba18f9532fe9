/// The most that one turn carries out before the engine polls the reactor again. Without a limit, a thread that keeps
/// posting, or a delegate that always has more to write, would starve the reads of every other socket.
package struct TurnBudget: Sendable, Equatable {
    /// Posted jobs. A getter in a callback first carries out all jobs posted before it, and may exceed this.
    package var jobs = 4_096
    /// Callbacks. A receive that lends its bytes delivers all of them, and may exceed this.
    package var callbacks = 1_024
    /// Bytes received and sent. No call that moves bytes starts once this many have passed. The last one may exceed
    /// this.
    package var bytes = 1 << 20

    /// Creates a budget with the limits above.
    package init() {}
}

/// What the last turn carried out, for tests to compare with the budget.
package struct TurnTally: Sendable, Equatable {
    /// Jobs, except those carried out for a getter of user code.
    package var jobs = 0
    /// Callbacks, except for items that were lent.
    package var callbacks = 0
    /// Bytes received and sent, except those of a getter.
    package var bytes = 0

    /// Creates an empty tally.
    package init() {}
}
