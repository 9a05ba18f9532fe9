import SocketCore
import SocketRecords

extension SnapshotRequest.Changes {
    /// The most sessions in one piece. More would hold up the engine's queue, and take memory that is not used again.
    static let limit = 128
    /// The most sessions in one piece with kernel state, which takes some six system calls each.
    static let watchedLimit = 64
}

/// The sessions that changed since the last snapshot of changes, in the order of their first change.
struct ChangeNotes {
    var sessions: [SocketID] = []
    /// The number of them, from the first, that the current snapshot has yet to list.
    var owed = 0
    /// Watched sessions that the current snapshot has yet to list, or `nil` if it has not reached them.
    var watched: ArraySlice<SocketID>?
    /// Noted sessions that have ended.
    var ended: Set<SocketID> = []
    /// The last ended session that was listed.
    var lastClosed: SocketID?
    /// Ended sessions that changed after they were listed.
    var amended: Set<SocketID> = []
    /// Sessions whose traffic is kept only because a viewer shows it.
    var tapped: Set<SocketID> = []
}

extension EngineState {
    /// Notes a change, if there are viewers.
    func note(_ id: SocketID) { notes?.sessions.append(id) }

    /// Lists what changed since the last time, or the next piece of it. The first call starts taking notes.
    func listChanges(
        _ request: SnapshotRequest, _ stage: SnapshotRequest.Changes, in snapshot: inout EngineSnapshot
    ) {
        // Processor time, because on a busy machine the queue's thread waits for its turn, which is not a cost of this.
        let began = ProcessorTime.ofThread
        if stage.isWhole || notes == nil {
            noteAll()
        } else if !stage.isContinued {
            let owed = notes?.sessions.count ?? 0
            notes?.owed = owed
        }
        var changes = SnapshotChanges()
        listNoted(in: &snapshot)
        if notes?.owed == 0, listWatched(by: stage, in: &changes) {
            finish(&snapshot, &changes, request, stage)
        } else {
            changes.isPartial = true
        }
        changes.cost = ProcessorTime.ofThread - began
        snapshot.changes = changes
    }

    /// Notes every session, as if it had just changed.
    private func noteAll() {
        var all = ChangeNotes(tapped: notes?.tapped ?? [])
        all.sessions.reserveCapacity(sessions.count)
        let isFirst = !talliesExchanges
        for session in sessions.values {
            if isFirst { session.connection?.joinTally() }
            session.isNoted = true
            all.sessions.append(session.id)
        }
        all.owed = all.sessions.count
        notes = all
    }

    /// Lists what only the last piece includes.
    private func finish(
        _ snapshot: inout EngineSnapshot, _ changes: inout SnapshotChanges, _ request: SnapshotRequest,
        _ stage: SnapshotRequest.Changes
    ) {
        listEndings(in: &snapshot, &changes)
        tap(stage.traffic)
        for id in stage.traffic { changes.traffic[id] = traffic(of: id) }
        changes.oldestClosed = closed.list(now: now).first?.id
        // If there are more events than one update takes, list the latest.
        let latest = ring.next - min(ring.next, UInt64(InspectionBoard.eventLimit))
        complete(&snapshot, eventsFrom: max(request.eventsFrom ?? 0, latest))
    }

    /// Lists as many watched sessions as one piece takes, with their kernel state. Returns whether this was the last
    /// piece.
    private func listWatched(
        by stage: SnapshotRequest.Changes, in changes: inout SnapshotChanges
    ) -> Bool {
        let left = notes?.watched ?? watched(by: stage)[...]
        let limit = SnapshotRequest.Changes.watchedLimit
        for id in left.prefix(limit) {
            if let whole = sessions[id]?.snapshot(withKernel: true) { changes.watched[id] = whole }
        }
        let rest = left.dropFirst(limit)
        notes?.watched = rest.isEmpty ? nil : rest
        return rest.isEmpty
    }

    private func watched(by stage: SnapshotRequest.Changes) -> [SocketID] {
        guard stage.watchesAll else { return Array(stage.watched) }
        let limit = InspectionWatch.limit
        // These are few. Streams get the places that are left.
        let few = sessions.oldest(limit) { $0.acceptor != nil } + sessions.oldest(limit) { $0.datagrams != nil }
        let streams = sessions.oldest(max(0, limit - few.count)) { $0.connection != nil }
        let all = (few.prefix(limit) + streams).map(\.id)
        return all + stage.watched.subtracting(all)
    }

    /// Lists as many noted sessions as one piece takes.
    private func listNoted(in snapshot: inout EngineSnapshot) {
        guard let owed = notes?.owed, owed > 0 else { return }
        let count = min(owed, SnapshotRequest.Changes.limit)
        // Remove them before they are listed, because a session may be noted again at once.
        let piece = Array(notes?.sessions.prefix(count) ?? [])
        notes?.sessions.removeFirst(count)
        notes?.owed = owed - count
        snapshot.sockets.reserveCapacity(count)
        for id in piece {
            if let session = sessions[id] { list(session, in: &snapshot) } else { notes?.ended.insert(id) }
        }
    }

    /// Lists the sessions that ended since the last time, in the order of their ends, however late they were noted.
    /// Those that are not kept are listed as gone.
    private func listEndings(in snapshot: inout EngineSnapshot, _ changes: inout SnapshotChanges) {
        let kept = closed.list(now: now)
        let told = kept.lastIndex { $0.id == notes?.lastClosed }.map { $0 + 1 } ?? kept.startIndex
        snapshot.sockets += kept[..<told].filter { notes?.amended.contains($0.id) == true }.map(\.snapshot)
        notes?.amended = []
        snapshot.sockets += kept[told...].map(\.snapshot)
        notes?.lastClosed = kept.last?.id
        guard var gone = notes?.ended, !gone.isEmpty else { return }
        for index in kept.indices { gone.remove(kept[index].id) }
        changes.gone = Array(gone)
        notes?.ended = []
    }

    private func list(_ session: Session, in snapshot: inout EngineSnapshot) {
        var told = session.told
        told.rest(now)
        snapshot.sockets.append(told)
        session.isNoted = told.changesByItself || !session.isSettled
        if session.isNoted { note(session.id) }
    }

    /// Keeps the traffic of the sessions that viewers show, unless the engine keeps all traffic.
    private func tap(_ wanted: Set<SocketID>) {
        guard !capturesTraffic, let tapped = notes?.tapped, tapped != wanted else { return }
        for id in tapped.subtracting(wanted) { sessions[id]?.keepTraffic(in: nil) }
        for id in wanted {
            if let session = sessions[id], session.traffic == nil { session.keepTraffic(in: newTrafficLog()) }
        }
        notes?.tapped = wanted
    }

    /// Stops taking notes, because no viewer is left.
    func stopPublishing() {
        tap([])
        notes = nil
        for session in sessions.values {
            session.isNoted = false
            if !capturesTraffic { session.connection?.rare?.exchanges = nil }
        }
    }
}

extension SocketSnapshot {
    /// Sets the rates of an idle session to 0. Rates take two measurements, but a second without bytes is known at the
    /// first. A new viewer then gets thousands of idle sessions once, not twice.
    fileprivate mutating func rest(_ now: MonotonicTime) {
        guard receiveRate == nil, phase == .connected, writing.current == nil, writing.pendingBytes == 0,
            let last = activity.lastByte, now - last > .seconds(1)
        else { return }
        (receiveRate, sendRate) = (0, 0)
        (activity.operationRate, activity.queueRate) = (0, 0)
    }

    /// Whether the snapshot changes with time alone: rates fall, attempts and callbacks grow older.
    var changesByItself: Bool {
        func moves(_ rate: Double?) -> Bool { rate.map { $0 > 0 } ?? true }
        if role == .listener { return false }
        if phase == .resolving || phase == .connecting { return true }
        if let callbacks, callbacks.undelivered > 0 || callbacks.lag != nil && callbacks.ran == nil { return true }
        if let webSocket, webSocket.undeliveredBytes > 0 { return true }
        if moves(receiveRate) || moves(sendRate) { return true }
        // These are not measured of a datagram socket.
        return role != .datagram && (moves(activity.operationRate) || moves(activity.queueRate))
    }
}
