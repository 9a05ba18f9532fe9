import CSocketKitSystem
import Glibc
import SocketCore

extension UnreadBytes.Options {
    init(_ descriptor: Int32, _ transport: HostTransport) {
        self.init()
        func number(_ level: Int32, _ name: Int32) -> Int? {
            var value: Int32 = 0
            var size = socklen_t(MemoryLayout.size(ofValue: value))
            return getsockopt(descriptor, level, name, &value, &size) == 0 ? Int(value) : nil
        }
        keepAlive = number(SOL_SOCKET, SO_KEEPALIVE).map { $0 != 0 }
        lowWater = number(SOL_SOCKET, SO_RCVLOWAT)
        var value = Glibc.linger()
        var size = socklen_t(MemoryLayout.size(ofValue: value))
        if getsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, &size) == 0, value.l_onoff != 0 {
            linger = Int(value.l_linger)
        }
        guard transport == .tcp else { return }
        noDelay = number(Int32(IPPROTO_TCP), TCP_NODELAY).map { $0 != 0 }
        userTimeout = number(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT).map { .milliseconds($0) }
    }
}

extension HostObserver {
    /// The most bytes that are peeked at.
    package static let peekLimit = 4_096

    /// Peeks at the bytes that a program has not read, using a duplicate of its descriptor. The duplicate is closed at
    /// once, because it would keep the connection open after the program closed it.
    ///
    /// A peek takes the socket's lock and may make the kernel advertise a larger window. It would also consume a
    /// pending error meant for the program, so it is made only if bytes are waiting and no error is pending. An error
    /// can still arrive between these checks and the peek.
    ///
    /// Throws `Problem` if the program no longer has this socket, or may not be examined.
    /// - Parameter socket: The socket as a snapshot listed it.
    package func peek(
        _ socket: HostSocket, process: Int32, descriptor: Int32, most: Int = peekLimit
    ) throws(Problem) -> UnreadBytes {
        try checkPeek(process)
        guard let now = current(socket), now.inode == socket.inode, now.inode != 0 else {
            throw Problem(sentence: "the socket is closed")
        }
        let copy: Int32
        do throws(HostSystem.Failure) { copy = try system.duplicate(process, descriptor) } catch {
            if error.isRefusal { refuse(process) }
            throw Problem(
                sentence: "process \(process) cannot be inspected: " + String(cString: strerror(error.number)))
        }
        defer { close(copy) }
        var facts = stat()
        guard fstat(copy, &facts) == 0, UInt64(facts.st_ino) == socket.inode else {
            throw Problem(sentence: "descriptor \(descriptor) of process \(process) is now a different socket")
        }
        var found = UnreadBytes()
        found.options = UnreadBytes.Options(copy, socket.transport)
        // Of Multipath TCP a table has only the memory.
        found.total = socket.multipath == nil ? now.unread : Self.waiting(copy)
        found.reason = Self.objection(now, copy, found.total)
        guard found.reason == nil else { return found }
        let limit = min(max(0, most), Self.peekLimit)
        found.bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            filled = max(0, recv(copy, buffer.baseAddress, limit, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)))
        }
        return found
    }

    /// Returns the number of bytes to read (FIONREAD), or `nil` if not known.
    private static func waiting(_ descriptor: Int32) -> Int64? {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int64(count) : nil
    }

    /// Returns why the bytes of a socket must not be peeked at, or `nil` if they can be.
    private static func objection(_ socket: HostSocket, _ copy: Int32, _ unread: Int64?) -> String? {
        if socket.isListening { return "it is a listener" }
        guard unread ?? socket.receiveQueue ?? 0 > 0 else { return "nothing is unread" }
        if csystem_peek_offset(copy) >= 0 { return "its program uses SO_PEEK_OFF, and peeking would move it" }
        if csystem_has_kernel_tls(copy) != 0 { return "it uses kernel TLS, and peeking would decrypt" }
        var entry = pollfd(fd: copy, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 0) >= 0, Int32(entry.revents) & (POLLERR | POLLHUP | POLLNVAL) == 0 else {
            return "an error is pending, and peeking would clear it"
        }
        return nil
    }

    /// Returns the socket's current state in the kernel.
    private func current(_ socket: HostSocket) -> HostSocket? {
        let other = others.withLock { $0.process(in: socket.namespace) }
        guard socket.namespace == 0 || other != nil else { return nil }
        let dump = SocketDump(system: system, namespace: other ?? namespace)
        let tables = SocketTable.allCases.filter { $0.transports.contains(socket.transport) && !$0.isExtra }
        // Not lazily: a lazy compactMap runs the query twice, and the second answer may differ.
        for table in tables {
            let found = try? dump.sockets(of: table, localPort: socket.local?.port, peerPort: socket.peer?.port)
            // The row of a Multipath TCP connection may have the cookie of a subflow that has ended.
            let isSame = { (now: HostSocket) in
                now.cookie == socket.cookie || socket.multipath != nil && now.inode == socket.inode
            }
            if let now = found?.first(where: isSame) { return now }
        }
        return nil
    }
}
