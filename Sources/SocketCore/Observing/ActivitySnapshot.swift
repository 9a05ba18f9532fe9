/// How long the session has been in its state, and how fast operations complete. The inspector's warnings are based on
/// it.
public struct ActivitySnapshot: Equatable, Sendable {
    /// When a byte was last sent or received, or when the connection was established if none was. It is `nil` for a
    /// listener.
    public var lastByte: MonotonicTime?
    /// Since when the kernel has held bytes or the end of the stream that no read wants, or `nil` if none are known.
    public var unreadSince: MonotonicTime?
    /// When the peer's FIN was first detected, even if unread bytes precede it.
    public var peerClosed: MonotonicTime?
    /// Reads and writes completed a second, smoothed over one second, or `nil` until measured twice.
    public var operationRate: Double?
    /// Bytes queued for writing a second, smoothed over one second, or `nil` until measured twice. Its excess over
    /// `SocketSnapshot.sendRate` is the growth of the write queue.
    public var queueRate: Double?
    /// The time without traffic after which the connection closes automatically, or `nil` for never.
    public var idleTimeout: Duration?
    /// Whether the kernel probes for a peer that has disappeared silently.
    public var isKeptAlive: Bool

    /// Creates a snapshot without values.
    public init() {
        isKeptAlive = false
    }
}

/// How the callbacks of one session are delivered.
public struct CallbackSnapshot: Equatable, Sendable {
    /// Whether a delegate or an awaiting task is notified of the current read. Also `true` if there is no current read.
    public var isHeard: Bool
    /// The time that the oldest callback waiting for the delegate's queue has waited or, if none waits, the time that
    /// the last batch had to wait. It is `nil` if callbacks run on the engine's queue, or none has been delivered yet.
    public var lag: Duration?
    /// When the last batch started, or `nil` if one waits now or none has been delivered yet.
    public var ran: MonotonicTime?
    /// The memory used by callbacks that wait for the delegate's queue, in bytes: their payloads, and about 100 for
    /// each callback.
    public var undelivered: Int

    /// Describes how callbacks are delivered.
    public init(isHeard: Bool = true, lag: Duration? = nil, ran: MonotonicTime? = nil, undelivered: Int = 0) {
        self.isHeard = isHeard
        self.lag = lag
        self.ran = ran
        self.undelivered = undelivered
    }
}

/// How busy the engine is. Peaks cover the last one to two seconds, so that every reader sees them.
public struct EngineTimes: Equatable, Sendable {
    /// Time spent in turns over the engine's lifetime, including the user code that ran in them.
    public var busy: Duration
    /// The longest turn.
    public var longestTurn: Duration
    /// The longest time that ready work waited for the engine's queue.
    public var queueLag: Duration
    /// The most jobs found in the mailbox at once.
    public var mailboxDepth: Int
    /// When the kernel last refused a descriptor because none was left, or `nil` if it never has.
    public var outOfDescriptors: MonotonicTime?

    /// Creates times that are all 0.
    public init() {
        busy = .zero
        longestTurn = .zero
        queueLag = .zero
        mailboxDepth = 0
    }
}

/// The largest of the values recorded in the last one to two seconds.
package struct PeakWindow {
    private var began = MonotonicTime.zero
    private var current: Int64 = 0
    private var former: Int64 = 0

    /// Creates a window without values.
    package init() {}

    /// Records a value. A negative one counts as 0.
    package mutating func note(_ value: Int64, now: MonotonicTime) {
        roll(now)
        current = max(current, value)
    }

    /// Returns the largest value as of `now`.
    package mutating func peak(_ now: MonotonicTime) -> Int64 {
        roll(now)
        return max(current, former)
    }

    private mutating func roll(_ now: MonotonicTime) {
        let passed = now.nanoseconds - began.nanoseconds
        guard passed >= 1_000_000_000 else { return }
        former = passed < 2_000_000_000 ? current : 0
        current = 0
        began = now
    }
}
