/// What faults and breakpoints do to a connection. Both legs of a relayed one show the same.
public struct FaultSnapshot: Hashable, Sendable, Codable {
    /// A rule that concerns the connection.
    public struct Rule: Hashable, Sendable, Codable {
        /// Its number in the list of rules.
        public var number: Int
        /// The word of its effect, as in `latency`.
        public var effect: String
        /// The effect with its values, as in `latency 200ms`.
        public var text: String
        /// How often it took effect here.
        public var count: UInt64

        /// Describes a rule.
        public init(number: Int, effect: String, text: String, count: UInt64 = 0) {
            (self.number, self.effect, self.text, self.count) = (number, effect, text, count)
        }
    }

    /// The connection is over: nobody will get what a rule delays.
    package mutating func dropDelayed() {
        droppedBytes += UInt64(max(0, delayedBytes))
        delayedBytes = 0
    }

    /// A breakpoint that holds the connection.
    public struct Hold: Hashable, Sendable, Codable {
        /// Its number in the list of breakpoints.
        public var breakpoint: Int
        /// Its point, as in `bytes 4711`.
        public var text: String
        /// Since when it holds.
        public var since: MonotonicTime
        /// Bytes that were received and wait here, to the server and to the client.
        public var upstreamBytes: Int
        /// The same, of those to the client.
        public var downstreamBytes: Int
        /// The next of those to the server, at most `preview` of them.
        public var upstreamNext: [UInt8] = []
        /// The next of those to the client, at most `preview` of them.
        public var downstreamNext: [UInt8] = []

        /// How many of the bytes that wait are shown.
        public static let preview = 64

        /// Describes a hold.
        public init(
            breakpoint: Int, text: String, since: MonotonicTime, upstreamBytes: Int = 0, downstreamBytes: Int = 0
        ) {
            (self.breakpoint, self.text, self.since) = (breakpoint, text, since)
            (self.upstreamBytes, self.downstreamBytes) = (upstreamBytes, downstreamBytes)
        }
    }

    /// The rules that concern it, by number.
    public var rules: [Rule]
    /// Bytes that rules hold back for later.
    public var delayedBytes: Int
    /// Bytes that rules, or the user, dropped.
    public var droppedBytes: UInt64
    /// Whether a delay holds as much as it may, so that the sender is held back too.
    public var isLimitedByBuffer: Bool
    /// The breakpoint that holds it; `nil`: none does.
    public var hold: Hold?

    /// Describes a connection that nothing concerns.
    public init() {
        (rules, delayedBytes, droppedBytes, isLimitedByBuffer, hold) = ([], 0, 0, false, nil)
    }

    /// Whether a rule has done anything, or a breakpoint holds: what the connection does then is not its peers' doing.
    package var hasActed: Bool { hold != nil || droppedBytes > 0 || rules.contains { $0.count > 0 } }
}
