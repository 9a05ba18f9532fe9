import Glibc
import SocketCore

/// The SO_RCVLOWAT values of sockets with unread bytes. A program that waits for more bytes than have arrived is not
/// hung.
struct LowWaterMarks {
    /// The most values read for one snapshot. Those read longest ago come first.
    private static let most = 64

    private var known: [UInt64: (mark: Int, time: MonotonicTime)] = [:]

    /// Reads the values from duplicates that are closed at once, in programs whose calls may be read.
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
