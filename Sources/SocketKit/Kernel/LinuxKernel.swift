import CSocketKitSystem
import Glibc
import SocketCore

/// The real kernel.
package final class LinuxKernel: Kernel {
    package init() {}

    /// Returns the user at the other end of a Unix-domain socket, or -1 if it is not known.
    package func peerUser(_ descriptor: Int32) -> Int64 { csystem_peer_user(descriptor) }

    /// Returns the process that listens at the other end of a Unix-domain socket, as the kernel reports it, or 0 if it
    /// has no number here.
    package func peerProcess(_ descriptor: Int32) -> Int32 { csystem_peer_process(descriptor) }

    package func openStream(for address: SocketAddress) -> IOResult {
        open(for: address, kind: SOCK_STREAM)
    }

    func open(for address: SocketAddress, kind: __socket_type) -> IOResult {
        let kind = Int32(kind.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(address.family.domain, kind, 0)
        return descriptor < 0 ? .failed(errno: errno) : .bytes(Int(descriptor))
    }

    package func bind(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        Sockaddr.with(address) { check(Glibc.bind(descriptor, $0, $1)) } ?? EINVAL
    }

    package func listen(_ descriptor: Int32, backlog: Int32) -> Int32 {
        check(Glibc.listen(descriptor, backlog))
    }

    /// EINTR is not retried, because the attempt continues (connect(2)), as after EINPROGRESS.
    package func connect(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        let status = Sockaddr.with(address) { check(Glibc.connect(descriptor, $0, $1)) } ?? EINVAL
        return status == EINTR ? EINPROGRESS : status
    }

    package func pendingError(_ descriptor: Int32) -> Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let status = check(getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &length))
        return status == 0 ? value : status
    }

    package func accept(_ listener: Int32) -> AcceptResult {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let descriptor = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                retry {
                    csystem_accept4(
                        listener, address, &length, Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue))
                }
            }
        }
        guard descriptor >= 0 else { return errno == EAGAIN ? .wouldBlock : .failed(errno: errno) }
        return .accepted(descriptor, peer: Sockaddr.read(&storage, length: length) ?? .unnamed)
    }

    package func isAtUrgentMark(_ descriptor: Int32) -> Bool { sockatmark(descriptor) == 1 }

    package func receive(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, peek: Bool
    ) -> IOResult {
        transferred { csystem_receive(descriptor, buffer.baseAddress, buffer.count, peek ? Int32(MSG_PEEK) : 0) }
    }

    package func send(_ descriptor: Int32, _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> IOResult {
        let flags = Int32(MSG_NOSIGNAL)
        if buffers.count == 1 {
            return transferred { csystem_send(descriptor, buffers[0].baseAddress, buffers[0].count, flags) }
        }
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: buffers.count) { parts in
            for (index, buffer) in buffers.enumerated() {
                let base = UnsafeMutableRawPointer(mutating: buffer.baseAddress)
                parts.initializeElement(at: index, to: iovec(iov_base: base, iov_len: buffer.count))
            }
            var message = msghdr()
            message.msg_iov = parts.baseAddress
            message.msg_iovlen = parts.count
            return outcome(retry { sendmsg(descriptor, &message, flags) })
        }
    }

    package func shutdownWrite(_ descriptor: Int32) -> Int32 {
        check(shutdown(descriptor, Int32(SHUT_WR)))
    }

    package func drainErrorQueue(_ descriptor: Int32) {
        var message = msghdr()
        while recvmsg(descriptor, &message, Int32(MSG_ERRQUEUE) | Int32(MSG_DONTWAIT)) >= 0 {}
    }

    /// close(2) is never retried. On Linux the descriptor is gone even after EINTR.
    package func close(_ descriptor: Int32) {
        if Glibc.close(descriptor) < 0 { precondition(errno != EBADF, "closed a descriptor twice: \(descriptor)") }
    }

    package func makeNonBlocking(_ descriptor: Int32) -> Int32 {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0 else { return errno }
        let isThere = flags & O_NONBLOCK != 0
        guard isThere || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) >= 0 else { return errno }
        return check(fcntl(descriptor, F_SETFD, FD_CLOEXEC))
    }

    package func localAddress(_ descriptor: Int32) -> SocketAddress? {
        name(getsockname, of: descriptor)
    }

    package func peerAddress(_ descriptor: Int32) -> SocketAddress? {
        name(getpeername, of: descriptor)
    }

    package func isStream(_ descriptor: Int32) -> Bool {
        option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue)
    }

    package func isListening(_ descriptor: Int32) -> Bool { option(SO_ACCEPTCONN, of: descriptor) == 1 }

    /// Returns the value of an option of every socket, or `nil` if there is none.
    private func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    private func name(
        _ call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32, of descriptor: Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call(descriptor, $0, &length) }
        }
        return status == 0 ? Sockaddr.read(&storage, length: length) : nil
    }

    package func removeSocketFile(_ path: String) -> Int32 {
        var status = stat()
        guard path.withNative({ lstat($0, &status) }) == 0 else { return errno }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return ENOTSOCK }
        return check(path.withNative { unlink($0) })
    }

    /// Returns the result of a call that returns a number of bytes, or a negative errno.
    @inline(__always)
    private func transferred(_ call: () -> Int) -> IOResult {
        while true {
            let count = call()
            if count >= 0 { return .bytes(count) }
            if count == -Int(EAGAIN) { return .wouldBlock }
            if count != -Int(EINTR) { return failure(Int32(truncatingIfNeeded: -count)) }
        }
    }

    private func failure(_ errno: Int32) -> IOResult {
        precondition(errno != EBADF && errno != EFAULT, "the engine passed a bad descriptor or buffer: errno \(errno)")
        return .failed(errno: errno)
    }

    func outcome(_ count: Int) -> IOResult {
        guard count < 0 else { return .bytes(count) }
        return errno == EAGAIN ? .wouldBlock : failure(errno)
    }

    func check(_ status: Int32) -> Int32 {
        guard status < 0 else { return 0 }
        precondition(errno != EBADF && errno != EFAULT, "the engine passed a bad descriptor or buffer: errno \(errno)")
        return errno
    }

    func retry<Count: SignedInteger>(_ call: () -> Count) -> Count {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
