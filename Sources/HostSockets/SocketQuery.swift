import Glibc
import SocketCore

/// Asks the kernel about one socket at a time (sock_diag(7)), which takes two system calls.
final class SocketQuery {
    private let system: HostSystem
    private let descriptor: Int32
    private var sequence: UInt32 = 0

    private static let room = 8_192

    /// Returns `nil` if the kernel has no such interface, or no descriptor is left.
    init?(_ system: HostSystem) {
        guard let descriptor = try? system.openDiagnosis(nil) else { return nil }
        (self.system, self.descriptor) = (system, descriptor)
    }

    deinit { close(descriptor) }

    /// Returns the socket at the other end of a TCP connection between these addresses, or `nil` if no program of this
    /// network namespace has it open.
    func other(local: SocketAddress, peer: SocketAddress) -> HostSocket? {
        sequence += 1
        guard let (table, request) = SocketTable.request(sequence: sequence, local: peer, peer: local),
            let found = ask(request, table), !found.isListening, found.peer?.port == local.port, found.inode != 0
        else { return nil }
        return found
    }

    /// Returns the socket at the other end of the Unix-domain socket that a process has as this descriptor.
    func other(process: Int32, descriptor: Int32) -> HostSocket? {
        let link = try? system.link("/proc/\(process)/fd/\(descriptor)")
        guard let inode = link.flatMap(NetworkText.socketInode), let peer = unix(inode)?.peerInode, peer != 0 else {
            return nil
        }
        return unix(peer)
    }

    private func unix(_ inode: UInt64) -> HostSocket? {
        sequence += 1
        return SocketTable.request(sequence: sequence, inode: inode).flatMap { ask($0, .unix) }
    }

    private func ask(_ request: [UInt8], _ table: SocketTable) -> HostSocket? {
        var found: HostSocket?
        try? system.answer(to: request, sequence, on: descriptor, room: Self.room, isDump: false) {
            found = HostSocket($0, $1, of: table, time: $2)
        }
        return found
    }
}
