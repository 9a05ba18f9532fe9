/// One leg of a relayed connection, as far as it differs from other connections.
public struct RelaySnapshot: Hashable, Sendable, Codable {
    /// Bytes for the peer of this leg that could not be delivered: the peer, or the sender, was gone. Bytes that the
    /// kernel had taken are not among them.
    public var lostBytes: UInt64
    /// Whether the other leg is over.
    public var isOtherGone: Bool
    /// Whether the server got the client's request with another head, as an HTTP proxy must forward it.
    public var isHeadRewritten: Bool

    /// Describes a leg.
    public init(lostBytes: UInt64 = 0, isOtherGone: Bool = false, isHeadRewritten: Bool = false) {
        self.lostBytes = lostBytes
        self.isOtherGone = isOtherGone
        self.isHeadRewritten = isHeadRewritten
    }
}
