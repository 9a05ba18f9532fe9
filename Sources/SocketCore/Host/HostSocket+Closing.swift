/// Sockets that the kernel destroys, as it notifies all listeners (multicast groups of sock_diag(7)).
extension HostSocket {
    /// SKNLGRP_INET_TCP_DESTROY, INET_UDP_DESTROY, INET6_TCP_DESTROY and INET6_UDP_DESTROY.
    package static let closingGroups: ClosedRange<Int32> = 1...4

    /// Reads the kernel's last message about a socket. Returns `nil` if the message is of another kind.
    ///
    /// Its state is `.closed`, and inode and user are 0. Its queue and counters are those of the moment when its
    /// program closed it, so unread bytes are still in the queue. It may be listed again later under the same cookie,
    /// because a connection in TIME-WAIT no longer has a socket.
    package init?(closing bytes: RawSpan, _ message: Range<Int>, time: MonotonicTime) {
        var offset = message.lowerBound + 72
        var kind: UInt8?
        while kind == nil, let found = NetlinkAttribute.next(in: bytes, at: &offset, end: message.upperBound) {
            if found.type == InternetAttribute.proto.rawValue { kind = bytes.u8(0, in: found.content) }
        }
        guard kind == 6 || kind == 17 else { return nil }
        self.init(bytes, message, of: kind == 6 ? .tcp4 : .udp4, time: time)
        // The kernel doesn't fill these in, so they are not known.
        if transport == .udp { (receiveQueue, sendQueue) = (nil, nil) }
    }

    /// The number of bytes that came in order, from the kernel's last message, which doesn't tell whether the peer's FIN
    /// is one of them. It is where the own FIN was acknowledged: then both sides closed.
    package func receivedBytes(isClient: Bool) -> UInt64? {
        guard let received = tcp?.received, let acknowledged = tcp?.acknowledged, let sentBytes, received > 0 else {
            return tcp?.received
        }
        // A client's SYN was acknowledged, too.
        return acknowledged > sentBytes + (isClient ? 1 : 0) ? received - 1 : received
    }
}
