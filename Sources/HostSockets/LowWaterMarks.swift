import Glibc
import SocketCore

/// For how many bytes the programs of sockets wait that have some unread (SO_RCVLOWAT): who waits for more than there are
/// does not hang.
struct LowWaterMarks {
    /// So many are asked for in one look, first those that were asked for longest ago.
    private static let most = 64

    private var known: [UInt64: (mark: Int, time: MonotonicTime)] = [:]

    /// Asks by duplicates that are closed at once, in programs whose calls may be read.
    mutating func read(_ sockets: [HostSocket], _ look: inout HostLook, _ system: HostSystem) {
        let there = Set(sockets.map(\.id))
        known = known.filter { there.contains($0.key) }
        let inTurn = sockets.sorted { known[$0.id]?.time ?? .zero < known[$1.id]?.time ?? .zero }
        for socket in inTurn.prefix(Self.most) {
            guard let mark = Self.mark(of: socket, look, system) else { continue }
            known[socket.id] = (mark, look.time)
        }
        for socket in sockets { look.lowWater[socket.inode] = known[socket.id]?.mark }
    }

    private static func mark(of socket: HostSocket, _ look: HostLook, _ system: HostSystem) -> Int? {
        for owner in look.owners[socket.inode] ?? [] where look.processes[owner.process]?.rung == .arguments {
            guard let copy = try? system.duplicate(owner.process, owner.descriptor) else { continue }
            defer { close(copy) }
            var facts = stat()
            guard fstat(copy, &facts) == 0, UInt64(facts.st_ino) == socket.inode else { continue }
            return UnreadBytes.Options(copy, socket.transport).lowWater
        }
        return nil
    }
}
