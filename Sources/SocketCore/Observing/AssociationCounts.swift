/// The associations of a datagram relay, and how they ended.
public struct AssociationCounts: Equatable, Sendable {
    /// Those open now.
    public var open = 0
    /// Those opened in all.
    public var opened: UInt64 = 0
    /// Those that ended because both sides were silent for a while.
    public var expired: UInt64 = 0
    /// Those that ended because there was no room for another client.
    public var evicted: UInt64 = 0

    /// Creates counts that are all 0.
    public init() {}
}
