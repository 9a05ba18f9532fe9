/// How a connection was established.
public struct ConnectSnapshot: Equatable, Sendable {
    /// One address that was tried.
    public struct Attempt: Hashable, Sendable {
        /// The state of the attempt.
        public enum Outcome: Hashable, Sendable {
            /// Not answered yet.
            case trying
            /// Failed with this errno.
            case failed(errno: Int32)
            /// This one became the connection.
            case won
            /// Abandoned, because another one won or the connect ended.
            case abandoned
        }

        /// The address.
        public var address: SocketAddress
        /// The state of the attempt.
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

    /// How long the resolver took, or `nil` if it is still running or there was nothing to resolve.
    public var resolvedIn: Duration?
    /// The number of addresses to try.
    public var addressCount: Int
    /// The addresses tried so far, in order.
    public var attempts: [Attempt]
    /// The connect's deadline, or `nil` if it has none or has ended.
    public var deadline: MonotonicTime?

    /// Describes a connect.
    public init(resolvedIn: Duration? = nil, addressCount: Int = 0, attempts: [Attempt] = []) {
        self.resolvedIn = resolvedIn
        self.addressCount = addressCount
        self.attempts = attempts
    }
}
