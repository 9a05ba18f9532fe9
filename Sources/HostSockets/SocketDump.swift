import Glibc
import SocketCore

/// Reads the kernel's socket tables (sock_diag(7)).
struct SocketDump {
    /// Why a table was not read.
    enum Problem: Error {
        /// The table changed while it was read, or the receive buffer overflowed.
        case disturbed
        case system(HostSystem.Failure)
    }

    let system: HostSystem
    let namespace: Int32?

    /// The number of times a disturbed dump is tried.
    private static let tries = 4
    private static let room = 64 << 10
    private static let receiveBuffer: Int32 = 1 << 20

    /// Returns the sockets of a table that are in these states and use these ports.
    func sockets(
        of table: SocketTable, in states: Set<HostState> = Set(HostState.allCases), localPort: UInt16? = nil,
        peerPort: UInt16? = nil
    ) throws(HostSystem.Failure) -> [HostSocket] {
        var found: [HostSocket] = []
        try ask(table, states, localPort, peerPort) {
            found.removeAll(keepingCapacity: true)
        } take: { bytes, message, time in
            if let socket = HostSocket(bytes, message, of: table, time: time) { found.append(socket) }
        }
        return found
    }

    /// Updates the known sockets of a table.
    func update(_ known: inout KnownSockets, _ table: SocketTable) throws(HostSystem.Failure) {
        let group = KnownSockets.Group(table: table)
        try ask(table) {
            known.begin(group)
        } take: { bytes, message, time in
            known.absorb(bytes, message, of: group, time: time)
        }
    }

    /// Returns the messages about a table's sockets, and when each arrived.
    func messages(of table: SocketTable) throws(HostSystem.Failure) -> [(bytes: [UInt8], time: MonotonicTime)] {
        var found: [(bytes: [UInt8], time: MonotonicTime)] = []
        try ask(table) {
            found.removeAll(keepingCapacity: true)
        } take: { bytes, message, time in
            found.append((bytes.array(message), time))
        }
        return found
    }

    /// Repeats the dump until it is not disturbed. If every try was disturbed, the last result is kept.
    private func ask(
        _ table: SocketTable, _ states: Set<HostState> = Set(HostState.allCases), _ localPort: UInt16? = nil,
        _ peerPort: UInt16? = nil, begin: () -> Void, take: (RawSpan, Range<Int>, MonotonicTime) -> Void
    ) throws(HostSystem.Failure) {
        for sequence in 1...UInt32(Self.tries) {
            do throws(Problem) {
                begin()
                let request = table.request(
                    sequence: sequence, states: states, localPort: localPort, peerPort: peerPort)
                return try ask(request, sequence, take)
            } catch {
                if case .system(let failure) = error { throw failure }
            }
        }
    }

    /// Uses a new socket, so that no data of an earlier dump is left in it.
    private func ask(
        _ request: [UInt8], _ sequence: UInt32, _ take: (RawSpan, Range<Int>, MonotonicTime) -> Void
    ) throws(Problem) {
        let descriptor: Int32
        do { descriptor = try system.openDiagnosis(namespace) } catch { throw .system(error) }
        defer { close(descriptor) }
        var size = Self.receiveBuffer
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout.size(ofValue: size)))
        try system.answer(to: request, sequence, on: descriptor, room: Self.room, isDump: true, take)
    }
}

extension HostSystem {
    /// Sends a request and passes on each socket of the answer. The answer to a dump has an end, any other answer is one
    /// message.
    func answer(
        to request: [UInt8], _ sequence: UInt32, on descriptor: Int32, room: Int, isDump: Bool,
        _ take: (RawSpan, Range<Int>, MonotonicTime) -> Void
    ) throws(SocketDump.Problem) {
        guard send(descriptor, request, request.count, 0) == request.count else { throw .system(.init(errno)) }
        var buffer = [UInt8](repeating: 0, count: room)
        var wasInterrupted = false
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_TRUNC))
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == ENOBUFS { throw .disturbed }
            if count < 0 { throw .system(.init(errno)) }
            guard count <= buffer.count else { throw .system(.init(EMSGSIZE)) }
            let time = now()
            var offset = 0
            let bytes = buffer.span.bytes.extracting(0..<count)
            while let message = NetlinkMessage.next(in: bytes, at: &offset) {
                guard message.sequence == sequence else { continue }
                if message.wasInterrupted { wasInterrupted = true }
                switch message.kind {
                case .data:
                    take(bytes, message.content, time)
                    if !isDump { return }
                case .end:
                    if wasInterrupted { throw .disturbed }
                    return
                case .failure(let number): throw .system(.init(number))
                case .other: break
                }
            }
        }
    }
}
