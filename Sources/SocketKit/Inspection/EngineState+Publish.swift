import SocketCore

/// What a publication shall hold beside the sessions that changed.
struct PublicationRequest: Sendable {
    /// Sessions to be listed whole, with the kernel's side.
    var watched: Set<SocketID> = []
    /// Sessions whose traffic is told.
    var traffic: Set<SocketID> = []
    /// Events from this one on.
    var eventsFrom: UInt64 = 0
    /// Tell all there is, whether it changed or not.
    var isWhole = false
}

/// The sessions that changed since the last publication, in the order in which they first did.
struct ChangeNotes {
    var sessions: [SocketID] = []
    /// Datagram sockets that were told of last.
    var datagrams: Set<SocketID> = []
    /// Sessions whose traffic is kept only since a viewer wants to see it.
    var tapped: Set<SocketID> = []
}

extension EngineState {
    /// Notes a change, where somebody wants to be told of changes.
    func note(_ id: SocketID) { notes?.sessions.append(id) }

    /// What changed since the last time. The first call begins to take notes.
    func publish(_ request: PublicationRequest) -> Publication {
        let began = clock.now
        var publication = Publication()
        let isWhole = request.isWhole || notes == nil
        // Datagram sockets are few, and told of each time; of one that is over, what is kept of its end.
        let over = (notes?.datagrams ?? []).subtracting(datagrams.keys)
        let noted = (notes?.sessions ?? []) + over
        notes = ChangeNotes(datagrams: Set(datagrams.keys), tapped: notes?.tapped ?? [])
        publication.changed = datagrams.values.map { $0.snapshot(withKernel: false) }
        tap(request.traffic)
        if isWhole {
            for connection in connections.values { publish(connection, in: &publication) }
            for acceptor in acceptors.values { publication.changed.append(acceptor.snapshot(withKernel: false)) }
            publication.changed += closed.list(now: now)
        } else {
            publish(noted, in: &publication)
        }
        for id in request.watched {
            let whole =
                connections[id]?.snapshot(withKernel: true) ?? acceptors[id]?.snapshot(withKernel: true)
                ?? datagrams[id]?.snapshot(withKernel: true)
            if let whole { publication.watched[id] = whole }
        }
        for id in request.traffic {
            publication.traffic[id] =
                connections[id]?.traffic?.snapshot ?? datagrams[id]?.traffic?.snapshot ?? closed.traffic(of: id)
        }
        publication.oldestClosed = closed.list(now: now).first?.id
        let (events, _, next) = ring.read(from: request.eventsFrom)
        publication.events = events
        publication.tick = tick(next)
        lastLook = now
        publication.cost = clock.now - began
        return publication
    }

    private func tick(_ nextEvent: UInt64) -> InspectionTick {
        var tick = InspectionTick()
        tick.time = now
        tick.wallNanoseconds = clock.wallNanoseconds
        tick.counters = counters
        tick.times = meter.times(now)
        tick.nextEvent = nextEvent
        return tick
    }

    private func publish(_ noted: [SocketID], in publication: inout Publication) {
        var ended: Set<SocketID> = []
        for id in noted {
            if let connection = connections[id] {
                publish(connection, in: &publication)
            } else if let acceptor = acceptors[id] {
                acceptor.isNoted = false
                publication.changed.append(acceptor.snapshot(withKernel: false))
            } else {
                ended.insert(id)
            }
        }
        guard !ended.isEmpty else { return }
        let endings = closed.list(now: now).filter { ended.contains($0.id) }
        publication.changed += endings
        publication.gone = Array(ended.subtracting(endings.map(\.id)))
    }

    private func publish(_ connection: Connection, in publication: inout Publication) {
        let picture = connection.snapshot(withKernel: false, lists: false)
        publication.changed.append(picture)
        connection.isNoted = picture.changesByItself
        if connection.isNoted { note(connection.id) }
    }

    /// Keeps the traffic of the sessions that are looked at, where the engine does not keep everybody's.
    private func tap(_ wanted: Set<SocketID>) {
        guard !capturesTraffic, let tapped = notes?.tapped, tapped != wanted else { return }
        for id in tapped.subtracting(wanted) {
            connections[id]?.traffic = nil
            datagrams[id]?.traffic = nil
        }
        for id in wanted {
            if let connection = connections[id], connection.traffic == nil { connection.traffic = TrafficLog() }
            if let session = datagrams[id], session.traffic == nil { session.traffic = TrafficLog() }
        }
        notes?.tapped = wanted
    }

    /// Nobody wants to be told any more.
    func stopPublishing() {
        tap([])
        notes = nil
        for connection in connections.values { connection.isNoted = false }
        for acceptor in acceptors.values { acceptor.isNoted = false }
    }
}

extension SocketSnapshot {
    /// Whether it looks different after a while though nothing happens: rates fall, attempts and callbacks grow older.
    var changesByItself: Bool {
        func moves(_ rate: Double?) -> Bool { rate.map { $0 > 0 } ?? true }
        if phase == .resolving || phase == .connecting { return true }
        if let callbacks, callbacks.lag != nil, callbacks.ran == nil { return true }
        return moves(receiveRate) || moves(sendRate) || moves(activity.operationRate) || moves(activity.queueRate)
    }
}
