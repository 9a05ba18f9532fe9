/// The values that only a leg of a relayed connection has.
public struct RelaySnapshot: Equatable, Sendable {
    /// Bytes for this leg's peer that could not be delivered because the peer or the sender was gone. Bytes that the
    /// kernel had accepted do not count.
    public var lostBytes: UInt64
    /// Whether the other leg has ended.
    public var isOtherGone: Bool
    /// Whether the client's request was forwarded to the server with a rewritten head, as an HTTP proxy must do.
    public var isHeadRewritten: Bool

    /// Describes a leg.
    public init(lostBytes: UInt64 = 0, isOtherGone: Bool = false, isHeadRewritten: Bool = false) {
        self.lostBytes = lostBytes
        self.isOtherGone = isOtherGone
        self.isHeadRewritten = isHeadRewritten
    }
}
