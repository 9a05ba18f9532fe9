/// How many associations a relay of datagrams has had, and how they ended.
public struct AssociationCounts: Hashable, Sendable, Codable {
    /// Those that there are.
    public var open = 0
    /// All that there ever were.
    public var opened: UInt64 = 0
    /// Those that ended because neither side sent anything for a while.
    public var expired: UInt64 = 0
    /// Those that ended because there was no room for another client.
    public var evicted: UInt64 = 0

    /// All zero.
    public init() {}
}
