import SocketCore

extension EngineState {
    /// A picture of everything at this instant.
    func snapshot(_ request: SnapshotRequest) -> EngineSnapshot {
        var snapshot = EngineSnapshot(
            engine: configuration.name, time: now, wallNanoseconds: clock.wallNanoseconds)
        snapshot.sockets.reserveCapacity(connections.count + acceptors.count + datagrams.count)
        for connection in connections.values {
            snapshot.sockets.append(connection.snapshot(withKernel: request.kernel.includes(connection.id)))
        }
        for acceptor in acceptors.values {
            snapshot.sockets.append(acceptor.snapshot(withKernel: request.kernel.includes(acceptor.id)))
        }
        for session in datagrams.values {
            snapshot.sockets.append(session.snapshot(withKernel: request.kernel.includes(session.id)))
        }
        snapshot.sockets.append(contentsOf: closed.list(now: now))
        snapshot.sockets.sort { $0.id < $1.id }
        snapshot.counters = counters
        snapshot.times = meter.times(now)
        if let first = request.eventsFrom {
            (snapshot.events, snapshot.eventsLost, snapshot.nextEvent) = ring.read(from: first)
        }
        if let id = request.traffic {
            snapshot.trafficOf = id
            snapshot.traffic =
                connections[id]?.traffic?.snapshot ?? datagrams[id]?.traffic?.snapshot ?? closed.traffic(of: id)
        }
        return snapshot
    }
}

extension SnapshotRequest.KernelChoice {
    func includes(_ id: SocketID) -> Bool {
        switch self {
        case .none: false
        case .only(let ids): ids.contains(id)
        case .all: true
        }
    }
}
