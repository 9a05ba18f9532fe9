/// The state of all sessions as last published, encoded once for all viewers, each of which takes what it has not got
/// when it has room: a viewer that was slow gets the latest state and never what lay between.
package struct InspectionBoard: Sendable {
    private struct Entry {
        var bytes: [UInt8]
        var revision: UInt64
    }

    /// How far one viewer has got.
    package struct Progress: Sendable {
        fileprivate var revision: UInt64 = 0
        fileprivate var removals: UInt64 = 0
        fileprivate var nextEvent: UInt64?
        fileprivate var trafficOf: SocketID?
        fileprivate var traffic = ToldTraffic()
        fileprivate var underWay: Update?
        package var watch = InspectionWatch() {
            // A viewer forgets the traffic of a session that it looks away from.
            didSet { if watch.traffic != oldValue.traffic { trafficOf = nil } }
        }

        package init() {}

        /// Whether an update was begun and its end not told yet.
        package var isUnderWay: Bool { underWay != nil }
    }

    /// What one viewer is being told, a piece at a time.
    fileprivate struct Update {
        /// Whom it will have been told of; those from `firstWatched` on with listings and the kernel's side.
        var sessions: [SocketID]
        var firstWatched: Int
        var told = 0
        /// The revision that it brings the viewer to, at least.
        var revision: UInt64
        /// The traffic as it was when the update began: one that grows meanwhile would never be told to its end.
        var traffic: TrafficSnapshot?
    }

    private var entries: [SocketID: Entry] = [:]
    private var revision: UInt64 = 0
    /// What the latest revision changed; while it is put together, what it has changed so far.
    private var lastChanged: [SocketID] = []
    /// Whether there is nothing of a publication whose rest is missing.
    package private(set) var isComplete = true
    /// Endings in their order, and sessions removed since the board began, those before `forgotten` left out.
    private var closed: [SocketID] = []
    private var closedHead = 0
    private var removed: [SocketID] = []
    private var forgotten: UInt64 = 0
    private var events: [SocketEvent] = []
    /// The last snapshot, without its sessions and events.
    private var last = EngineSnapshot(engine: "", time: .zero, wallNanoseconds: 0)
    private var lastChanges = SnapshotChanges()
    private var interval = Duration.zero
    /// What came of the watched sessions, while a publication is put together.
    private var watched: [SocketID: SocketSnapshot] = [:]
    private let showsPayload: Bool
    /// Where one session is encoded; its room is used again and again.
    private var scratch = WireWriter()

    /// Removals that are remembered for slow viewers; one that is further behind is told everything anew.
    private static let removalLimit = 4_096
    /// Events told in one update at most: more is history that nobody can read in a tenth of a second.
    package static let eventLimit = 1_024
    /// Content of one `sockets` frame, about: what is in memory at a time of an update, however large.
    package static let chunk = 64 << 10

    /// An empty board; `showsPayload`: whether bytes of payload may be told.
    package init(showsPayload: Bool) { self.showsPayload = showsPayload }

    /// How many sessions are on it.
    package var count: Int { entries.count }

    /// Takes a snapshot of what changed, or the next piece of it. `interval`: how long updates lie apart now.
    package mutating func take(_ snapshot: consuming EngineSnapshot, every interval: Duration = .zero) {
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

    /// By reference: a copy of a session is as dear as the rest of it.
    private mutating func put(_ socket: inout SocketSnapshot) {
        if socket.phase == .closed {
            closed.append(socket.id)
            // It may have been listed as live in an earlier piece.
            watched[socket.id] = nil
        }
        encode(&socket)
        // As long as it is, and not as long as an array grows to.
        entries[socket.id] = Entry(bytes: Array(scratch.bytes[...]), revision: revision)
        lastChanged.append(socket.id)
    }

    /// Without the right to payload, what shows bytes of it is left out.
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

    // MARK: Telling

    /// Writes the next piece of what a viewer has not got yet, as whole frames; whether more follows once that has left.
    /// A session that changes meanwhile is told as it is when its turn comes.
    package mutating func update(_ viewer: inout Progress, to writer: inout WireWriter) -> Bool {
        guard isComplete else { return false }
        // One under way is ended first, whatever was forgotten meanwhile: a slow viewer would never see the end of any.
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
            // The next one begins anew, by `removals`.
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
        // Of what was removed before a viewer came it knows nothing.
        if viewer.revision == 0 { viewer.removals = forgotten + UInt64(removed.count) }
        let watched =
            viewer.watch.wantsAll
            ? lastChanges.watched.keys.sorted() : viewer.watch.sockets.filter { lastChanges.watched[$0] != nil }
        let others = Set(watched)
        var sessions: [SocketID]
        if viewer.revision > 0, viewer.revision + 1 == revision {
            sessions = lastChanged.filter { !others.contains($0) }
        } else {
            // In their order, in which viewers keep them.
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

    /// Whether all of them have been told now.
    private mutating func appendSockets(_ viewer: inout Progress, to writer: inout WireWriter) -> Bool {
        guard var update = viewer.underWay, update.told < update.sessions.count else { return true }
        // The room for them is not copied while this is the only one that holds it.
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

    /// Tells the next piece of the traffic that the viewer watches; whether that was the last.
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
