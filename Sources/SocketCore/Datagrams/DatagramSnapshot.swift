/// The part of a socket's snapshot that only datagram sockets have.
public struct DatagramSnapshot: Equatable, Sendable {
    /// What happens to datagrams that arrive.
    public var mode: DatagramReceiveMode
    /// GCDAsyncUdpSocket's flags, derived from the state.
    public var flags: DatagramFlags
    /// The local addresses: one, or one per address family.
    public var locals: [SocketAddress]
    /// The joined groups, as `239.1.2.3 on lo`.
    public var groups: [String]
    /// The counters over the session's life.
    public var counters: DatagramCounters
    /// The number of datagrams that the kernel dropped for lack of room (SK_MEMINFO_DROPS) when last queried, or `nil`
    /// if it was never queried.
    public var kernelDrops: UInt64?
    /// The peers with the most datagrams, busiest first, up to `peerLimit`.
    public var peers: [DatagramPeer]
    /// The number of known peers, listed or not.
    public var peerCount: Int
    /// The number of peers that were dropped to make room.
    public var peersForgotten: UInt64
    /// The client whose datagrams it forwards to its peer, if it is an association of a relay.
    public var client: SocketAddress?
    /// The associations of the relay whose clients send to this socket, or `nil` if it isn't such a socket.
    public var associations: AssociationCounts?

    /// The most peers that a snapshot lists.
    public static let peerLimit = 16

    /// Describes a socket that was just opened. Set what else is known.
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

/// The counters of one datagram socket over its life. `received` counts every datagram from the kernel, whatever
/// happened to it afterwards.
public struct DatagramCounters: Equatable, Sendable {
    /// Datagrams received from the kernel.
    public var received: UInt64 = 0
    /// Datagrams that the kernel accepted.
    public var sent: UInt64 = 0
    /// Datagrams that were not sent, each reported with its reason.
    public var failed: UInt64 = 0
    /// Received datagrams that the receive filter rejected.
    public var filteredIn: UInt64 = 0
    /// Outgoing datagrams that the send filter held back. They are reported as sent.
    public var filteredOut: UInt64 = 0
    /// Received datagrams that came from an address other than the connected peer.
    public var foreign: UInt64 = 0
    /// Received datagrams that were dropped because earlier ones had not been fetched
    /// (`DatagramSocket.datagrams(limit:)`).
    public var unfetched: UInt64 = 0
    /// Received datagrams that were truncated because they exceed the maximum length.
    public var truncated: UInt64 = 0
    /// Errors that the kernel reported for datagrams sent earlier, such as port unreachable.
    public var errors: UInt64 = 0

    /// Creates counters that are all zero.
    public init() {}

    /// Received datagrams that were dropped after the kernel delivered them.
    public var dropped: UInt64 { filteredIn + foreign + unfetched }
}

/// The flags of GCDAsyncUdpSocket, derived from the state for display.
public struct DatagramFlags: OptionSet, Hashable, Sendable {
    /// The flag word.
    public let rawValue: UInt32

    /// Creates flags from a flag word, unchanged.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A descriptor exists.
    public static let didCreateSockets = DatagramFlags(rawValue: 1 << 0)
    /// The socket has a local address, from bind or from its first send.
    public static let didBind = DatagramFlags(rawValue: 1 << 1)
    /// A connect is queued.
    public static let connecting = DatagramFlags(rawValue: 1 << 2)
    /// The socket is connected to one peer.
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
    /// The IPv4 descriptor had room at the last attempt to send.
    public static let sock4CanAcceptBytes = DatagramFlags(rawValue: 1 << 12)
    /// The IPv6 descriptor had room at the last attempt to send.
    public static let sock6CanAcceptBytes = DatagramFlags(rawValue: 1 << 13)
    /// The socket closes once its queue is empty.
    public static let closeAfterSends = DatagramFlags(rawValue: 1 << 15)

    /// Every flag with its GCDAsyncUdpSocket name (without the `k`), lowest bit first. GCDAsyncUdpSocket has two more,
    /// ForbidSendReceive (never used) and FlipFlop, which have no counterpart here.
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
