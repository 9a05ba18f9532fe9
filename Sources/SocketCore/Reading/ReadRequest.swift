/// What one read waits for, and for how long.
///
/// GCDAsyncSocket: `readDataWithTimeout:`, `readDataToLength:`, `readDataToData:`.
public struct ReadRequest: Hashable, Sendable, Codable {
    /// What the read waits for.
    public var kind: Kind
    /// How long it may be the read in hand before it times out; nil: for ever. Waiting in the queue does not count.
    public var timeout: Duration?
    /// The caller's own number for it, reported with its completion.
    public var tag: Int
    /// Whether it stays after it completed, to complete again. A standing read is the filler: it waits behind every
    /// read that is not standing, also one queued later, and gives back to that one what it had gathered.
    public var isStanding: Bool
    /// Whether its bytes are only lent: `didBorrow` shows them where they are, instead of `didRead` with an array of
    /// them. For a standing read of kind `available` or `delimiter`; any other is refused.
    public var lendsBytes: Bool

    /// Describes a read; nothing is checked here, but where it is queued.
    public init(
        _ kind: Kind, timeout: Duration? = nil, tag: Int = 0, isStanding: Bool = false, lendsBytes: Bool = false
    ) {
        self.kind = kind
        self.timeout = timeout
        self.tag = tag
        self.isStanding = isStanding
        self.lendsBytes = lendsBytes
    }

    /// The standing read that lends whatever comes, at most `limit` bytes at a time (nil: as many as one receive
    /// brings, at most 64 KiB).
    public static func borrowing(limit: Int? = nil, timeout: Duration? = nil, tag: Int = 0) -> ReadRequest {
        ReadRequest(.available(limit: limit), timeout: timeout, tag: tag, isStanding: true, lendsBytes: true)
    }

    /// The standing read that lends everything up to and including each occurrence of `terminator`, within `limit` bytes
    /// (nil: no limit). An item that comes in one receive is shown where it is; one that comes in pieces is gathered, and
    /// shown when it is whole.
    public static func borrowing(
        upTo terminator: [UInt8], limit: Int? = nil, timeout: Duration? = nil, tag: Int = 0
    ) -> ReadRequest {
        ReadRequest(
            .delimiter(terminator, limit: limit), timeout: timeout, tag: tag, isStanding: true, lendsBytes: true)
    }
}
