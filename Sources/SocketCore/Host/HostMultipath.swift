/// What the kernel says of a connection by Multipath TCP (RFC 8684), whose data waits in queues of its own: its subflows
/// pass on at once what they receive.
package struct HostMultipath: Equatable, Sendable {
    /// The connection's own queues: memory, with the kernel's overhead, of what its program has not read, and the bytes
    /// that the peer has not acknowledged.
    package var receiveQueue: Int64
    package var sendQueue: Int64
    /// The queues of the first subflow, which hold what the connection has not taken or given yet.
    fileprivate var first: (receive: Int64?, send: Int64?) = (nil, nil)

    package init(receiveQueue: Int64, sendQueue: Int64) {
        (self.receiveQueue, self.sendQueue) = (receiveQueue, sendQueue)
    }

    package static func == (one: HostMultipath, other: HostMultipath) -> Bool {
        (one.receiveQueue, one.sendQueue) == (other.receiveQueue, other.sendQueue)
    }

    /// Reads a connection from one message of a table's dump. Returns `nil` for a listener, whose queue its subflow has.
    package static func connection(
        _ bytes: RawSpan, _ message: Range<Int>, of table: SocketTable, time: MonotonicTime
    ) -> (inode: UInt64, facts: HostMultipath)? {
        guard table.isMultipath, let socket = HostSocket(bytes, message, of: table, time: time), !socket.isListening,
            socket.inode != 0, let receiveQueue = socket.receiveQueue
        else { return nil }
        let sendQueue = unsent(bytes, message) ?? socket.sendQueue ?? 0
        return (socket.inode, HostMultipath(receiveQueue: receiveQueue, sendQueue: sendQueue))
    }

    /// `mptcpi_write_seq - mptcpi_snd_una` of `struct mptcp_info` (linux/mptcp.h), which is bytes, or `nil` if the kernel
    /// didn't report it. The socket's own send queue is memory.
    private static func unsent(_ bytes: RawSpan, _ message: Range<Int>) -> Int64? {
        var offset = message.lowerBound + 72
        while let found = NetlinkAttribute.next(in: bytes, at: &offset, end: message.upperBound) {
            guard found.type == HostSocket.InternetAttribute.tcp.rawValue else { continue }
            guard let written = bytes.u64(16, in: found.content), let acknowledged = bytes.u64(24, in: found.content)
            else { return nil }
            let unsent = written &- acknowledged
            return unsent < 1 << 40 ? Int64(unsent) : nil
        }
        return nil
    }
}

extension HostSocket {
    /// Makes it show the queues of its Multipath TCP connection, or its own again.
    package mutating func absorb(_ connection: HostMultipath?) {
        if let former = multipath { (receiveQueue, sendQueue) = former.first }
        guard var connection else { return multipath = nil }
        connection.first = (receiveQueue, sendQueue)
        receiveQueue = (receiveQueue ?? 0) + connection.receiveQueue
        sendQueue = max(sendQueue ?? 0, connection.sendQueue)
        multipath = connection
    }
}
