/// Bytes to be written in order, and how long that may take.
///
/// GCDAsyncSocket: `writeData:withTimeout:tag:`.
public struct WriteRequest: Hashable, Sendable {
    /// The bytes; at least one.
    public var bytes: [UInt8]
    /// How long it may be the write in hand before it times out; nil: for ever. Waiting in the queue does not count.
    public var timeout: Duration?
    /// The caller's own number for it, reported with its completion.
    public var tag: Int

    /// Describes a write; nothing is checked here, but where it is queued.
    public init(_ bytes: [UInt8], timeout: Duration? = nil, tag: Int = 0) {
        self.bytes = bytes
        self.timeout = timeout
        self.tag = tag
    }
}
