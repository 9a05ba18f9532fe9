/// What the kernel says of a connection by Multipath TCP (RFC 8684), whose data waits in queues of its own: its subflows
/// pass on at once what they receive.
package struct HostMultipath: Equatable, Sendable {
    /// The two ends of a subflow.
    package struct Ends: Hashable, Sendable {
        package var local: SocketAddress?
        package var peer: SocketAddress?

        package init(_ socket: HostSocket) { (local, peer) = (socket.local, socket.peer) }
    }

    /// The connection's own queues: memory, with the kernel's overhead, of what its program has not read, and the bytes
    /// that the peer has not acknowledged.
    package var receiveQueue: Int64
    package var sendQueue: Int64
    /// The ends of its first subflow, which stay the connection's after that subflow has ended.
    package var ends: Ends?
    /// The connection's own counters, or `nil` if the kernel (before Linux 6.5) has none or the connection fell back to
    /// TCP. They count no byte twice, whatever became of its subflows.
    package var counters: Counters?
    /// The ends of its subflows, except the one that shows the connection.
    package fileprivate(set) var others: [Ends] = []
    /// What the subflow that shows the connection says of itself.
    fileprivate var own = Own()

    package struct Counters: Equatable, Sendable {
        package var sent: UInt64
        package var received: UInt64
        package var acknowledged: UInt64

        package init(sent: UInt64, received: UInt64, acknowledged: UInt64) {
            (self.sent, self.received, self.acknowledged) = (sent, received, acknowledged)
        }
    }

    fileprivate struct Own: Equatable {
        var receiveQueue: Int64?
        var sendQueue: Int64?
        var counters: [UInt64?] = []
    }

    package init(receiveQueue: Int64, sendQueue: Int64) {
        (self.receiveQueue, self.sendQueue) = (receiveQueue, sendQueue)
    }

    package static func == (one: HostMultipath, other: HostMultipath) -> Bool {
        (one.receiveQueue, one.sendQueue) == (other.receiveQueue, other.sendQueue)
            && one.counters == other.counters && one.others == other.others
    }

    /// Reads a connection from one message of a table's dump. Returns `nil` for a listener, whose queue its subflow has.
    package static func connection(
        _ bytes: RawSpan, _ message: Range<Int>, of table: SocketTable, time: MonotonicTime
    ) -> (inode: UInt64, facts: HostMultipath)? {
        guard table.isMultipath, let socket = HostSocket(bytes, message, of: table, time: time), !socket.isListening,
            socket.inode != 0, let receiveQueue = socket.receiveQueue
        else { return nil }
        var facts = HostMultipath(receiveQueue: receiveQueue, sendQueue: socket.sendQueue ?? 0)
        facts.ends = Ends(socket)
        var offset = message.lowerBound + 72
        while let found = NetlinkAttribute.next(in: bytes, at: &offset, end: message.upperBound) {
            if found.type == HostSocket.InternetAttribute.tcp.rawValue { facts.read(bytes, found.content) }
        }
        return (socket.inode, facts)
    }

    /// Reads `struct mptcp_info` (linux/mptcp.h). `mptcpi_write_seq - mptcpi_snd_una` is bytes, where the socket's own send
    /// queue is memory.
    private mutating func read(_ bytes: RawSpan, _ info: Range<Int>) {
        if let written = bytes.u64(16, in: info), let acknowledged = bytes.u64(24, in: info),
            case let unsent = written &- acknowledged, unsent < 1 << 40
        {
            sendQueue = Int64(unsent)
        }
        // MPTCP_INFO_FLAG_FALLBACK
        guard let flags = bytes.u32(8, in: info), flags & 1 == 0, let sent = bytes.u64(56, in: info),
            let received = bytes.u64(64, in: info), let acknowledged = bytes.u64(72, in: info)
        else { return }
        counters = Counters(sent: sent, received: received, acknowledged: acknowledged)
    }
}

extension HostSocket {
    /// Makes it show its Multipath TCP connection with the other subflows of that, or itself again.
    package mutating func absorb(_ connection: HostMultipath?, others: [HostSocket] = []) {
        if let own = multipath?.own {
            (receiveQueue, sendQueue) = (own.receiveQueue, own.sendQueue)
            tcp?.counters = own.counters
        }
        multipath = nil
        guard var connection else { return }
        connection.own = HostMultipath.Own(
            receiveQueue: receiveQueue, sendQueue: sendQueue, counters: tcp?.counters ?? [])
        connection.others = others.map(HostMultipath.Ends.init)
        receiveQueue = ([self] + others).reduce(connection.receiveQueue) { $0 + ($1.receiveQueue ?? 0) }
        sendQueue = ([self] + others).reduce(connection.sendQueue) { max($0, $1.sendQueue ?? 0) }
        tcp?.join(others.compactMap(\.tcp), connection.counters, hasEnd: state.countsFINReceived)
        multipath = connection
    }
}

extension HostTCP {
    /// What the subflows of a connection add up to.
    fileprivate var counters: [UInt64?] {
        get { [sent, received, acknowledged, retransmittedBytes] }
        set {
            guard newValue.count == 4 else { return }
            (sent, received, acknowledged, retransmittedBytes) = (newValue[0], newValue[1], newValue[2], newValue[3])
        }
    }

    /// Adds other subflows of the same connection. Only the counters of a subflow count a FIN as a byte.
    fileprivate mutating func join(_ others: [HostTCP], _ connection: HostMultipath.Counters?, hasEnd: Bool) {
        for other in others {
            counters = zip(counters, other.counters).map { one, other in one.flatMap { one in other.map { one &+ $0 } }
            }
            lastSent = Self.latest(lastSent, other.lastSent)
            lastReceived = Self.latest(lastReceived, other.lastReceived)
            lastAcknowledged = Self.latest(lastAcknowledged, other.lastAcknowledged)
        }
        guard let connection else { return }
        sent = connection.sent &+ (retransmittedBytes ?? 0)
        received = connection.received &+ (hasEnd ? 1 : 0)
        acknowledged = connection.acknowledged
    }

    private static func latest(_ one: Duration?, _ other: Duration?) -> Duration? {
        one.flatMap { one in other.map { min(one, $0) } } ?? one ?? other
    }
}
