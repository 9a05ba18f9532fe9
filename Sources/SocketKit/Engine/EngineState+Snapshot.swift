import SocketCore

extension EngineState {
    /// A picture of everything at this instant.
    func snapshot(_ request: SnapshotRequest) -> EngineSnapshot {
        var snapshot = EngineSnapshot(
            engine: configuration.name, time: now, wallNanoseconds: clock.wallNanoseconds)
        snapshot.sockets = pictures(request.kernel)
        snapshot.counters = currentCounters
        snapshot.times = meter.times(now)
        if let first = request.eventsFrom {
            (snapshot.events, snapshot.eventsLost, snapshot.nextEvent) = ring.read(from: first)
        }
        if let id = request.traffic {
            snapshot.trafficOf = id
            snapshot.traffic = traffic(of: id)
        }
        return snapshot
    }

    /// The counters, with what is summed elsewhere.
    var currentCounters: EngineCounters {
        var current = counters
        current.unfinishedMessageBytes = UInt64(max(0, unfinishedBytes))
        return current
    }

    /// All sessions, by number.
    private func pictures(_ kernel: SnapshotRequest.KernelChoice) -> [SocketSnapshot] {
        var others = acceptors.values.map { $0.snapshot(withKernel: kernel.includes($0.id)) }
        others += datagrams.values.map { $0.snapshot(withKernel: kernel.includes($0.id)) }
        others += closed.list(now: now)
        others.sort { $0.id > $1.id }
        var pictures: [SocketSnapshot] = []
        pictures.reserveCapacity(connections.count + others.count)
        for connection in connections.inOrder() {
            while !others.isEmpty, others[others.count - 1].id < connection.id { pictures.append(others.removeLast()) }
            pictures.append(connection.picture(withKernel: kernel.includes(connection.id)))
        }
        pictures.append(contentsOf: others.reversed())
        return pictures
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
