/// What a datagram socket has that a stream has not, at one instant.
public struct DatagramSnapshot: Hashable, Sendable, Codable {
    /// What becomes of datagrams that arrive.
    public var mode: DatagramReceiveMode
    /// GCDAsyncUdpSocket's flags, derived.
    public var flags: DatagramFlags
    /// Our ends: one, or one for each family.
    public var locals: [SocketAddress]
    /// Groups joined, as `239.1.2.3 on lo`.
    public var groups: [String]
    /// Numbers over the session's life.
    public var counters: DatagramCounters
    /// What the kernel dropped for want of room (SK_MEMINFO_DROPS), as last asked; nil: never asked.
    public var kernelDrops: UInt64?
    /// The peers with the most datagrams, busiest first; at most `peerLimit`.
    public var peers: [DatagramPeer]
    /// How many peers are known, whether listed or not.
    public var peerCount: Int
    /// Peers that were forgotten for room.
    public var peersForgotten: UInt64
    /// The client whose datagrams it passes on to its peer, if it is an association of a relay.
    public var client: SocketAddress?
    /// The associations of the relay whose clients send to this socket; nil: it is not such a socket.
    public var associations: AssociationCounts?

    /// The most peers that a snapshot lists.
    public static let peerLimit = 16

    /// Describes a socket that has just been opened; set what else is known.
    public init(mode: DatagramReceiveMode = .paused) {
        self.mode = mode
        flags = []
        locals = []
        groups = []
        counters = DatagramCounters()
        peers = []
        peerCount = 0
        peersForgotten = 0
    }
}

/// Numbers of one datagram socket, counted over its life. Every datagram that the kernel gave is in `received`, whatever
/// became of it then.
public struct DatagramCounters: Hashable, Sendable, Codable {
    /// Datagrams taken from the kernel.
    public var received: UInt64 = 0
    /// Datagrams that the kernel took.
    public var sent: UInt64 = 0
    /// Datagrams that were not sent, each reported with its reason.
    public var failed: UInt64 = 0
    /// Of those received: refused by the receive filter.
    public var filteredIn: UInt64 = 0
    /// Of those to be sent: held back by the send filter, and reported as sent.
    public var filteredOut: UInt64 = 0
    /// Of those received: from somebody else than the connected peer.
    public var foreign: UInt64 = 0
    /// Of those received: dropped since nobody fetched those before them (`DatagramSocket.datagrams(limit:)`).
    public var unfetched: UInt64 = 0
    /// Of those received: longer than what is kept of one; their ends were cut off.
    public var truncated: UInt64 = 0
    /// Errors that the kernel reported of datagrams sent earlier, such as port unreachable.
    public var errors: UInt64 = 0

    /// All zero.
    public init() {}

    /// Of those received: dropped on this side of the kernel.
    public var dropped: UInt64 { filteredIn + foreign + unfetched }
}

/// The flags of GCDAsyncUdpSocket, derived from the state so that they can be shown.
public struct DatagramFlags: OptionSet, Hashable, Sendable, Codable {
    /// The flag word.
    public let rawValue: UInt32

    /// Takes a flag word as it is.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// There is a descriptor.
    public static let didCreateSockets = DatagramFlags(rawValue: 1 << 0)
    /// It has an address of its own, by bind or by its first send.
    public static let didBind = DatagramFlags(rawValue: 1 << 1)
    /// A connect is queued.
    public static let connecting = DatagramFlags(rawValue: 1 << 2)
    /// It has one peer.
    public static let didConnect = DatagramFlags(rawValue: 1 << 3)
    /// The next datagram is delivered.
    public static let receiveOnce = DatagramFlags(rawValue: 1 << 4)
    /// Every datagram is delivered.
    public static let receiveContinuous = DatagramFlags(rawValue: 1 << 5)
    /// Bind or connect left IPv4 out.
    public static let ipv4Deactivated = DatagramFlags(rawValue: 1 << 6)
    /// Bind or connect left IPv6 out.
    public static let ipv6Deactivated = DatagramFlags(rawValue: 1 << 7)
    /// Write interest of the IPv4 descriptor is off.
    public static let send4SourceSuspended = DatagramFlags(rawValue: 1 << 8)
    /// Write interest of the IPv6 descriptor is off.
    public static let send6SourceSuspended = DatagramFlags(rawValue: 1 << 9)
    /// Read interest of the IPv4 descriptor is off.
    public static let receive4SourceSuspended = DatagramFlags(rawValue: 1 << 10)
    /// Read interest of the IPv6 descriptor is off.
    public static let receive6SourceSuspended = DatagramFlags(rawValue: 1 << 11)
    /// The IPv4 descriptor had room when last tried.
    public static let sock4CanAcceptBytes = DatagramFlags(rawValue: 1 << 12)
    /// The IPv6 descriptor had room when last tried.
    public static let sock6CanAcceptBytes = DatagramFlags(rawValue: 1 << 13)
    /// It closes when nothing is queued any more.
    public static let closeAfterSends = DatagramFlags(rawValue: 1 << 15)

    /// Every flag with the name that GCDAsyncUdpSocket gave it (without the `k`), lowest bit first. The two that it has
    /// beyond these, ForbidSendReceive (never used) and FlipFlop, have nothing to stand for here.
    public static let names: [(flag: DatagramFlags, name: String)] = [
        (.didCreateSockets, "DidCreateSockets"), (.didBind, "DidBind"), (.connecting, "Connecting"),
        (.didConnect, "DidConnect"), (.receiveOnce, "ReceiveOnce"), (.receiveContinuous, "ReceiveContinuous"),
        (.ipv4Deactivated, "IPv4Deactivated"), (.ipv6Deactivated, "IPv6Deactivated"),
        (.send4SourceSuspended, "Send4SourceSuspended"), (.send6SourceSuspended, "Send6SourceSuspended"),
        (.receive4SourceSuspended, "Receive4SourceSuspended"), (.receive6SourceSuspended, "Receive6SourceSuspended"),
        (.sock4CanAcceptBytes, "Sock4CanAcceptBytes"), (.sock6CanAcceptBytes, "Sock6CanAcceptBytes"),
        (.closeAfterSends, "CloseAfterSends"),
    ]
}
