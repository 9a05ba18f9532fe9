import SocketCore

/// Settings of a datagram socket that outlive its sessions. A change takes effect when its next descriptor is opened:
/// by a bind, a connect or a first send.
public struct DatagramConfiguration: Sendable {
    /// A name for people, shown by the inspector.
    public var name = ""
    /// Whether IPv4 is used (GCDAsyncUdpSocket: `isIPv4Enabled`).
    public var isIPv4Enabled = true
    /// Whether IPv6 is used (GCDAsyncUdpSocket: `isIPv6Enabled`).
    public var isIPv6Enabled = true
    /// Which address of a name with both is taken (GCDAsyncUdpSocket: `setPreferIPv4`, `setPreferIPv6`); nil: the
    /// resolver's first (`setIPVersionNeutral`).
    public var prefersIPv6: Bool?
    /// The longest datagram that may be sent, in bytes; a longer one fails with EMSGSIZE before the kernel sees it
    /// (GCDAsyncUdpSocket: `maxSendBufferSize`). UDP itself ends at 65,507 over IPv4.
    public var maximumSendLength = 65_535
    /// How much is kept of one datagram that is received, in bytes, 1 to 1,048,576; the rest of a longer one is cut off,
    /// which `Datagram.isTruncated` says (GCDAsyncUdpSocket: `maxReceiveIPv4BufferSize`). nil: the longest that UDP has,
    /// and 256 KiB over Unix-domain sockets.
    public var maximumReceiveLength: Int?
    /// What may be queued for sending, in bytes, each datagram counted as 64 more than it holds; a datagram that does
    /// not fit fails with ENOBUFS.
    public var sendQueueLimit = 16 << 20
    /// SO_BROADCAST (GCDAsyncUdpSocket: `setBroadcastEnabled:error:`). Off by default, so that a broadcast is never an
    /// accident: sending to a broadcast address then fails with EACCES. IPv4 only.
    public var isBroadcastEnabled = false
    /// SO_REUSEPORT: several sockets share a port, and the kernel spreads datagrams over them, or gives each a copy of
    /// what goes to a group (GCDAsyncUdpSocket: `enableReusePort:error:`).
    public var reusePort = false
    /// Hops that a datagram to one host may make (IP_TTL); nil: the system's choice.
    public var timeToLive: Int32?
    /// Hops that a datagram to a group may make (IP_MULTICAST_TTL); nil: 1, the local network.
    public var multicastTimeToLive: Int32?
    /// Whether this host too receives what goes to a group (IP_MULTICAST_LOOP).
    public var multicastLoopback = true
    /// The interface by which datagrams to a group leave, by its name or one of its addresses (GCDAsyncUdpSocket:
    /// `sendIPv4MulticastOnInterface:error:`); nil: the system's choice.
    public var multicastInterface: String?
    /// SO_SNDBUF in bytes, as asked for: Linux doubles it and holds it within its limits. nil: the system's.
    public var sendBuffer: Int?
    /// SO_RCVBUF in bytes, likewise. What finds no room there is dropped by the kernel, which counts it.
    public var receiveBuffer: Int?
    /// Called with each descriptor as soon as it was opened: the place to set options that are not named here. It runs
    /// on the engine's queue and must not block. It may use the socket, except to bind or connect it or to change its
    /// options: these are refused with `badConfiguration` until the descriptor is ready.
    public var prepareDescriptor: (@Sendable (Int32) -> Void)?

    /// The defaults above.
    public init() {}
}

extension DatagramConfiguration {
    /// Whether the family of `address` is switched on.
    func allows(_ address: SocketAddress) -> Bool {
        !address.family.isIP || (address.family == .v6 ? isIPv6Enabled : isIPv4Enabled)
    }

    /// The families, as listeners have them.
    var families: SocketConfiguration {
        var configuration = SocketConfiguration()
        configuration.isIPv4Enabled = isIPv4Enabled
        configuration.isIPv6Enabled = isIPv6Enabled
        return configuration
    }

    /// How much is kept of one datagram.
    func receiveLength(_ family: SocketAddress.Family) -> Int {
        let length = maximumReceiveLength ?? family.row.mostReceived
        return min(max(1, length), DatagramInbox.longest)
    }

    /// The options of a new descriptor, in order. Those that the kernel refuses stay at their defaults.
    func options(for address: SocketAddress, multicastInterface index: UInt32?) -> [SocketOption] {
        var list: [SocketOption] = []
        if let sendBuffer { list.append(.sendBuffer(sendBuffer)) }
        if let receiveBuffer { list.append(.receiveBuffer(receiveBuffer)) }
        guard address.family.isIP else { return list }
        let isIPv6 = address.family == .v6
        if reusePort { list.append(.reusePort) }
        if isIPv6 { list.append(.onlyIPv6) } else if isBroadcastEnabled { list.append(.broadcast(true)) }
        list += [.reportsDestination(isIPv6: isIPv6), .ownGroupsOnly(isIPv6: isIPv6)]
        if let timeToLive { list.append(.timeToLive(timeToLive, isIPv6: isIPv6)) }
        if let multicastTimeToLive { list.append(.multicastTimeToLive(multicastTimeToLive, isIPv6: isIPv6)) }
        if !multicastLoopback { list.append(.multicastLoopback(false, isIPv6: isIPv6)) }
        if let index { list.append(.multicastInterface(index, isIPv6: isIPv6)) }
        return list
    }
}
