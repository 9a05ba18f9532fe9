/// Makes the numbers of one host's kernel those of a view. What no kernel gives is left out.
struct HostPacking {
    let host: HostOrdinal
    /// What is added to the times of its clock.
    let shift: Duration

    func identity(_ own: UInt64) -> UInt64? {
        host.namespace(UInt16(own >> 48)).map { HostSocket.id(cookie: HostSocket.cookie(of: own), in: $0) }
    }

    func socket(_ own: HostSocket) -> HostSocket? {
        guard let namespace = host.namespace(own.namespace) else { return nil }
        var socket = own
        socket.id = HostSocket.id(cookie: HostSocket.cookie(of: own.id), in: namespace)
        socket.namespace = namespace
        socket.inode = host.inode(own.inode)
        socket.peerInode = host.inode(own.peerInode)
        socket.listenerInode = host.inode(own.listenerInode)
        socket.time = own.time + shift
        (socket.local, socket.peer) = (plausible(own.local, own.transport), plausible(own.peer, own.transport))
        // Sums of them must not overflow.
        socket.receiveQueue = own.receiveQueue.map { min(max(0, $0), Self.largest) }
        socket.sendQueue = own.sendQueue.map { min(max(0, $0), Self.largest) }
        return socket
    }

    private static let largest: Int64 = 1 << 40

    /// Returns an address, unless no kernel tells it of such a socket. A text with a scope has few kinds of characters.
    private func plausible(_ address: SocketAddress?, _ transport: HostTransport) -> SocketAddress? {
        guard !transport.isUnix, let address, address.ip == nil else { return address }
        guard let host = address.host, host.utf8.count <= 64 else { return nil }
        let isPlain = host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ":.%-_".contains($0)) }
        return isPlain ? address : nil
    }

    func namespace(_ own: HostNamespace) -> HostNamespace? {
        guard let ordinal = host.namespace(own.ordinal) else { return nil }
        var namespace = own
        namespace.ordinal = ordinal
        return namespace
    }

    func owner(_ own: HostLook.Owner) -> HostLook.Owner? {
        host.process(own.process).map { HostLook.Owner(process: $0, descriptor: own.descriptor) }
    }

    func process(_ own: HostProcess) -> HostProcess? {
        guard own.id.number > 0, let number = host.process(own.id.number) else { return nil }
        var process = own
        process.id.number = number
        process.parent = host.process(own.parent) ?? number
        process.sockets = own.sockets.mapValues(host.inode).filter { $0.value != 0 }
        process.pollSets = own.pollSets.mapValues { entries in
            entries.map { entries in
                entries.map {
                    HostProcess.PollEntry(descriptor: $0.descriptor, events: $0.events, inode: host.inode($0.inode))
                }
            }
        }
        process.threads = own.threads.compactMap { own in
            guard let number = host.process(own.number) else { return nil }
            var thread = own
            thread.number = number
            return thread
        }
        return process
    }
}
