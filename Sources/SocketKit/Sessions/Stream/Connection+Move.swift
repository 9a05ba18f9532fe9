import SocketCore

/// A connection on its way from one engine to another, with everything but the engine.
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
    /// Callbacks that were queued but haven't run yet. They run first.
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

/// Carries a state machine between two connections. It can't be copied, so it is taken out once.
final class MovedMachine: Sendable {
    private let machine: Lock<ConnectionMachine?>

    init(_ machine: consuming sending ConnectionMachine) {
        self.machine = Lock(machine)
    }

    /// Takes the machine out. Traps if called again.
    func take() -> ConnectionMachine {
        let taken = machine.withLock { $0.take() }
        guard let taken else { preconditionFailure("a connection that moved was taken over twice") }
        return taken
    }
}

extension Connection {
    /// Only an open connection can move.
    var mayMove: Bool { machine.isOpen && socket != nil }

    /// Leaves this engine for another one, with all queues, bytes and pending notices. `name` returns the identifier
    /// that each session has there. Runs under the handle's lock, so it neither destroys the caller's objects nor calls
    /// the handle.
    func moveAway(of handle: AsyncSocket, named name: (SocketID) -> SocketID) -> MovedConnection {
        let id = name(self.id)
        guard let descriptor = socket?.descriptor else { preconditionFailure("only a connected socket moves") }
        recallPieces()
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

    /// Returns the machine and leaves a closed one in its place.
    private func leaveMachine() -> ConnectionMachine {
        var machine = ConnectionMachine(allowsHalfOpen: false)
        machine.didClose()
        swap(&machine, &self.machine)
        return machine
    }
}

extension EngineState {
    /// Takes over a connection from another engine. Nothing here can know of the session earlier. Whether bytes are
    /// waiting, or there is room to write, is determined again.
    func absorb(_ moved: MovedConnection, for handle: AsyncSocket) {
        counters.opened += 1
        // If this fails, watching the descriptor fails and closes the connection.
        try? checkReactor("move")
        let connection = Connection(
            id: moved.id, engine: self, handle: handle,
            origin: ConnectionOrigin(
                moved.role, of: moved.parent, target: moved.target, host: moved.host,
                settings: Shared(moved.configuration)))
        connection.watermarks = moved.watermarks
        connection.retain(handle)
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
        if talliesExchanges { connection.joinTally() }
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
