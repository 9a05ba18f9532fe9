/// The transport of a socket of the host.
package enum HostTransport: String, Equatable, Sendable, CaseIterable {
    case tcp
    case udp
    case unixStream
    case unixDatagram
    case unixPacket

    package var isUnix: Bool { self != .tcp && self != .udp }
    /// Whether a connection has an order and an end. Datagrams have neither.
    package var isStream: Bool { self == .tcp || self == .unixStream || self == .unixPacket }
}

/// The state of a socket by the kernel's number (`enum` in tcp_states.h), which is also used for UDP and Unix sockets.
package enum HostState: UInt8, Equatable, Sendable, CaseIterable {
    case established = 1
    case synSent
    case synReceived
    case finWait1
    case finWait2
    case timeWait
    case closed
    case closeWait
    case lastAck
    case listening
    case closing
    case newSynReceived

    /// Whether the receive queue counts the peer's FIN as one byte until the program has read the end of stream.
    package var countsFINReceived: Bool { self == .closeWait || self == .lastAck || self == .closing }
    /// Whether the send queue counts the local SYN or FIN as one byte.
    package var countsFlagSent: Bool {
        self == .synSent || self == .finWait1 || self == .closing || self == .lastAck
    }
}

/// A socket of any program of this host, as sock_diag(7) reported it at one instant.
package struct HostSocket: Equatable, Sendable, Identifiable {
    /// The kernel's cookie, with the namespace in its upper bits. No other socket has had it since the host booted,
    /// whereas addresses, ports and inodes are reused.
    package var id: UInt64
    /// The ordinal of its network namespace, 0 for the viewer's own.
    package var namespace: UInt16 = 0
    package var transport: HostTransport
    package var state: HostState
    /// When the kernel reported this.
    package var time: MonotonicTime
    package var local: SocketAddress?
    package var peer: SocketAddress?
    /// The inode, or 0 if no descriptor refers to it because it waits to be accepted or its program has closed it.
    package var inode: UInt64
    package var user: UInt32
    /// The kernel's own numbers, as `ss` shows them, or `nil` if not reported. They are bytes. For a listener they are
    /// the number and the limit of waiting connections. For a Unix-domain socket the send queue is memory, not bytes.
    package var receiveQueue: Int64?
    package var sendQueue: Int64?
    /// SHUT_RD is bit 0, SHUT_WR bit 1.
    package var shutdown: UInt8 = 0
    /// The running timer (`idiag_timer`: 0 none, 1 retransmit, 2 keepalive, 3 TIME-WAIT, 4 zero-window probe), and the
    /// number of tries.
    package var timer: UInt8 = 0
    package var retransmits: UInt8 = 0
    package var timerExpires: Duration?
    /// The interface it is bound to, or 0 for none.
    package var interface: UInt32 = 0
    /// For a Unix-domain socket, the inode of the other end, or 0 for none.
    package var peerInode: UInt64 = 0
    /// For a Unix-domain socket that waits to be accepted, the inode of the listener, or 0. The other end is not there
    /// yet, and several listeners may have had the listener's name.
    package var listenerInode: UInt64 = 0
    package var cgroup: UInt64?
    package var congestion: String?
    package var tcp: HostTCP?
    package var memory: HostMemory?
    /// The Multipath TCP connection that it shows, of which it is a subflow, or `nil` for any other socket.
    @Rare package var multipath: HostMultipath? = nil

    package init(
        id: UInt64, _ transport: HostTransport, _ state: HostState, time: MonotonicTime, inode: UInt64, user: UInt32 = 0
    ) {
        (self.id, self.transport, self.state, self.time) = (id, transport, state, time)
        (self.inode, self.user) = (inode, user)
    }

    package var isListening: Bool { state == .listening }

    /// Whether nothing waits in it and nothing ends, so that only rules about datagrams or inherited sockets can apply.
    package var isQuiet: Bool {
        switch state {
        case .timeWait: return true
        case .listening: return receiveQueue ?? 0 == 0
        case .established, .closed: break
        default: return false
        }
        return inode != 0 && unread ?? 0 == 0 && unsent ?? 0 == 0 && retransmits == 0 && tcp?.tries ?? 0 == 0
    }

    /// The number of bytes its program has not read, or `nil` for a listener, for Unix datagrams, or if not known. Of
    /// Unix datagrams the kernel reports only the length of the first one, which may be empty.
    package var unread: Int64? {
        guard !isListening, let receiveQueue, transport != .unixDatagram else { return nil }
        return countsBytes && state.countsFINReceived ? max(0, receiveQueue - 1) : receiveQueue
    }

    /// The number of bytes the peer has not acknowledged, or `nil` for a listener, or if not known.
    package var unsent: Int64? {
        guard !isListening, let sendQueue else { return nil }
        return countsBytes && state.countsFlagSent ? max(0, sendQueue - 1) : sendQueue
    }

    /// Whether its queues are sequence numbers apart, so that they count a SYN and a FIN, and reads can be told from
    /// arrivals.
    package var countsBytes: Bool { transport == .tcp && _multipath.isEmpty }

    /// The number of bytes that came in order, or `nil` if not known. `tcpi_bytes_received` counts the peer's FIN.
    package var receivedBytes: UInt64? {
        guard let received = tcp?.received else { return nil }
        return state.countsFINReceived && received > 0 ? received - 1 : received
    }

    /// The number of bytes that were sent at least once, or `nil` if not known. `tcpi_bytes_acked` would count the SYN
    /// and the FIN; it serves where the kernel (before Linux 4.19) doesn't count what was sent.
    package var sentBytes: UInt64? {
        guard let sent = tcp?.sent, let again = tcp?.retransmittedBytes else { return tcp?.acknowledged }
        return sent >= again ? sent - again : sent
    }

    /// The number of bytes its program has read since it was opened, or one more. Both raw numbers count a FIN, so raw
    /// is subtracted from raw.
    package var consumed: UInt64? {
        guard countsBytes, let received = tcp?.received, let receiveQueue else { return nil }
        return received &- UInt64(max(0, receiveQueue))
    }
}

/// The part of `struct tcp_info` that is used. Fields that this kernel didn't fill in are `nil`.
package struct HostTCP: Equatable, Sendable {
    /// How long ago, by the kernel's millisecond clock.
    package var lastSent: Duration?
    package var lastReceived: Duration?
    package var lastAcknowledged: Duration?
    package var roundTrip: Duration?
    package var congestionWindow: UInt32?
    package var retransmitted: UInt32?
    /// Unanswered retransmissions (`tcpi_retransmits`), zero-window probes, and doublings of the timer.
    package var tries: UInt8 = 0
    package var probes: UInt8 = 0
    package var backoff: UInt8 = 0
    package var acknowledged: UInt64?
    package var received: UInt64?
    package var sent: UInt64?
    package var retransmittedBytes: UInt64?
    package var notSent: UInt32?
    /// How long the peer's window, and the local buffer, have limited sending.
    package var windowLimited: Duration?
    package var bufferLimited: Duration?
    /// The window offered by the peer, and the one offered to it.
    package var sendWindow: UInt32?
    package var receiveWindow: UInt32?

    package init() {}
}

/// The part of SK_MEMINFO that is used.
package struct HostMemory: Equatable, Sendable {
    package var received: UInt32
    package var receiveBuffer: UInt32
    package var sent: UInt32
    package var sendBuffer: UInt32
    package var drops: UInt32

    package init(received: UInt32, receiveBuffer: UInt32, sent: UInt32, sendBuffer: UInt32, drops: UInt32) {
        (self.received, self.receiveBuffer, self.sent) = (received, receiveBuffer, sent)
        (self.sendBuffer, self.drops) = (sendBuffer, drops)
    }
}
