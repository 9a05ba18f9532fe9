import SocketCore

/// Settings of a datagram socket that outlive its sessions. A change takes effect when the next descriptor is opened by
/// a bind, a connect or a first send.
public struct DatagramConfiguration: Sendable {
    /// A display name, shown by the inspector.
    public var name = ""
    /// Whether IPv4 is used (GCDAsyncUdpSocket: `isIPv4Enabled`).
    public var isIPv4Enabled = true
    /// Whether IPv6 is used (GCDAsyncUdpSocket: `isIPv6Enabled`).
    public var isIPv6Enabled = true
    /// Whether IPv6 is preferred for a name with both (GCDAsyncUdpSocket: `setPreferIPv4`, `setPreferIPv6`), or `nil`
    /// for the resolver's first (`setIPVersionNeutral`).
    public var prefersIPv6: Bool?
    /// The longest datagram that can be sent, in bytes. A longer one fails with EMSGSIZE before it reaches the kernel
    /// (GCDAsyncUdpSocket: `maxSendBufferSize`). UDP itself ends at 65,507 over IPv4.
    public var maximumSendLength = 65_535
    /// How many bytes of a received datagram are kept, from 1 to 1,048,576. A longer one is cut off and marked by
    /// `Datagram.isTruncated` (GCDAsyncUdpSocket: `maxReceiveIPv4BufferSize`). `nil` means UDP's longest datagram, and
    /// 256 KiB over Unix-domain sockets.
    public var maximumReceiveLength: Int?
    /// How many bytes can be queued for sending, where each datagram counts 64 more than it holds. A datagram that
    /// doesn't fit fails with ENOBUFS.
    public var sendQueueLimit = 16 << 20
    /// Whether broadcasts are allowed, by SO_BROADCAST (GCDAsyncUdpSocket: `setBroadcastEnabled:error:`). Off by
    /// default, so that a broadcast is never an accident: sending to a broadcast address then fails with EACCES. IPv4
    /// only.
    public var isBroadcastEnabled = false
    /// Whether several sockets can share a port (SO_REUSEPORT). The kernel spreads datagrams over them, or gives each a
    /// copy of a datagram to a group (GCDAsyncUdpSocket: `enableReusePort:error:`).
    public var reusePort = false
    /// How many hops a datagram to one host can make (IP_TTL), or `nil` for the system's choice.
    public var timeToLive: Int32?
    /// How many hops a datagram to a group can make (IP_MULTICAST_TTL), or `nil` for 1, the local network.
    public var multicastTimeToLive: Int32?
    /// Whether this host also receives what it sends to a group (IP_MULTICAST_LOOP).
    public var multicastLoopback = true
    /// The interface for datagrams to a group, by its name or one of its addresses (GCDAsyncUdpSocket:
    /// `sendIPv4MulticastOnInterface:error:`), or `nil` for the system's choice.
    public var multicastInterface: String?
    /// The requested SO_SNDBUF in bytes, or `nil` for the system's default. Linux doubles it and clamps it to its
    /// limits.
    public var sendBuffer: Int?
    /// The requested SO_RCVBUF in bytes, or `nil` for the system's default. Linux doubles it and clamps it to its
    /// limits. The kernel drops and counts datagrams that don't fit.
    public var receiveBuffer: Int?
    /// Called with each descriptor as soon as it is opened. Use it to set options that have no API here. It runs on the
    /// engine's queue and must not block. It can use the socket, except to bind or connect it or to change its options,
    /// which is refused with `badConfiguration` until the descriptor is ready.
    public var prepareDescriptor: (@Sendable (Int32) -> Void)?

    /// Creates the default configuration.
    public init() {}
}

extension DatagramConfiguration {
    /// Whether the family of `address` is enabled.
    func allows(_ address: SocketAddress) -> Bool {
        !address.family.isIP || (address.family == .v6 ? isIPv6Enabled : isIPv4Enabled)
    }

    /// The enabled families, in the form that listeners use.
    var families: SocketConfiguration {
        var configuration = SocketConfiguration()
        configuration.isIPv4Enabled = isIPv4Enabled
        configuration.isIPv6Enabled = isIPv6Enabled
        return configuration
    }

    func receiveLength(_ family: SocketAddress.Family) -> Int {
        let length = maximumReceiveLength ?? family.row.mostReceived
        return min(max(1, length), DatagramInbox.longest)
    }

    /// Returns the options of a new descriptor, in order. Those that the kernel refuses keep their defaults.
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
