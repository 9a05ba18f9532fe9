/// A type of the neighbor's.
public struct Frame: Sendable {
    /// Creates a frame.
    public init() {}
}
