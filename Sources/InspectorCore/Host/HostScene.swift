import SocketCore

/// One look at the host, with its sockets found by inode, by address and by port.
struct HostScene: Sendable {
    private(set) var look: HostLook
    /// The processes whose threads were looked at.
    private(set) var programs: [Int32: HostProgram] = [:]
    private var places: [UInt64: Int] = [:]
    /// Sockets by their identity, found by inode and, of those that listen, by port.
    private var byInode: [UInt64: UInt64] = [:]
    private var pairs = HostPairs()
    private var listening: [HostPort: [UInt64]] = [:]
    /// Those that are not quiet.
    private(set) var notable: Set<UInt64> = []

    init(_ look: HostLook) {
        self.look = look
        places = look.places ?? Dictionary(look.sockets.enumerated().map { ($1.id, $0) }) { $1 }
        for socket in look.sockets { add(socket) }
        programs = look.processes.filter { !$0.value.threads.isEmpty }.mapValues(HostProgram.init)
    }

    /// Takes the next look. Where it tells what is different from this one, the rest is kept. One without processes leaves
    /// those of this one until it is known which are to be looked at.
    mutating func take(_ next: HostLook) {
        let (former, programs) = (look, programs)
        if let changes = next.changes, let places = next.places, changes.since == look.time {
            for id in changes.gone.union(changes.told) { if let socket = self[id] { remove(socket) } }
            (look, self.places) = (next, places)
            for id in changes.told { if let socket = self[id] { add(socket) } }
        } else {
            self = HostScene(next)
        }
        guard next.processes.isEmpty else { return take(programsOf: next) }
        (look.processes, look.owners, look.hidden) = (former.processes, former.owners, former.hidden)
        self.programs = programs
    }

    private mutating func add(_ socket: HostSocket) {
        if !socket.isQuiet { notable.insert(socket.id) }
        if socket.inode != 0 { byInode[socket.inode] = socket.id }
        guard socket.transport == .tcp, let local = socket.local?.unmapped, let port = local.port else { return }
        if socket.isListening { listening[HostPort(port, of: socket), default: []].append(socket.id) }
        pairs.insert(socket)
    }

    private mutating func remove(_ socket: HostSocket) {
        notable.remove(socket.id)
        if byInode[socket.inode] == socket.id { byInode[socket.inode] = nil }
        guard socket.transport == .tcp, let local = socket.local?.unmapped, let port = local.port else { return }
        if socket.isListening, case let place = HostPort(port, of: socket) {
            listening[place]?.removeAll { $0 == socket.id }
            if listening[place]?.isEmpty == true { listening[place] = nil }
        }
        pairs.remove(socket)
    }

    /// The same sockets, with what was learnt of their programs.
    mutating func take(programsOf examined: HostLook) {
        let sockets = look.sockets
        look = examined
        look.sockets = sockets
        programs = examined.processes.filter { !$0.value.threads.isEmpty }.mapValues(HostProgram.init)
    }

    subscript(id: UInt64) -> HostSocket? { places[id].map { look.sockets[$0] } }

    func socket(inode: UInt64) -> HostSocket? { byInode[inode].flatMap { self[$0] } }

    /// Of these sockets those that there are, in the order of their identities.
    func sockets(_ ids: some Sequence<UInt64>) -> [HostSocket] { ids.sorted().compactMap { self[$0] } }

    /// The other end, where it is on this host and can be seen.
    func peer(of socket: HostSocket) -> HostSocket? {
        if socket.transport.isUnix { return socket.peerInode == 0 ? nil : self.socket(inode: socket.peerInode) }
        guard socket.transport == .tcp else { return nil }
        return pairs.peer(of: socket).flatMap { self[$0] }
    }

    /// The listeners of a TCP port in the network namespace of a socket.
    func listeners(_ port: UInt16?, near socket: HostSocket) -> [HostSocket] {
        sockets(port.flatMap { listening[HostPort($0, of: socket)] } ?? [])
    }

    /// Whether it is the end that was connected to: a listener has its port, or a Unix-domain socket its name.
    func isServerSide(_ socket: HostSocket) -> Bool {
        if socket.transport.isUnix { return socket.local?.name?.isEmpty == false }
        return socket.local?.port.flatMap { listening[HostPort($0, of: socket)] } != nil
    }

    /// Who has it open, as far as that may be seen.
    func owners(of socket: HostSocket) -> [HostLook.Owner] {
        socket.inode == 0 ? [] : look.owners[socket.inode] ?? []
    }
}

extension SocketAddress {
    /// An IPv4 address that IPv6 carries (`::ffff:192.0.2.1`) as the IPv4 address that it is; others as they are.
    var unmapped: SocketAddress {
        guard case .v6(0, let low, let port) = storage, low.bigEndian >> 32 == 0xFFFF else { return self }
        return SocketAddress(.v4(UInt32(truncatingIfNeeded: low.bigEndian).bigEndian, port: port))
    }
}
