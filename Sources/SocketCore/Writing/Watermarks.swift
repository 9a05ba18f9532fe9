/// Bounds of the write queue, in bytes.
public struct Watermarks: Hashable, Sendable, Codable {
    /// At or below it, the socket is writable again.
    public var low: Int
    /// Above it, the socket is not writable.
    public var high: Int

    /// Sets both; a negative `low` counts as 0, and `high` is taken as at least `low`.
    public init(low: Int, high: Int) {
        self.low = max(0, low)
        self.high = max(self.low, high)
    }
}
