/// Sockets that the kernel destroys, as it tells everyone who listens (multicast groups of sock_diag(7)).
extension HostSocket {
    /// SKNLGRP_INET_TCP_DESTROY, INET_UDP_DESTROY, INET6_TCP_DESTROY and INET6_UDP_DESTROY.
    package static let closingGroups: ClosedRange<Int32> = 1...4

    /// A socket as the kernel tells it for the last time; `nil` if the message is of another kind.
    ///
    /// Its state is `.closed`, and inode and user are 0. Its queue and its counters are those of the moment when its
    /// program closed it: bytes that nobody read are still in the queue. It may be listed again afterwards, under the same
    /// cookie: what is in TIME-WAIT has no socket any more.
    package init?(closing bytes: RawSpan, _ message: Range<Int>, time: MonotonicTime) {
        var offset = message.lowerBound + 72
        var kind: UInt8?
        while kind == nil, let found = NetlinkAttribute.next(in: bytes, at: &offset, end: message.upperBound) {
            if found.type == InternetAttribute.proto.rawValue { kind = bytes.u8(0, in: found.content) }
        }
        guard kind == 6 || kind == 17 else { return nil }
        self.init(bytes, message, of: kind == 6 ? .tcp4 : .udp4, time: time)
        // What the kernel did not fill in is not known.
        if transport == .udp { (receiveQueue, sendQueue) = (nil, nil) }
    }
}
