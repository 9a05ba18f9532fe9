import SocketCore

/// One look at the host, with its sockets indexed by inode, address and port.
struct HostScene: Sendable {
    private(set) var look: HostLook
    /// The processes whose threads were examined.
    private(set) var programs: [Int32: HostProgram] = [:]
    private var places: [UInt64: Int] = [:]
    /// The identities of sockets by inode. Listening sockets are also indexed by port.
    private var byInode: [UInt64: UInt64] = [:]
    private var pairs = HostPairs()
    private var listening: [HostPort: Set<UInt64>] = [:]
    /// The Unix-domain sockets that wait to be accepted, by the inode of the listener.
    private var queued: [UInt64: Set<UInt64>] = [:]
    /// The sockets that are not quiet.
    private(set) var notable: Set<UInt64> = []
    /// The sockets whose counters changed between the last two looks, or that are new.
    private(set) var moving: Set<UInt64> = []

    init(_ look: HostLook) {
        self.look = look
        places = look.places ?? Dictionary(look.sockets.enumerated().map { ($1.id, $0) }) { $1 }
        for socket in look.sockets { add(socket) }
        programs = look.processes.filter { !$0.value.threads.isEmpty }.mapValues(HostProgram.init)
    }

    /// Absorbs the next look. If it lists its changes, the rest is kept. If it has no processes, those of this look are
    /// kept until it is known which ones must be examined.
    mutating func absorb(_ next: HostLook) {
        let (former, programs) = (look, programs)
        if let changes = next.changes, let places = next.places, changes.since == look.time {
            moving.removeAll(keepingCapacity: true)
            change(by: changes) { scene in (scene.look, scene.places) = (next, places) }
        } else {
            let before = self
            self = HostScene(next)
            for socket in look.sockets { note(socket, since: before[socket.id]) }
        }
        guard next.processes.isEmpty else { return absorb(programsOf: next) }
        (look.processes, look.owners, look.hidden) = (former.processes, former.owners, former.hidden)
        self.programs = programs
    }

    /// Absorbs what one of several hosts told. The sockets are changed in place.
    mutating func absorb(_ merge: HostMerge) {
        moving = moving.filter { self[$0]?.host != merge.host }
        change(by: merge.changes) { scene in
            scene.look.places = scene.look.places ?? scene.places
            // A second reference would cause them to be copied.
            scene.places = [:]
            merge.apply(to: &scene.look)
            scene.places = scene.look.places ?? [:]
        }
        // Its others have grown older.
        for process in merge.processes.union(programs.keys.filter { HostOrdinal(ofProcess: $0) == merge.host }) {
            programs[process] = look.processes[process].flatMap { $0.threads.isEmpty ? nil : HostProgram($0) }
        }
    }

    /// Notes that a host is there, or whether its looks arrive.
    mutating func note(_ machine: HostMachine, _ host: HostOrdinal) { look.machines[host] = machine }

    private mutating func change(by changes: HostLook.Changes, _ body: (inout HostScene) -> Void) {
        var before: [UInt64: HostSocket] = [:]
        for id in changes.gone.union(changes.told) {
            guard let socket = self[id] else { continue }
            before[id] = socket
            remove(socket)
        }
        body(&self)
        for id in changes.told {
            guard let socket = self[id] else { continue }
            add(socket)
            note(socket, since: before[id])
        }
        byInode.shrink()
        pairs.shrink()
    }

    private mutating func note(_ socket: HostSocket, since before: HostSocket?) {
        guard socket.transport == .tcp, !socket.isListening else { return }
        if before.map({ HostCounters($0) != HostCounters(socket) }) ?? true { moving.insert(socket.id) }
    }

    private mutating func add(_ socket: HostSocket) {
        if !socket.isQuiet || socket.isQueued { notable.insert(socket.id) }
        if socket.inode != 0 { byInode[socket.inode] = socket.id }
        if socket.isQueued { queued[socket.listenerInode, default: []].insert(socket.id) }
        guard socket.transport == .tcp, let local = socket.local?.unmapped, let port = local.port else { return }
        if socket.isListening { listening[HostPort(port, of: socket), default: []].insert(socket.id) }
        pairs.insert(socket)
    }

    private mutating func remove(_ socket: HostSocket) {
        notable.remove(socket.id)
        if byInode[socket.inode] == socket.id { byInode[socket.inode] = nil }
        if socket.isQueued, case let listener = socket.listenerInode {
            queued[listener]?.remove(socket.id)
            if queued[listener]?.isEmpty == true { queued[listener] = nil }
        }
        guard socket.transport == .tcp, let local = socket.local?.unmapped, let port = local.port else { return }
        if socket.isListening, case let place = HostPort(port, of: socket) {
            listening[place]?.remove(socket.id)
            if listening[place]?.isEmpty == true { listening[place] = nil }
        }
        pairs.remove(socket)
    }

    /// Absorbs the same sockets, with the facts about their programs.
    mutating func absorb(programsOf examined: HostLook) {
        let sockets = look.sockets
        look = examined
        look.sockets = sockets
        programs = examined.processes.filter { !$0.value.threads.isEmpty }.mapValues(HostProgram.init)
    }

    subscript(id: UInt64) -> HostSocket? { places[id].map { look.sockets[$0] } }

    func socket(inode: UInt64) -> HostSocket? { byInode[inode].flatMap { self[$0] } }

    /// Returns those of these sockets that exist, in the order of their identities.
    func sockets(_ ids: some Sequence<UInt64>) -> [HostSocket] { ids.sorted().compactMap { self[$0] } }

    /// Returns the other end, if it is on this host and visible.
    func peer(of socket: HostSocket) -> HostSocket? {
        if socket.transport.isUnix { return socket.peerInode == 0 ? nil : self.socket(inode: socket.peerInode) }
        guard socket.transport == .tcp, let peer = pairs.peer(of: socket).flatMap({ self[$0] }) else { return nil }
        return socket.namespace == peer.namespace || mayMeet(socket, peer) ? peer : nil
    }

    /// Whether the ends of a connection that leaves a network namespace may be what their addresses say.
    private func mayMeet(_ socket: HostSocket, _ peer: HostSocket) -> Bool {
        guard [socket, peer].allSatisfy({ look.machines[$0.host]?.isLive ?? true }) else { return false }
        switch pairing(socket, peer) {
        case .counters: return true
        case .addresses: return socket.local?.ip?.isLinkLocal != true
        case .contradicted: return false
        }
    }

    /// Returns how well two ends with each other's addresses fit.
    func pairing(_ socket: HostSocket, _ peer: HostSocket) -> HostCounters.Pairing {
        if socket.namespace == peer.namespace { return .counters }
        return moving.contains(socket.id) || moving.contains(peer.id)
            ? .addresses : HostCounters.pairing(socket, peer)
    }

    /// Returns the Unix-domain sockets that wait to be accepted by a listener.
    func queued(at listener: HostSocket) -> [HostSocket] {
        listener.inode == 0 ? [] : sockets(queued[listener.inode] ?? [])
    }

    /// Returns a connection's visible ends in the same order for either of them: the connecting one first.
    func ends(of socket: HostSocket) -> [HostSocket] {
        guard let peer = peer(of: socket) else { return [socket] }
        let isSecond = isServerSide(socket) == isServerSide(peer) ? peer.id < socket.id : isServerSide(socket)
        return isSecond ? [peer, socket] : [socket, peer]
    }

    /// Returns the listeners of a TCP port in a socket's network namespace.
    func listeners(_ port: UInt16?, near socket: HostSocket) -> [HostSocket] {
        sockets(port.flatMap { listening[HostPort($0, of: socket)] } ?? [])
    }

    /// Whether it is the accepting end: a listener has its port, or a Unix-domain socket has a name.
    func isServerSide(_ socket: HostSocket) -> Bool {
        if socket.transport.isUnix { return socket.local?.name?.isEmpty == false }
        return socket.local?.port.flatMap { listening[HostPort($0, of: socket)] } != nil
    }

    /// Returns the owners, as far as they are visible.
    func owners(of socket: HostSocket) -> [HostLook.Owner] {
        socket.inode == 0 ? [] : look.owners[socket.inode] ?? []
    }
}

extension HostSocket {
    /// Whether it is a Unix-domain socket that waits to be accepted.
    var isQueued: Bool { listenerInode != 0 }
}

extension SocketAddress {
    /// An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) as IPv4, and any other address unchanged.
    var unmapped: SocketAddress {
        guard case .v6(0, let low, let port) = storage, low.bigEndian >> 32 == 0xFFFF else { return self }
        return SocketAddress(.v4(UInt32(truncatingIfNeeded: low.bigEndian).bigEndian, port: port))
    }
}
