/// The most that one turn carries out before the engine looks at the reactor again. Without a limit, a thread that keeps
/// posting, or a delegate that always has more to write, would keep every other socket from being read.
package struct TurnBudget: Sendable, Equatable {
    /// Jobs that were posted. A getter in a callback first carries out all that was posted before it, and may exceed this.
    package var jobs = 4_096
    /// Callbacks. A receive that lends its bytes shows all of them, and may exceed this.
    package var callbacks = 1_024
    /// Bytes received and sent. No call that moves bytes begins once so many have passed; the last one may exceed this.
    package var bytes = 1 << 20

    /// The limits above.
    package init() {}
}

/// What the last turn carried out, for a test to compare with the budget.
package struct TurnTally: Sendable, Equatable {
    /// Jobs, save those that user code asked for by a getter.
    package var jobs = 0
    /// Callbacks, save items that were lent.
    package var callbacks = 0
    /// Bytes received and sent, save those of a getter.
    package var bytes = 0

    /// Nothing yet.
    package init() {}
}
