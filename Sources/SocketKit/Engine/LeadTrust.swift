import SocketCore

/// Whether the engine's thread may run the batches of a delegate's queue itself.
///
/// Dispatch says nothing of a queue: whether it is suspended, busy, or who waits for it. So it is judged by what was seen. Its
/// batches go by Dispatch until several in a row have begun without delay; they do so again, for a long time, after the thread
/// was held up once, or when they habitually take so long that others of the engine have to wait.
package struct LeadTrust {
    /// The limits, in nanoseconds where they are times.
    package struct Limits: Sendable {
        /// Batches in a row that began soon.
        package var quickBatches = 8
        /// Within what time that is.
        package var quickStart: Int64 = 200_000
        /// What a batch may take, and each callback of it on top.
        package var batch: Int64 = 200_000
        package var callback: Int64 = 5_000
        /// Every so many quick batches make up for one slow one; a thread that had to wait for its processor looks slow too.
        package var quickPerSlow = 8
        /// Slow ones that are not made up for.
        package var slowBatches = 3
        /// Batches that go by Dispatch when trust is lost.
        package var barred = 1_000

        package init() {}
    }

    private let limits: Limits
    private var quick = 0
    private var slowness = 0
    private var barred = 0

    init(_ limits: Limits = Limits()) { self.limits = limits }

    var mayLead: Bool { quick >= limits.quickBatches }

    /// A batch has begun, by Dispatch, so long after the first of its callbacks was decided.
    mutating func began(after waited: Int64) {
        guard barred == 0 else { return barred -= 1 }
        quick = waited <= limits.quickStart ? min(quick + 1, limits.quickBatches) : 0
    }

    /// The engine's thread has run a batch of so many callbacks.
    mutating func ran(_ callbacks: Int, in time: Int64) {
        guard time > limits.batch + Int64(callbacks) * limits.callback else {
            slowness = max(0, slowness - 1)
            return
        }
        slowness += limits.quickPerSlow
        if slowness >= limits.slowBatches * limits.quickPerSlow { lostLead() }
    }

    /// The engine's thread was held up.
    mutating func lostLead() { (quick, slowness, barred) = (0, 0, limits.barred) }
}
