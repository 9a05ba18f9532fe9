import SocketCore

/// Whether the engine's thread may run the batches of a delegate's queue itself.
///
/// Dispatch does not report whether a queue is suspended or busy, or who waits for it, so past batches decide. A
/// queue's batches go through Dispatch until several in a row have started without delay. They do so again, for a long
/// time, after the thread was held up once, or if they habitually take so long that other work of the engine has to
/// wait.
package struct LeadTrust {
    /// The limits, in nanoseconds where they are times.
    package struct Limits: Sendable {
        /// The number of batches in a row that must start quickly.
        package var quickBatches = 8
        /// The longest delay that counts as quick.
        package var quickStart: Int64 = 200_000
        /// How long a batch may take, and how much longer for each of its callbacks.
        package var batch: Int64 = 200_000
        package var callback: Int64 = 5_000
        /// The number of quick batches that make up for one slow batch. A thread that had to wait for its processor
        /// looks slow too.
        package var quickPerSlow = 8
        /// The number of slow batches, not made up for, at which trust is lost.
        package var slowBatches = 3
        /// The number of batches that go through Dispatch after trust is lost.
        package var barred = 1_000

        package init() {}
    }

    private let limits: Limits
    private var quick = 0
    private var slowness = 0
    private var barred = 0

    init(_ limits: Limits = Limits()) { self.limits = limits }

    var mayLead: Bool { quick >= limits.quickBatches }

    /// Notes that a batch was started by Dispatch, this long after its first callback was decided.
    mutating func began(after waited: Int64) {
        guard barred == 0 else { return barred -= 1 }
        quick = waited <= limits.quickStart ? min(quick + 1, limits.quickBatches) : 0
    }

    /// Notes that the engine's thread has run a batch of this many callbacks.
    mutating func ran(_ callbacks: Int, in time: Int64) {
        guard time > limits.batch + Int64(callbacks) * limits.callback else {
            slowness = max(0, slowness - 1)
            return
        }
        slowness += limits.quickPerSlow
        if slowness >= limits.slowBatches * limits.quickPerSlow { lostLead() }
    }

    /// Notes that the engine's thread was held up.
    mutating func lostLead() { (quick, slowness, barred) = (0, 0, limits.barred) }
}
