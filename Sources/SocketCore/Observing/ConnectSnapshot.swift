/// How a connection came about.
public struct ConnectSnapshot: Hashable, Sendable, Codable {
    /// One address that was tried.
    public struct Attempt: Hashable, Sendable, Codable {
        /// How it stands.
        public enum Outcome: Hashable, Sendable, Codable {
            /// Not answered yet.
            case trying
            /// Failed with this errno.
            case failed(errno: Int32)
            /// This one became the connection.
            case won
            /// Given up, since another won or the connect ended.
            case abandoned
        }

        /// The address.
        public var address: SocketAddress
        /// How it stands.
        public var outcome: Outcome
        /// How long it took, or has taken so far.
        public var duration: Duration

        /// Describes an attempt.
        public init(address: SocketAddress, outcome: Outcome, duration: Duration) {
            self.address = address
            self.outcome = outcome
            self.duration = duration
        }
    }

    /// How long the resolver took; nil while it works, and where nothing was to be resolved.
    public var resolvedIn: Duration?
    /// How many addresses there are to try.
    public var addressCount: Int
    /// Those tried so far, in order.
    public var attempts: [Attempt]
    /// When the connect will time out; nil: never, or it has ended.
    public var deadline: MonotonicTime?

    /// Describes a connect.
    public init(resolvedIn: Duration? = nil, addressCount: Int = 0, attempts: [Attempt] = []) {
        self.resolvedIn = resolvedIn
        self.addressCount = addressCount
        self.attempts = attempts
    }
}
