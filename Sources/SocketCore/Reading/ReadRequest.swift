/// What one read waits for, and for how long.
///
/// GCDAsyncSocket: `readDataWithTimeout:`, `readDataToLength:`, `readDataToData:`.
public struct ReadRequest: Hashable, Sendable {
    /// What the read waits for.
    public var kind: Kind
    /// How long it may be the current read before it times out, or `nil` for no timeout. Time in the queue does not
    /// count.
    public var timeout: Duration?
    /// The caller's own number for the read, reported with its completion.
    public var tag: Int
    /// Whether it stays after it completed, to complete again. A standing read yields to every read that is not
    /// standing, even one queued later, and gives the bytes it had gathered back to that read.
    public var isStanding: Bool
    /// Whether its bytes are only lent: `didBorrow` shows them in place, instead of `didRead` with an array. Works only
    /// for a standing read of kind `available` or `delimiter`; any other is rejected.
    public var lendsBytes: Bool

    /// Describes a read. Its values are checked when it is queued.
    public init(
        _ kind: Kind, timeout: Duration? = nil, tag: Int = 0, isStanding: Bool = false, lendsBytes: Bool = false
    ) {
        self.kind = kind
        self.timeout = timeout
        self.tag = tag
        self.isStanding = isStanding
        self.lendsBytes = lendsBytes
    }

    /// Creates a standing read that lends the bytes that arrive, at most `limit` at a time. If `limit` is `nil`, it
    /// lends what one receive brings, at most 64 KiB.
    public static func borrowing(limit: Int? = nil, timeout: Duration? = nil, tag: Int = 0) -> ReadRequest {
        ReadRequest(.available(limit: limit), timeout: timeout, tag: tag, isStanding: true, lendsBytes: true)
    }

    /// Creates a standing read that lends everything up to and including each occurrence of `terminator`, within
    /// `limit` bytes, or without a limit if that is `nil`. An item that arrives in one receive is lent in place. One
    /// that arrives in pieces is gathered and lent when it is complete.
    public static func borrowing(
        upTo terminator: [UInt8], limit: Int? = nil, timeout: Duration? = nil, tag: Int = 0
    ) -> ReadRequest {
        ReadRequest(
            .delimiter(terminator, limit: limit), timeout: timeout, tag: tag, isStanding: true, lendsBytes: true)
    }
}
