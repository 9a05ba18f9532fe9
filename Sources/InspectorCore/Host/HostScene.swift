import SocketCore

/// One look at the host, with its sockets found by inode, by address and by port.
struct HostScene: Sendable {
    private(set) var look: HostLook
    /// The processes whose threads were looked at.
    private(set) var programs: [Int32: HostProgram] = [:]
    private var byID: [UInt64: Int] = [:]
    private var byInode: [UInt64: Int] = [:]
    private var pairs = HostPairs()
    private var listening: [HostPort: [Int]] = [:]
    private var names: Set<SocketAddress> = []

    init(_ look: HostLook) {
        self.look = look
        for (index, socket) in look.sockets.enumerated() {
            byID[socket.id] = index
            if socket.inode != 0 { byInode[socket.inode] = index }
            guard socket.transport == .tcp, let local = socket.local?.unmapped, let port = local.port else { continue }
            if socket.isListening { listening[HostPort(port, of: socket), default: []].append(index) }
            pairs.insert(socket, at: index)
        }
        programs = look.processes.filter { !$0.value.threads.isEmpty }.mapValues(HostProgram.init)
    }

    /// The same sockets, with what was learnt of their programs.
    mutating func take(programsOf examined: HostLook) {
        let sockets = look.sockets
        look = examined
        look.sockets = sockets
        programs = examined.processes.filter { !$0.value.threads.isEmpty }.mapValues(HostProgram.init)
    }

    /// These programs, until others are looked at.
    mutating func keep(programsOf former: HostScene) {
        (look.processes, look.owners) = (former.look.processes, former.look.owners)
        look.hidden = former.look.hidden
        programs = former.programs
    }

    subscript(id: UInt64) -> HostSocket? { byID[id].map { look.sockets[$0] } }

    func socket(inode: UInt64) -> HostSocket? { byInode[inode].map { look.sockets[$0] } }

    /// The other end, where it is on this host and can be seen.
    func peer(of socket: HostSocket) -> HostSocket? {
        if socket.transport.isUnix { return socket.peerInode == 0 ? nil : self.socket(inode: socket.peerInode) }
        guard socket.transport == .tcp else { return nil }
        return pairs.peer(of: socket, in: look.sockets).map { look.sockets[$0] }
    }

    /// The listeners of a TCP port in the network namespace of a socket.
    func listeners(_ port: UInt16?, near socket: HostSocket) -> [HostSocket] {
        (port.flatMap { listening[HostPort($0, of: socket)] } ?? []).map { look.sockets[$0] }
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
