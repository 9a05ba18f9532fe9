import SocketCore

/// The state of all sessions as last published, encoded once for all viewers. Each viewer fetches its missing updates
/// when it has room, so a slow one skips straight to the latest state.
package struct InspectionBoard: Sendable {
    private struct Entry {
        var bytes: [UInt8]
        var revision: UInt64
    }

    /// How much of the board one viewer has received.
    package struct Progress: Sendable {
        fileprivate var revision: UInt64 = 0
        fileprivate var removals: UInt64 = 0
        fileprivate var nextEvent: UInt64?
        fileprivate var trafficOf: SocketID?
        fileprivate var traffic = ToldTraffic()
        fileprivate var underWay: Update?
        package var watch = InspectionWatch() {
            // A viewer drops a session's traffic when it stops watching it.
            didSet { if watch.traffic != oldValue.traffic { trafficOf = nil } }
        }

        package init() {}

        /// Whether an update was started and has not ended yet.
        package var isUnderWay: Bool { underWay != nil }
    }

    /// An update that one viewer receives piece by piece.
    fileprivate struct Update {
        /// The sessions it includes. Those from `firstWatched` on are sent with listings and kernel state.
        var sessions: [SocketID]
        var firstWatched: Int
        var told = 0
        /// The minimum revision that the viewer has when the update ends.
        var revision: UInt64
        /// The traffic when the update began. If the update followed growing traffic, it might never end.
        var traffic: TrafficSnapshot?
    }

    private var entries: [SocketID: Entry] = [:]
    private var revision: UInt64 = 0
    /// The sessions that the latest revision changed, or has changed so far while it is incomplete.
    private var lastChanged: [SocketID] = []
    /// Whether the last publication has arrived in full.
    package private(set) var isComplete = true
    /// Closed sessions in order, and the sessions removed since the board was created, without those before
    /// `forgotten`.
    private var closed: [SocketID] = []
    private var closedHead = 0
    private var removed: [SocketID] = []
    private var forgotten: UInt64 = 0
    private var events: [SocketEvent] = []
    /// The last snapshot, without its sessions and events.
    private var last = EngineSnapshot(engine: "", time: .zero, wallNanoseconds: 0)
    private var lastChanges = SnapshotChanges()
    private var interval = Duration.zero
    /// The watched sessions that have arrived, while a publication is incomplete.
    private var watched: [SocketID: SocketSnapshot] = [:]
    private let showsPayload: Bool
    /// The buffer in which one session is encoded. Its memory is reused.
    private var scratch = WireWriter()

    /// The number of removals remembered for slow viewers. A viewer further behind receives everything from scratch.
    private static let removalLimit = 4_096
    /// The maximum number of events in one update. More is history that no user can read in a tenth of a second.
    package static let eventLimit = 1_024
    /// The approximate content of one `sockets` frame in bytes. It limits how much of an update is in memory at a time.
    package static let chunk = 64 << 10

    /// Creates an empty board. `showsPayload` is whether payload bytes may be sent.
    package init(showsPayload: Bool) { self.showsPayload = showsPayload }

    /// The number of sessions on the board.
    package var count: Int { entries.count }

    /// Absorbs a snapshot of what changed, or its next piece. `interval` is the current time between updates.
    package mutating func absorb(_ snapshot: consuming EngineSnapshot, every interval: Duration = .zero) {
        if isComplete {
            revision += 1
            lastChanged.removeAll(keepingCapacity: true)
        }
        var changes = snapshot.changes.take() ?? SnapshotChanges()
        isComplete = !changes.isPartial
        watched.merge(changes.watched) { $1 }
        for index in snapshot.sockets.indices { put(&snapshot.sockets[index]) }
        snapshot.sockets = []
        for id in changes.gone { remove(id) }
        guard isComplete else { return }
        swap(&changes.watched, &watched)
        watched = [:]
        removeExpired(upTo: changes.oldestClosed)
        events += snapshot.events
        snapshot.events = []
        if events.count > Self.eventLimit { events.removeFirst(events.count - Self.eventLimit) }
        (last, lastChanges, self.interval) = (snapshot, changes, interval)
    }

    /// Takes the session by reference, because a copy costs as much as the rest of the work.
    private mutating func put(_ socket: inout SocketSnapshot) {
        if socket.phase == .closed {
            closed.append(socket.id)
            // An earlier piece may have listed it as live.
            watched[socket.id] = nil
        }
        encode(&socket)
        // The exact size, without an array's spare capacity.
        entries[socket.id] = Entry(bytes: Array(scratch.bytes[...]), revision: revision)
        lastChanged.append(socket.id)
    }

    /// Encodes a session. Without the right to payload, its payload bytes are left out.
    private mutating func encode(_ socket: inout SocketSnapshot) {
        if !showsPayload { socket.hidePayload() }
        scratch.clear()
        socket.encode(to: &scratch)
    }

    private mutating func removeExpired(upTo oldest: SocketID?) {
        while closedHead < closed.count, closed[closedHead] != oldest {
            remove(closed[closedHead])
            closedHead += 1
        }
        if closedHead > 1_024 {
            closed.removeFirst(closedHead)
            closedHead = 0
        }
    }

    private mutating func remove(_ id: SocketID) {
        watched[id] = nil
        guard entries.removeValue(forKey: id) != nil else { return }
        removed.append(id)
        guard removed.count > 2 * Self.removalLimit else { return }
        forgotten += UInt64(Self.removalLimit)
        removed.removeFirst(Self.removalLimit)
    }

    // MARK: Updates

    /// Writes the next piece of what a viewer is missing, as whole frames. Returns whether more follows once it has
    /// been sent. A session that changes meanwhile is sent in the state it has when its turn comes.
    package mutating func update(_ viewer: inout Progress, to writer: inout WireWriter) -> Bool {
        guard isComplete else { return false }
        // Finish an update first, whatever was forgotten meanwhile. Otherwise a slow viewer would never finish one.
        if viewer.underWay == nil { begin(&viewer, &writer) }
        guard appendSockets(&viewer, to: &writer) else { return true }
        appendEvents(&viewer, to: &writer)
        if showsPayload, !appendTraffic(&viewer, to: &writer) { return true }
        var tick = InspectionTick(last)
        tick.interval = interval
        if viewer.removals >= forgotten {
            tick.removed = Array(removed.dropFirst(Int(viewer.removals - forgotten)))
            viewer.removals = forgotten + UInt64(removed.count)
        } else {
            // `removals` makes the next update start from scratch.
            tick.removed = removed
        }
        viewer.revision = viewer.underWay?.revision ?? revision
        viewer.underWay = nil
        writer.frame(.tick) { tick.encode(to: &$0) }
        return false
    }

    private func begin(_ viewer: inout Progress, _ writer: inout WireWriter) {
        if viewer.removals < forgotten {
            if viewer.revision > 0 || viewer.isUnderWay { writer.frame(.reset) { _ in } }
            viewer.revision = 0
        }
        // A viewer doesn't know what was removed before it connected.
        if viewer.revision == 0 { viewer.removals = forgotten + UInt64(removed.count) }
        let watched =
            viewer.watch.wantsAll
            ? lastChanges.watched.keys.sorted() : viewer.watch.sockets.filter { lastChanges.watched[$0] != nil }
        let others = Set(watched)
        var sessions: [SocketID]
        if viewer.revision > 0, viewer.revision + 1 == revision {
            sessions = lastChanged.filter { !others.contains($0) }
        } else {
            // Ascending, which is the order in which viewers keep them.
            sessions = entries.keys.filter { !others.contains($0) && isNews($0, to: viewer) }.sorted()
        }
        let count = sessions.count
        sessions += watched
        let traffic = viewer.watch.traffic.flatMap { lastChanges.traffic[$0] }
        viewer.underWay = Update(sessions: sessions, firstWatched: count, revision: revision, traffic: traffic)
    }

    private func isNews(_ id: SocketID, to viewer: Progress) -> Bool {
        entries[id].map { $0.revision > viewer.revision } ?? false
    }

    /// Writes the next sessions. Returns whether all have been sent.
    private mutating func appendSockets(_ viewer: inout Progress, to writer: inout WireWriter) -> Bool {
        guard var update = viewer.underWay, update.told < update.sessions.count else { return true }
        // Without this, the array would have a second reference and be copied.
        viewer.underWay = nil
        let start = writer.bytes.count
        var isEmpty = true
        writer.frame(.sockets) { writer in
            while update.told < update.sessions.count {
                let id = update.sessions[update.told]
                guard let bytes = block(id, isWatched: update.told >= update.firstWatched) else {
                    update.told += 1
                    continue
                }
                if !isEmpty, writer.bytes.count - start + bytes.count > Self.chunk { break }
                writer.append(1, encoded: bytes)
                isEmpty = false
                update.told += 1
            }
        }
        viewer.underWay = update
        return update.told == update.sessions.count
    }

    private mutating func block(_ id: SocketID, isWatched: Bool) -> [UInt8]? {
        guard isWatched, var socket = lastChanges.watched[id] else { return entries[id]?.bytes }
        encode(&socket)
        return scratch.bytes
    }

    private func appendEvents(_ viewer: inout Progress, to writer: inout WireWriter) {
        defer { viewer.nextEvent = viewer.watch.wantsEvents ? last.nextEvent : nil }
        guard viewer.watch.wantsEvents else { return }
        let next = viewer.nextEvent ?? 0
        var new = InspectionList(values: Array(events.drop { $0.sequence < next }))
        if !new.values.isEmpty { writer.frame(.events) { new.encode(to: &$0) } }
    }

    /// Writes the next piece of the traffic that the viewer watches. Returns whether that was the last.
    private func appendTraffic(_ viewer: inout Progress, to writer: inout WireWriter) -> Bool {
        guard let id = viewer.watch.traffic, let traffic = viewer.underWay?.traffic else { return true }
        let isFirst = viewer.trafficOf != id
        if isFirst { (viewer.trafficOf, viewer.traffic) = (id, ToldTraffic()) }
        let wasDropped = viewer.traffic.dropped
        var change = InspectionTraffic()
        change.socket = id
        change.dropped = traffic.dropped
        change.first = traffic.items.first?.sequence ?? 0
        let isLast = viewer.traffic.takeNews(of: traffic, into: &change.items, most: Self.chunk)
        guard isFirst || !change.items.isEmpty || traffic.dropped != wasDropped else { return true }
        writer.frame(.traffic) { change.encode(to: &$0) }
        return isLast
    }
}
