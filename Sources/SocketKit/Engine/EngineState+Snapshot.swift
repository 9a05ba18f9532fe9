import SocketCore

extension EngineState {
    /// Returns all sessions at this instant, or those that changed since the last time.
    func snapshot(_ request: SnapshotRequest) -> EngineSnapshot {
        var snapshot = EngineSnapshot(
            engine: configuration.name, time: now, wallNanoseconds: clock.wallNanoseconds)
        if let changes = request.changes {
            listChanges(request, changes, in: &snapshot)
        } else {
            snapshot.sockets = pictures(request.kernel, aged: request.kernelAge)
            complete(&snapshot, eventsFrom: request.eventsFrom)
            snapshot.trafficOf = request.traffic
            snapshot.traffic = request.traffic.flatMap(traffic(of:))
            snapshot.changedTraffic = request.trafficVersions.map { changedTraffic(of: snapshot.sockets, since: $0) }
        }
        return snapshot
    }

    /// Adds the engine's own numbers, and events.
    func complete(_ snapshot: inout EngineSnapshot, eventsFrom first: UInt64?) {
        snapshot.counters = currentCounters
        snapshot.times = meter.times(now)
        guard let first else { return }
        (snapshot.events, snapshot.eventsLost, snapshot.nextEvent) = ring.read(from: first)
    }

    /// The counters, including what is summed elsewhere.
    var currentCounters: EngineCounters {
        var current = counters
        current.unfinishedMessageBytes = UInt64(max(0, unfinishedBytes))
        return current
    }

    /// Returns all sessions, by number.
    private func pictures(_ kernel: SnapshotRequest.KernelChoice, aged: Duration) -> [SocketSnapshot] {
        // They have nearly this order.
        var ended = closed.list(now: now).map(\.snapshot).sorted { $0.id < $1.id }[...]
        var pictures: [SocketSnapshot] = []
        pictures.reserveCapacity(sessions.count + ended.count)
        for session in sessions.inOrder() {
            let id = session.id
            while let first = ended.first, first.id < id { pictures.append(ended.removeFirst()) }
            pictures.append(session.listed(withKernel: kernel.includes(id), aged: aged))
        }
        pictures.append(contentsOf: ended)
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
