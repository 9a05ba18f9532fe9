import CSocketKitSystem
import Glibc
import SocketCore
import Synchronization

/// Asks the kernel about sockets of any program on this host (sock_diag(7)). Each query takes one or two system calls.
/// Queries about other programs are made neither on the engine's queue nor on the screen's thread.
package struct SocketDiagnosis: ~Copyable {
    /// What the kernel reports about a socket.
    package struct Answer: Equatable, Sendable {
        /// The inode, by which the socket is found among the descriptors of processes.
        package var inode: UInt64
        /// Bytes that its program has not read, or `nil` if the kernel does not report them.
        package var unread: Int?
        /// Bytes that its program has written and the peer has not acknowledged, or `nil` if the kernel does not report
        /// them.
        package var unsent: Int?
        /// Whether the peer has sent FIN and this program has not closed (CLOSE-WAIT).
        package var isClosing = false
        /// Whether its program has read that FIN.
        package var hasReadEnd = false
    }

    private let descriptor: Int32

    /// Returns `nil` if the kernel has no such interface, or no descriptor is left.
    package init?() {
        descriptor = csystem_diag_open()
        if descriptor < 0 { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns the socket at the other end of a TCP connection between these addresses, if it is on this host.
    package func other(local: SocketAddress, peer: SocketAddress) -> Answer? {
        guard let near = Self.bytes(local), let far = Self.bytes(peer), near.family == far.family,
            let nearPort = local.port, let farPort = peer.port
        else { return nil }
        var found = csystem_diag()
        guard csystem_diag_tcp(descriptor, near.family, far.bytes, farPort, near.bytes, nearPort, &found) == 0,
            found.inode != 0
        else { return nil }
        return Self.answer(found)
    }

    /// Returns the socket at the other end of the Unix-domain socket that a process has as this descriptor.
    package func other(process: pid_t, descriptor number: Int32) -> Answer? {
        var found = csystem_diag()
        guard let inode = Self.inode("/proc/\(process)/fd/\(number)"),
            csystem_diag_unix(descriptor, inode, &found) == 0, found.peer != 0
        else { return nil }
        let peer = found.peer
        guard csystem_diag_unix(descriptor, peer, &found) == 0 else { return nil }
        return Self.answer(found)
    }

    /// Returns the number of connections that wait at a Unix-domain listener of this process, and the most that may, or
    /// `nil` if the kernel does not report them. A kernel without the interface is asked only once.
    package static func backlog(ofUnixListener number: Int32) -> (waiting: Int, limit: Int?)? {
        guard !lacksInterface.load(ordering: .relaxed) else { return nil }
        var facts = stat()
        guard fstat(number, &facts) == 0, let diagnosis = SocketDiagnosis() else { return nil }
        var found = csystem_diag()
        let failure = csystem_diag_unix(diagnosis.descriptor, UInt64(facts.st_ino), &found)
        // ENOENT is also returned if the module is missing, which must not be looked for ten times a second.
        if failure == ENOENT { lacksInterface.store(true, ordering: .relaxed) }
        guard failure == 0, found.receive_queue >= 0 else { return nil }
        return (Int(found.receive_queue), found.send_queue < 0 ? nil : Int(found.send_queue))
    }

    private static let lacksInterface = Atomic(false)

    private static func answer(_ found: csystem_diag) -> Answer {
        let isClosing = found.state == 8
        return Answer(
            inode: found.inode, unread: found.receive_queue < 0 ? nil : Int(found.receive_queue),
            unsent: found.send_queue < 0 ? nil : Int(found.send_queue), isClosing: isClosing,
            hasReadEnd: isClosing && found.has_unread_end == 0)
    }

    /// Returns a numeric address in the kernel's form.
    private static func bytes(_ address: SocketAddress) -> (family: Int32, bytes: [UInt8])? {
        switch address.ip {
        case .v4(let bits): (AF_INET, withUnsafeBytes(of: bits) { Array($0) })
        case .v6(let high, let low): (AF_INET6, withUnsafeBytes(of: (high, low)) { Array($0) })
        case nil: nil
        }
    }

    /// Returns the number in a link that reads `socket:[number]`, or `nil` if it has another form or cannot be read.
    package static func inode(_ link: String) -> UInt64? {
        var target = [CChar](repeating: 0, count: 64)
        let length = readlink(link, &target, target.count - 1)
        guard length > 9 else { return nil }
        let text = target[..<length].map(UInt8.init(bitPattern:))
        guard text.starts(with: "socket:[".utf8), text.last == UInt8(ascii: "]") else { return nil }
        return UInt64(String(decoding: text[8..<(length - 1)], as: UTF8.self))
    }
}
