import SocketCore

/// Measures the engine itself, with only two readings of the clock a turn.
struct EngineMeter {
    private var busy: Int64 = 0
    private var longestTurn = PeakWindow()
    private var queueLag = PeakWindow()
    private var mailboxDepth = PeakWindow()
    /// When the kernel last had no descriptor left.
    var outOfDescriptors: MonotonicTime?

    /// Counts a turn that was requested at `due` and ran from `began` to `ended`.
    mutating func turned(due: MonotonicTime, began: MonotonicTime, ended: MonotonicTime) {
        let took = ended.nanoseconds - began.nanoseconds
        busy += max(0, took)
        longestTurn.note(took, now: ended)
        queueLag.note(began.nanoseconds - due.nanoseconds, now: ended)
    }

    /// Notes how many jobs were found in the mailbox.
    mutating func found(_ jobs: Int, now: MonotonicTime) {
        mailboxDepth.note(Int64(jobs), now: now)
    }

    mutating func times(_ now: MonotonicTime) -> EngineTimes {
        var times = EngineTimes()
        times.busy = .nanoseconds(busy)
        times.longestTurn = .nanoseconds(longestTurn.peak(now))
        times.queueLag = .nanoseconds(queueLag.peak(now))
        times.mailboxDepth = Int(mailboxDepth.peak(now))
        times.outOfDescriptors = outOfDescriptors
        return times
    }
}
