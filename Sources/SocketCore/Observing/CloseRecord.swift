/// How a session ended.
public struct CloseRecord: Hashable, Sendable, Codable {
    /// When its descriptor was closed.
    public var time: MonotonicTime
    /// Why; nil when this side asked for it.
    public var error: SocketError?
    /// How this side asked for it; nil when it did not.
    public var mode: CloseMode?
    /// Reads that ended without completing; a standing one does not count.
    public var readsLost: Int
    /// Writes that ended without completing.
    public var writesLost: Int
    /// Bytes that were received but not delivered by any read.
    public var unreadBytes: Int

    /// Describes an ending.
    public init(
        time: MonotonicTime, error: SocketError? = nil, mode: CloseMode? = nil, readsLost: Int = 0,
        writesLost: Int = 0, unreadBytes: Int = 0
    ) {
        self.time = time
        self.error = error
        self.mode = mode
        self.readsLost = readsLost
        self.writesLost = writesLost
        self.unreadBytes = unreadBytes
    }
}
