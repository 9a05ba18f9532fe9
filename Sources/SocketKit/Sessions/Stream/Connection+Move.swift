import SocketCore

/// A connection on its way from one engine to another: everything but the engine.
struct MovedConnection: Sendable {
    let id: SocketID
    let former: SocketID
    let descriptor: Int32
    let machine: MovedMachine
    let role: SocketRole
    let parent: SocketID?
    let closeMode: CloseMode?
    let isAboveHighMark: Bool
    let mayLiveOn: Bool
    /// Callbacks that were decided but not made yet; they come first.
    let notices: [SocketNotice]
    let target: String
    let configuration: SocketConfiguration
    let watermarks: Watermarks?
    let local: SocketAddress?
    let peer: SocketAddress?
    let connected: MonotonicTime?
    let connect: ConnectSnapshot?
    let received: UInt64
    let sent: UInt64
    let traffic: TrafficLog?
    let host: String?
    let tls: MovedTLS?
    let owners: [OperationID: OwnedBytes]
}

/// A machine between two connections: it cannot be copied, so it is taken out once.
final class MovedMachine: Sendable {
    private let machine: Lock<ConnectionMachine?>

    init(_ machine: consuming sending ConnectionMachine) {
        self.machine = Lock(machine)
    }

    /// Takes it out. Traps the second time.
    func take() -> ConnectionMachine {
        let taken = machine.withLock { $0.take() }
        guard let taken else { preconditionFailure("a connection that moved was taken over twice") }
        return taken
    }
}

extension Connection {
    /// Whether it can move: only what is connected.
    var mayMove: Bool { machine.isOpen && socket != nil }

    /// Leaves this engine for another one, with all its queues and bytes, and with what its handle is still to be told.
    /// `name` gives each session the name that it has there. Under the lock of the handle, so it destroys nothing that is
    /// the user's, and asks the handle nothing.
    func moveAway(of handle: AsyncSocket, named name: (SocketID) -> SocketID) -> MovedConnection {
        let id = name(self.id)
        guard let descriptor = socket?.descriptor else { preconditionFailure("only a connected socket moves") }
        if interest.leave() { engine.reactor.remove(descriptor) }
        record(.movedAway, Int(id.number))
        noteChange()
        engine.counters.closed += 1
        engine.retire(self)
        engine.sessions[self.id] = nil
        _ = socket?.release()
        socket = nil
        let moved = MovedConnection(
            id: id, former: self.id, descriptor: descriptor, machine: MovedMachine(leaveMachine()), role: role,
            parent: origin.facts.parent,
            closeMode: closeMode, isAboveHighMark: isAboveHighMark, mayLiveOn: mayLiveOn,
            notices: engine.outbox.take(for: handle).map { $0.renamed(name) }, target: target,
            configuration: configuration, watermarks: watermarks, local: local, peer: peer, connected: connected.value,
            connect: connector?.summary, received: received, sent: sent, traffic: takeTraffic(), host: origin.host,
            tls: tls.map(MovedTLS.init), owners: rare?.owners ?? [:])
        rare?.owners = [:]
        detachHandle()
        return moved
    }

    /// Gives the machine away; a closed one takes its place.
    private func leaveMachine() -> ConnectionMachine {
        var machine = ConnectionMachine(allowsHalfOpen: false)
        machine.didClose()
        swap(&machine, &self.machine)
        return machine
    }
}

extension EngineState {
    /// Takes over a connection that left another engine. Before it, nobody here can know of its session. Whether bytes wait, or room is there, is found out anew.
    func take(_ moved: MovedConnection, for handle: AsyncSocket) {
        counters.opened += 1
        let connection = Connection(
            id: moved.id, engine: self, handle: handle,
            origin: ConnectionOrigin(
                moved.role, of: moved.parent, target: moved.target, host: moved.host,
                settings: Shared(moved.configuration)))
        connection.watermarks = moved.watermarks
        connection.hold(handle)
        for notice in moved.notices {
            outbox.append(.socket(SocketCall(connection: BorrowedReference(connection), notice: notice)))
        }
        connection.closeMode = moved.closeMode
        connection.isAboveHighMark = moved.isAboveHighMark
        connection.mayLiveOn = moved.mayLiveOn
        connection.machine = moved.machine.take()
        connection.socket = SocketHandle(moved.descriptor, kernel: kernel)
        connection.local = moved.local
        connection.peer = moved.peer
        connection.connected = PackedTime(moved.connected)
        if let tls = moved.tls { connection.layers.wire = .tls(tls.layer) }
        connection.received = moved.received
        connection.sent = moved.sent
        if !moved.owners.isEmpty { connection.madeRare.owners = moved.owners }
        if capturesTraffic { connection.traffic = moved.traffic ?? newTrafficLog() }
        if let summary = moved.connect {
            let connector = Connector(started: now, timeout: nil, localAddresses: nil)
            connector.summary = summary
            connection.connector = connector
        }
        sessions[moved.id] = .stream(connection)
        connection.record(.movedHere, Int(moved.former.number))
        connection.performReads()
        if connection.isWireEncrypted {
            connection.decryptMore()
            connection.sendRecords()
        }
        connection.askForFlush()
        connection.finishStep()
    }
}
