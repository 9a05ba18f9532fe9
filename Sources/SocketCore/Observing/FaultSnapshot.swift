/// The effects of fault rules and breakpoints on a connection. Both legs of a relayed connection show the same.
public struct FaultSnapshot: Equatable, Sendable {
    /// A rule that applies to the connection.
    public struct Rule: Equatable, Sendable {
        /// Its number in the list of rules.
        public var number: Int
        /// The keyword of its effect, as in `latency`.
        public var effect: String
        /// The effect with its values, and its direction if it has one, as in `downstream latency 200ms`.
        public var text: String
        /// The number of times it took effect on this connection.
        public var count: UInt64

        /// Describes a rule.
        public init(number: Int, effect: String, text: String, count: UInt64 = 0) {
            (self.number, self.effect, self.text, self.count) = (number, effect, text, count)
        }
    }

    /// Counts delayed bytes as dropped once the connection has ended and cannot deliver them.
    package mutating func dropDelayed() {
        droppedBytes += UInt64(max(0, delayedBytes))
        delayedBytes = 0
    }

    /// A breakpoint that holds the connection.
    public struct Hold: Equatable, Sendable {
        /// Its number in the list of breakpoints.
        public var breakpoint: Int
        /// Its position, as in `bytes 4711`.
        public var text: String
        /// When it started to hold.
        public var since: MonotonicTime
        /// The number of received bytes waiting here for the server.
        public var upstreamBytes: Int
        /// The number of received bytes waiting here for the client.
        public var downstreamBytes: Int
        /// The next bytes for the server, at most `preview` of them.
        public var upstreamNext: [UInt8] = []
        /// The next bytes for the client, at most `preview` of them.
        public var downstreamNext: [UInt8] = []

        /// The most waiting bytes that are shown.
        public static let preview = 64

        /// Describes a hold.
        public init(
            breakpoint: Int, text: String, since: MonotonicTime, upstreamBytes: Int = 0, downstreamBytes: Int = 0
        ) {
            (self.breakpoint, self.text, self.since) = (breakpoint, text, since)
            (self.upstreamBytes, self.downstreamBytes) = (upstreamBytes, downstreamBytes)
        }
    }

    /// The rules that apply to it, by number.
    public var rules: [Rule]
    /// The number of bytes that rules delay.
    public var delayedBytes: Int
    /// The number of bytes that rules or the user dropped.
    public var droppedBytes: UInt64
    /// Whether a delay or what rules add is more than the buffer holds, so that the sender is held back too.
    public var isLimitedByBuffer: Bool
    /// The breakpoint that holds it, or `nil` if none does.
    public var hold: Hold?
    /// Whether rules about single exchanges cannot apply, because questions overlap or are not visible.
    public var overlaps = false

    /// Describes a connection without faults.
    public init() {
        (rules, delayedBytes, droppedBytes, isLimitedByBuffer, hold) = ([], 0, 0, false, nil)
    }

    /// Whether a rule has taken effect or a breakpoint holds. The peers are then not the cause of the connection's
    /// behavior.
    package var hasActed: Bool { hold != nil || droppedBytes > 0 || rules.contains { $0.count > 0 } }
}
