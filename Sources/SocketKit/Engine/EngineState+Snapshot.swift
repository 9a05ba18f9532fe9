import SocketCore

extension EngineState {
    /// All sessions at this instant, or those that changed since the last time.
    func snapshot(_ request: SnapshotRequest) -> EngineSnapshot {
        var snapshot = EngineSnapshot(
            engine: configuration.name, time: now, wallNanoseconds: clock.wallNanoseconds)
        if let changes = request.changes {
            listChanges(request, changes, in: &snapshot)
        } else {
            snapshot.sockets = pictures(request.kernel)
            complete(&snapshot, eventsFrom: request.eventsFrom)
            snapshot.trafficOf = request.traffic
            snapshot.traffic = request.traffic.flatMap(traffic(of:))
            snapshot.changedTraffic = request.trafficVersions.map { changedTraffic(of: snapshot.sockets, since: $0) }
        }
        return snapshot
    }

    /// Adds the numbers of the engine itself, and events.
    func complete(_ snapshot: inout EngineSnapshot, eventsFrom first: UInt64?) {
        snapshot.counters = currentCounters
        snapshot.times = meter.times(now)
        guard let first else { return }
        (snapshot.events, snapshot.eventsLost, snapshot.nextEvent) = ring.read(from: first)
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
        others += closed.list(now: now).map(\.snapshot)
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
