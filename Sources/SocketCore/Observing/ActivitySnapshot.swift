/// Since when things stand as they do, and how fast operations come: what the warnings of an inspector are made from.
public struct ActivitySnapshot: Hashable, Sendable, Codable {
    /// When a byte last passed, either way; when it was connected, where none has yet. nil for a listener.
    public var lastByte: MonotonicTime?
    /// Since when bytes, or the end of the stream, lie in the kernel that no read takes; nil: none are known to.
    public var unreadSince: MonotonicTime?
    /// When the peer's FIN was first known, be it behind bytes that nobody has read.
    public var peerClosed: MonotonicTime?
    /// Reads and writes completed a second, smoothed over one second; nil until measured twice.
    public var operationRate: Double?
    /// Bytes queued for writing a second, smoothed over one second; nil until measured twice. What it is more than
    /// `SocketSnapshot.sendRate` is what the write queue grows.
    public var queueRate: Double?
    /// After how much silence the connection closes by itself; nil: never.
    public var idleTimeout: Duration?
    /// Whether the kernel probes for a peer that has gone without a word.
    public var isKeptAlive: Bool

    /// Nothing known.
    public init() {
        isKeptAlive = false
    }
}

/// How callbacks of one session reach the user.
public struct CallbackSnapshot: Hashable, Sendable, Codable {
    /// Whether somebody hears of the read in hand: a delegate, or whoever awaits it. True where no read is in hand.
    public var isHeard: Bool
    /// How long the oldest callback that waits for the delegate's queue has waited, or, where none waits, how long the
    /// last batch had to. nil: callbacks come on the engine's queue, or none has come yet.
    public var lag: Duration?
    /// When the last batch began; nil: one waits now, or none has come yet.
    public var ran: MonotonicTime?
    /// The memory that callbacks take up which wait for the delegate's queue, in bytes: their payloads, and about 100 for
    /// each callback.
    public var undelivered: Int

    /// Describes how callbacks arrive.
    public init(isHeard: Bool = true, lag: Duration? = nil, ran: MonotonicTime? = nil, undelivered: Int = 0) {
        self.isHeard = isHeard
        self.lag = lag
        self.ran = ran
        self.undelivered = undelivered
    }
}

/// How busy the engine itself is. Peaks are of the last one to two seconds, so that everybody who asks sees them.
public struct EngineTimes: Hashable, Sendable, Codable {
    /// Time spent in turns over the engine's life, user code that ran inside them included.
    public var busy: Duration
    /// The longest turn.
    public var longestTurn: Duration
    /// The longest that ready work had to wait for the engine's queue.
    public var queueLag: Duration
    /// The most jobs that were found in the mailbox at once.
    public var mailboxDepth: Int
    /// When the kernel last refused a descriptor because none was left; nil: it never has.
    public var outOfDescriptors: MonotonicTime?

    /// All zero.
    public init() {
        busy = .zero
        longestTurn = .zero
        queueLag = .zero
        mailboxDepth = 0
    }
}

/// The largest of the values noted within the last one to two seconds.
package struct PeakWindow {
    private var began = MonotonicTime.zero
    private var current: Int64 = 0
    private var former: Int64 = 0

    /// Nothing noted yet.
    package init() {}

    /// Notes a value; what is negative counts as zero.
    package mutating func note(_ value: Int64, now: MonotonicTime) {
        roll(now)
        current = max(current, value)
    }

    /// The largest as of now.
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
