import SocketCore

/// Finds the sockets that a chain of waiting may lead through, by what the kernel says of them alone, so that the
/// programs that have them open can be examined.
struct WaitReach {
    private let scene: HostScene
    /// The owners of sockets, and the processes, as they are known by now.
    private let look: HostLook
    private(set) var sockets: Set<UInt64> = []

    /// The most processes that are reached, and the most sockets of each that are followed.
    private static let mostProcesses = 64
    private static let mostSockets = 64

    init(_ scene: HostScene, _ look: HostLook) { (self.scene, self.look) = (scene, look) }

    private enum Way: CaseIterable { case up, down }

    /// Follows from these processes to those that they ask, to those that ask them, and so on.
    mutating func follow(from processes: some Sequence<Int32>) {
        for way in Way.allCases {
            var left = Array(processes), seen = Set(left)
            while let process = left.popLast() {
                for socket in next(of: process, way) {
                    sockets.insert(socket.id)
                    for owner in look.owners[socket.inode] ?? [] where seen.count < Self.mostProcesses {
                        if seen.insert(owner.process).inserted { left.append(owner.process) }
                    }
                }
            }
        }
    }

    /// Returns both ends of the open questions that a process asks, or is asked.
    private func next(of process: Int32, _ way: Way) -> [HostSocket] {
        let own = (look.processes[process]?.sockets.values).map(Set.init) ?? []
        var askers = own.compactMap { inode -> HostSocket? in
            guard let socket = scene.socket(inode: inode), !socket.isListening else { return nil }
            return way == .down ? socket : scene.peer(of: socket)
        }.filter(mayAsk)
        if way == .up { askers += waiting(at: own) + queries(to: own) }
        // To sort thousands of sockets themselves would move much memory.
        let oldest = askers.indices.map { (sent: askers[$0].tcp?.lastSent ?? .zero, id: askers[$0].id, place: $0) }
            .sorted { ($0.sent, $1.id) > ($1.sent, $0.id) }
        return oldest.prefix(Self.mostSockets).flatMap { [askers[$0.place]] + answerers(askers[$0.place]) }
    }

    /// Returns the askers of connections that wait to be accepted at one of these listeners.
    private func waiting(at inodes: Set<UInt64>) -> [HostSocket] {
        let full = inodes.compactMap { scene.socket(inode: $0) }.filter { $0.isListening && $0.receiveQueue ?? 0 > 0 }
        guard !full.isEmpty else { return [] }
        let ports = Set(full.compactMap { $0.local?.port })
        let others = scene.sockets(scene.notable).compactMap { socket -> HostSocket? in
            if socket.state == .synSent { return socket.peer?.port.map(ports.contains) == true ? socket : nil }
            guard socket.inode == 0, !socket.isListening, socket.local?.port.map(ports.contains) == true else {
                return nil
            }
            return scene.peer(of: socket)
        }
        return others + full.filter(\.transport.isUnix).flatMap(scene.queued)
    }

    /// Returns the queries to these sockets, if they are a name server's.
    private func queries(to inodes: Set<UInt64>) -> [HostSocket] {
        let isServer = inodes.contains { inode in
            guard let socket = scene.socket(inode: inode) else { return false }
            return socket.transport == .udp && socket.local?.port == WaitQuestions.nameService
        }
        guard isServer else { return [] }
        return look.sockets.filter { socket in
            guard socket.transport == .udp, socket.peer?.port == WaitQuestions.nameService else { return false }
            return scene.nameServer(answering: socket).map { inodes.contains($0.inode) } ?? false
        }
    }

    private func answerers(_ asker: HostSocket) -> [HostSocket] {
        if asker.state == .synSent { return [scene.listener(answering: asker)].compactMap { $0 } }
        if asker.transport == .udp { return [scene.nameServer(answering: asker)].compactMap { $0 } }
        if asker.isQueued { return [scene.listener(awaitedBy: asker)].compactMap { $0 } }
        guard let peer = scene.peer(of: asker) else { return [] }
        return peer.inode == 0 ? scene.listeners(peer.local?.port, near: peer) : [peer]
    }

    /// Whether an end may wait for an answer, whatever its threads do.
    func mayAsk(_ socket: HostSocket) -> Bool {
        guard socket.inode != 0, !socket.isListening else { return false }
        switch socket.transport {
        case .tcp:
            if socket.state == .synSent { return true }
            // Of two reasons, the cheaper comes first: a server has thousands of connections.
            guard !scene.isServerSide(socket) else { return false }
            return WaitQuestion.clock(socket) != .answered || scene.peer(of: socket)?.inode == 0
        case .udp: return socket.peer?.port == WaitQuestions.nameService
        case .unixStream, .unixPacket: return socket.peerInode != 0 || socket.isQueued
        case .unixDatagram: return false
        }
    }
}
