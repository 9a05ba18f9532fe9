/// Bytes to write in order, and how long that may take.
///
/// GCDAsyncSocket: `writeData:withTimeout:tag:`.
public struct WriteRequest: Sendable {
    /// The bytes, at least one. Those of a `ContiguousBytesOwner` are copied on each access.
    public var bytes: [UInt8] {
        get { contents.array }
        set { contents = WriteContents(newValue) }
    }
    /// The bytes, as an array or in the caller's buffer.
    package var contents: WriteContents
    /// How long it may be the current write before it times out, or `nil` for no timeout. Time in the queue does not
    /// count.
    public var timeout: Duration?
    /// The caller's own number for the write, reported with its completion.
    public var tag: Int

    /// Describes a write. Its values are checked when it is queued.
    public init(_ bytes: [UInt8], timeout: Duration? = nil, tag: Int = 0) {
        contents = WriteContents(bytes)
        self.timeout = timeout
        self.tag = tag
    }

    /// Describes a write of bytes that are not copied.
    public init(contentsOf owner: any ContiguousBytesOwner, timeout: Duration? = nil, tag: Int = 0) {
        contents = WriteContents(OwnedBytes(owner))
        self.timeout = timeout
        self.tag = tag
    }
}

extension WriteRequest: Hashable {
    /// Whether both write the same bytes, with the same timeout and tag.
    public static func == (one: WriteRequest, other: WriteRequest) -> Bool {
        one.tag == other.tag && one.timeout == other.timeout && one.bytes == other.bytes
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(tag)
        hasher.combine(timeout)
        hasher.combine(bytes)
    }
}
