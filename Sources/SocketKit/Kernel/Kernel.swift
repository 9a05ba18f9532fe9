import SocketCore

/// What a call that moves bytes came to.
package enum IOResult: Equatable {
    /// So many bytes; of a receive, 0 is the end of the stream.
    case bytes(Int)
    /// Nothing can be moved now. Never an error.
    case wouldBlock
    case failed(errno: Int32)
}

/// What accept came to.
package enum AcceptResult: Equatable {
    case accepted(Int32, peer: SocketAddress)
    case wouldBlock
    case failed(errno: Int32)
}

/// What can be set on a socket.
package enum SocketOption: Equatable {
    case reuseAddress
    /// The IPv6 socket of a pair leaves IPv4 to the other one (IPV6_V6ONLY).
    case onlyIPv6
    case noDelay
    /// Bytes, as asked for; the kernel doubles them and holds them within its limits.
    case sendBuffer(Int)
    case receiveBuffer(Int)
    /// Seconds of silence, seconds between probes, and how many of them.
    case keepAlive(idle: Int32, interval: Int32, count: Int32)
    case reusePort
    /// Datagrams may go to the broadcast address (SO_BROADCAST).
    case broadcast(Bool)
    /// Each datagram comes with its destination and interface (IP_PKTINFO).
    case reportsDestination(isIPv6: Bool)
    /// Only groups that this socket joined are received (IP_MULTICAST_ALL off).
    case ownGroupsOnly(isIPv6: Bool)
    /// Hops that a datagram may make: to one host, and to a group.
    case timeToLive(Int32, isIPv6: Bool)
    case multicastTimeToLive(Int32, isIPv6: Bool)
    /// Whether what goes to a group is also received on this host.
    case multicastLoopback(Bool, isIPv6: Bool)
    /// The index of the interface by which multicast leaves.
    case multicastInterface(UInt32, isIPv6: Bool)
    /// Joins or leaves a group on an interface (its index; 0: the system's choice).
    case joinGroup(SocketAddress, interface: UInt32)
    case leaveGroup(SocketAddress, interface: UInt32)
    /// close() sends RST and throws away what is queued (SO_LINGER, 0 s).
    case resetOnClose
}

/// The seam through which every system call on a socket goes, so that tests can record calls and force errors.
///
/// Implementations retry EINTR, and trap on errnos that can only be a fault of ours (EBADF, EFAULT). Calls that return
/// a bare `Int32` return 0 or an errno. Descriptors are made non-blocking and close-on-exec.
package protocol Kernel: AnyObject, Sendable {
    /// socket(2) for the family of `address`, as a stream; the descriptor, or the errno as a failure.
    func openStream(for address: SocketAddress) -> IOResult
    func bind(_ descriptor: Int32, to address: SocketAddress) -> Int32
    func listen(_ descriptor: Int32, backlog: Int32) -> Int32
    func connect(_ descriptor: Int32, to address: SocketAddress) -> Int32
    /// SO_ERROR: how a connect that was in progress ended.
    func pendingError(_ descriptor: Int32) -> Int32
    /// Throws away what waits in the error queue (recvmsg with MSG_ERRQUEUE).
    func drainErrorQueue(_ descriptor: Int32)
    func accept(_ listener: Int32) -> AcceptResult
    func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, peek: Bool) -> IOResult
    func send(_ descriptor: Int32, _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> IOResult
    func shutdownWrite(_ descriptor: Int32) -> Int32
    func close(_ descriptor: Int32)
    func set(_ option: SocketOption, on descriptor: Int32) -> Int32
    func makeNonBlocking(_ descriptor: Int32) -> Int32
    func localAddress(_ descriptor: Int32) -> SocketAddress?
    func peerAddress(_ descriptor: Int32) -> SocketAddress?
    /// Whether it listens (SO_ACCEPTCONN).
    func isListening(_ descriptor: Int32) -> Bool
    /// Whether it is a stream socket (SO_TYPE).
    func isStream(_ descriptor: Int32) -> Bool
    /// socket(2) for the family of `address`, for datagrams; the descriptor, or the errno as a failure.
    func openDatagram(for address: SocketAddress) -> IOResult
    /// Receives at most `most` datagrams, of each no more than `limit` bytes, into `inbox`; how many.
    func receiveDatagrams(_ descriptor: Int32, into inbox: DatagramInbox, most: Int, limit: Int) -> IOResult
    /// Sends datagrams in order; how many the kernel took. A failure is that of the first.
    func sendDatagrams(_ descriptor: Int32, _ datagrams: UnsafeBufferPointer<OutgoingDatagram>) -> IOResult
    /// Ends the connection of a datagram socket.
    func dissolve(_ descriptor: Int32) -> Int32
    /// What the kernel says of a datagram socket.
    func describeDatagrams(_ descriptor: Int32) -> KernelSnapshot
    /// What the kernel says of a socket that `isTCP` or is of the Unix domain.
    func describe(_ descriptor: Int32, isTCP: Bool) -> KernelSnapshot
    /// Removes a socket file; anything else at that path stays. 0, or an errno (ENOTSOCK: it is something else).
    func removeSocketFile(_ path: String) -> Int32
}

extension Kernel {
    package func drainErrorQueue(_ descriptor: Int32) {}

    /// None does.
    package func isListening(_ descriptor: Int32) -> Bool { false }
}
