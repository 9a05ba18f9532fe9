/// The bounds of the write queue, in bytes.
public struct Watermarks: Hashable, Sendable {
    /// The socket becomes writable again when the queue shrinks to this size.
    public var low: Int
    /// The socket stops being writable when the queue exceeds this size.
    public var high: Int

    /// Sets both. A negative `low` counts as 0, and a `high` below `low` is raised to it.
    public init(low: Int, high: Int) {
        self.low = max(0, low)
        self.high = max(self.low, high)
    }
}
