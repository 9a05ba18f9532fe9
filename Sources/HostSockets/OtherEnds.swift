import SocketCore

/// Finds the local programs at the other ends of an engine's connections, and what they have not read.
struct OtherEnds {
    private let system: HostSystem
    private var table: ProcessTable
    /// The owners of the sockets of the last round, by inode.
    private var owners: [UInt64: PeerEnd.Program] = [:]

    /// The most waiting connections that are named for each listener.
    private static let namedWaiting = 16

    init(_ system: HostSystem) { (self.system, table) = (system, ProcessTable(system)) }

    /// Returns what is known of the other end of each of these sockets. `process` returns a session's process.
    mutating func find(_ sockets: [SocketSnapshot], process: (SocketID) -> Int) -> [SocketID: PeerEnd] {
        guard let query = SocketQuery(system) else { return [:] }
        func ask(_ socket: SocketSnapshot) -> HostSocket? {
            guard let local = socket.local, let peer = socket.peer else { return nil }
            if peer.family.isIP { return query.other(local: local, peer: peer) }
            guard let descriptor = socket.descriptor, let process = Int32(exactly: process(socket.id)), process > 0
            else { return nil }
            return query.other(process: process, descriptor: descriptor)
        }
        var waiting: [SocketID: [WaitingConnection]] = [:]
        for socket in sockets where socket.role == .listener {
            guard let local = socket.local, local.family.isIP else { continue }
            waiting[socket.id] = Array(system.waiting(at: local, query).prefix(Self.namedWaiting))
        }
        var answers: [SocketID: HostSocket] = [:]
        for socket in sockets where socket.role != .listener { answers[socket.id] = ask(socket) }
        learn(Set(answers.values.map(\.inode)).union(waiting.values.joined().compactMap(\.client))) { inode in
            sockets.first { answers[$0.id]?.inode == inode }.map { ask($0)?.inode != inode } ?? false
        }
        return answers.mapValues(end).merging(waiting.mapValues(end)) { first, _ in first }
    }

    /// Learns the owners of these sockets.
    ///
    /// A socket may close between the kernel's answer and this call. The answer then still concerns its last known
    /// owner. `isGone` asks the kernel again.
    private mutating func learn(_ inodes: Set<UInt64>, isGone: (UInt64) -> Bool) {
        table.begin()
        var found = owners(of: inodes)
        if found.count < inodes.count {
            table.findNew(inodes)
            found.merge(owners(of: inodes.subtracting(found.keys))) { first, _ in first }
        }
        for inode in inodes where found[inode] == nil {
            if let former = owners[inode], isGone(inode) { found[inode] = former }
        }
        owners = found
    }

    private mutating func owners(of inodes: Set<UInt64>) -> [UInt64: PeerEnd.Program] {
        var found: [UInt64: PeerEnd.Program] = [:]
        for inode in inodes { found[inode] = table.program(of: inode) }
        return found
    }

    private func end(_ answer: HostSocket) -> PeerEnd {
        var program = owners[answer.inode]
        if let process = program?.process, answer.unread ?? 0 > 0 {
            program?.isStopped = table.entries[Int32(process)]?.stat.isStopped ?? false
        }
        return PeerEnd(answer, program)
    }

    private func end(_ waiting: [WaitingConnection]) -> PeerEnd {
        PeerEnd(
            waiting: waiting.map { connection in
                PeerEnd.Waiting(
                    peer: connection.peer.description, program: connection.client.flatMap { owners[$0] })
            })
    }
}

extension PeerEnd {
    /// Combines the kernel's answer about a socket with its owner.
    init(_ answer: HostSocket, _ program: Program?) {
        let isClosing = answer.state == .closeWait
        self.init(
            program: program, unread: answer.unread.map(Int.init), unsent: answer.unsent.map(Int.init),
            isClosing: isClosing, hasReadEnd: isClosing ? answer.receiveQueue == 0 : nil)
    }
}

/// A connection that waits in the kernel to be accepted.
struct WaitingConnection {
    var peer: SocketAddress
    /// The inode of its other end, or `nil` if that is not on this host.
    var client: UInt64?
}

extension HostSystem {
    /// Returns the connections that wait at a listener, in the order of the kernel's table. They have inode 0, because
    /// no program has them open yet.
    fileprivate func waiting(at listener: SocketAddress, _ query: SocketQuery) -> [WaitingConnection] {
        let table = listener.family == .v4 ? SocketTable.tcp4 : .tcp6
        let dump = SocketDump(system: self, namespace: nil)
        let states: Set<HostState> = [.listening, .established, .closeWait]
        let found = (try? dump.sockets(of: table, in: states, localPort: listener.port)) ?? []
        return found.waiting(at: listener).map { socket, peer in
            WaitingConnection(peer: peer, client: socket.local.flatMap { query.other(local: $0, peer: peer)?.inode })
        }
    }
}
