/// How a session ended.
public struct CloseRecord: Equatable, Sendable {
    /// When its descriptor was closed.
    public var time: MonotonicTime
    /// The reason, or `nil` if the local side requested the close.
    public var error: SocketError?
    /// The mode in which the local side requested the close, or `nil` if it did not.
    public var mode: CloseMode?
    /// Reads that ended without completing. A standing read does not count.
    public var readsLost: Int
    /// Writes that ended without completing.
    public var writesLost: Int
    /// Bytes that were received but not delivered.
    public var unreadBytes: Int

    /// Describes the end of a session.
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
