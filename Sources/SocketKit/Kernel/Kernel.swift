import SocketCore

/// The result of a call that moves bytes.
package enum IOResult: Equatable {
    /// The number of bytes. From a receive, 0 is the end of the stream.
    case bytes(Int)
    /// No bytes can be moved now. This is never an error.
    case wouldBlock
    case failed(errno: Int32)
}

/// The result of accept.
package enum AcceptResult: Equatable {
    case accepted(Int32, peer: SocketAddress)
    case wouldBlock
    case failed(errno: Int32)
}

/// An option of a socket.
package enum SocketOption: Equatable {
    case reuseAddress
    /// The IPv6 socket of a pair leaves IPv4 to the other one (IPV6_V6ONLY).
    case onlyIPv6
    case noDelay
    /// Urgent data comes with the other bytes (SO_OOBINLINE).
    case urgentInLine
    /// The requested size in bytes. The kernel doubles it and clamps it to its limits.
    case sendBuffer(Int)
    case receiveBuffer(Int)
    /// The seconds of silence before the first probe, the seconds between probes, and the number of probes.
    case keepAlive(idle: Int32, interval: Int32, count: Int32)
    case reusePort
    /// Whether datagrams may go to the broadcast address (SO_BROADCAST).
    case broadcast(Bool)
    /// Each datagram comes with its destination and interface (IP_PKTINFO).
    case reportsDestination(isIPv6: Bool)
    /// Only groups that this socket joined are received (IP_MULTICAST_ALL off).
    case ownGroupsOnly(isIPv6: Bool)
    /// The most hops of a datagram: to one host, and to a group.
    case timeToLive(Int32, isIPv6: Bool)
    case multicastTimeToLive(Int32, isIPv6: Bool)
    /// Whether datagrams to a group are also received on this host.
    case multicastLoopback(Bool, isIPv6: Bool)
    /// The index of the interface that multicast is sent on.
    case multicastInterface(UInt32, isIPv6: Bool)
    /// Joins or leaves a group on an interface, which is given by its index, or 0 for the system's choice.
    case joinGroup(SocketAddress, interface: UInt32)
    case leaveGroup(SocketAddress, interface: UInt32)
    /// Makes close() send RST and discard what is queued (SO_LINGER, 0 s).
    case resetOnClose
}

/// The interface for all system calls on sockets, so that tests can record calls and force errors.
///
/// Implementations retry EINTR, and trap on errnos that only a bug of ours can cause (EBADF, EFAULT). Calls that return
/// a bare `Int32` return 0 or an errno. Descriptors are made non-blocking and close-on-exec.
package protocol Kernel: AnyObject, Sendable {
    /// Opens a stream socket for the family of `address` (socket(2)). Returns the descriptor, or the errno as a
    /// failure.
    func openStream(for address: SocketAddress) -> IOResult
    func bind(_ descriptor: Int32, to address: SocketAddress) -> Int32
    func listen(_ descriptor: Int32, backlog: Int32) -> Int32
    func connect(_ descriptor: Int32, to address: SocketAddress) -> Int32
    /// Returns SO_ERROR: how a connect that was in progress ended.
    func pendingError(_ descriptor: Int32) -> Int32
    /// Discards what waits in the error queue (recvmsg with MSG_ERRQUEUE).
    func drainErrorQueue(_ descriptor: Int32)
    func accept(_ listener: Int32) -> AcceptResult
    func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, peek: Bool) -> IOResult
    /// Whether the next byte to receive is the peer's urgent one (SIOCATMARK).
    func isAtUrgentMark(_ descriptor: Int32) -> Bool
    func send(_ descriptor: Int32, _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> IOResult
    func shutdownWrite(_ descriptor: Int32) -> Int32
    func close(_ descriptor: Int32)
    func set(_ option: SocketOption, on descriptor: Int32) -> Int32
    func makeNonBlocking(_ descriptor: Int32) -> Int32
    func localAddress(_ descriptor: Int32) -> SocketAddress?
    func peerAddress(_ descriptor: Int32) -> SocketAddress?
    /// Whether the socket listens (SO_ACCEPTCONN).
    func isListening(_ descriptor: Int32) -> Bool
    /// Whether the socket is a stream socket (SO_TYPE).
    func isStream(_ descriptor: Int32) -> Bool
    /// Opens a datagram socket for the family of `address` (socket(2)). Returns the descriptor, or the errno as a
    /// failure.
    func openDatagram(for address: SocketAddress) -> IOResult
    /// Receives at most `most` datagrams into `inbox`, and no more than `limit` bytes of each. Returns their number.
    func receiveDatagrams(_ descriptor: Int32, into inbox: DatagramInbox, most: Int, limit: Int) -> IOResult
    /// Sends datagrams in order. Returns the number that the kernel accepted. A failure is that of the first.
    func sendDatagrams(_ descriptor: Int32, _ datagrams: UnsafeBufferPointer<OutgoingDatagram>) -> IOResult
    /// Ends the connection of a datagram socket.
    func dissolve(_ descriptor: Int32) -> Int32
    /// Returns what the kernel reports about a datagram socket.
    func describeDatagrams(_ descriptor: Int32) -> KernelSnapshot
    /// Returns what the kernel reports about a TCP socket (`isTCP`) or a Unix-domain socket.
    func describe(_ descriptor: Int32, isTCP: Bool) -> KernelSnapshot
    /// Removes a socket file, but nothing else at that path. Returns 0, or an errno (ENOTSOCK for something else).
    func removeSocketFile(_ path: String) -> Int32
}

extension Kernel {
    package func drainErrorQueue(_ descriptor: Int32) {}

    /// Defaults to `false`.
    package func isAtUrgentMark(_ descriptor: Int32) -> Bool { false }

    /// Defaults to `false`.
    package func isListening(_ descriptor: Int32) -> Bool { false }
}
