/// What an engine publishes at one instant, to be told to viewers.
package struct Publication: Sendable {
    package var tick = InspectionTick()
    /// Sessions that changed since the last publication, each whole but for its queues' listings.
    package var changed: [SocketSnapshot] = []
    /// Sessions that are gone without an ending.
    package var gone: [SocketID] = []
    /// The oldest ending that is still listed; nil: none is.
    package var oldestClosed: SocketID?
    /// Sessions that some viewer watches, with listings and the kernel's side.
    package var watched: [SocketID: SocketSnapshot] = [:]
    package var events: [SocketEvent] = []
    /// What was kept of the traffic of the sessions asked for.
    package var traffic: [SocketID: TrafficSnapshot] = [:]
    /// What it took to make, on the engine's queue.
    package var cost = Duration.zero

    package init() {}
}

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
        fileprivate var traffic = TrafficSnapshot()
        package var watch = InspectionWatch()

        package init() {}
    }

    private var entries: [SocketID: Entry] = [:]
    private var revision: UInt64 = 0
    private var lastChanged: [SocketID] = []
    /// Endings in their order, and sessions removed since the board began, those before `forgotten` left out.
    private var closed: [SocketID] = []
    private var closedHead = 0
    private var removed: [SocketID] = []
    private var forgotten: UInt64 = 0
    private var events: [SocketEvent] = []
    private var last = Publication()
    private let showsPayload: Bool

    /// Removals that are remembered for slow viewers; one that is further behind is told everything anew.
    private static let removalLimit = 4_096
    /// Events told in one update at most: more is history that nobody can read in a tenth of a second.
    private static let eventLimit = 1_024
    /// Content of one `sockets` frame, about.
    private static let chunk = 256 << 10

    /// An empty board; `showsPayload`: whether bytes of payload may be told.
    package init(showsPayload: Bool) { self.showsPayload = showsPayload }

    /// How many sessions are on it.
    package var count: Int { entries.count }

    /// Takes what the engine published.
    package mutating func take(_ publication: Publication) {
        revision += 1
        lastChanged.removeAll(keepingCapacity: true)
        for socket in publication.changed {
            if socket.phase == .closed { closed.append(socket.id) }
            entries[socket.id] = Entry(bytes: shown(socket).encoded, revision: revision)
            lastChanged.append(socket.id)
        }
        for id in publication.gone { remove(id) }
        while closedHead < closed.count, closed[closedHead] != publication.oldestClosed {
            remove(closed[closedHead])
            closedHead += 1
        }
        if closedHead > 1_024 {
            closed.removeFirst(closedHead)
            closedHead = 0
        }
        events += publication.events
        if events.count > Self.eventLimit { events.removeFirst(events.count - Self.eventLimit) }
        last = publication
        last.changed = []
        last.events = []
    }

    private mutating func remove(_ id: SocketID) {
        guard entries.removeValue(forKey: id) != nil else { return }
        removed.append(id)
        guard removed.count > 2 * Self.removalLimit else { return }
        forgotten += UInt64(Self.removalLimit)
        removed.removeFirst(Self.removalLimit)
    }

    /// Without the right to payload, what shows bytes of it is left out.
    private func shown(_ socket: SocketSnapshot) -> SocketSnapshot {
        guard !showsPayload else { return socket }
        var socket = socket
        socket.reading.hidePayload()
        socket.writing.hidePayload()
        return socket
    }

    /// Everything that a viewer has not got yet, as frames.
    package mutating func update(_ viewer: inout Progress) -> [UInt8] {
        var frames: [UInt8] = []
        if viewer.revision > 0, viewer.removals < forgotten {
            frames += InspectionFrame.reset.bytes
            viewer.revision = 0
        }
        let isFirst = viewer.revision == 0
        appendSockets(viewer, to: &frames)
        appendEvents(&viewer, to: &frames)
        if showsPayload { appendTraffic(&viewer, to: &frames) }
        var tick = last.tick
        if !isFirst {
            tick.removed = Array(removed.dropFirst(Int(viewer.removals - forgotten)))
        }
        viewer.removals = forgotten + UInt64(removed.count)
        viewer.revision = revision
        frames += InspectionFrame.tick(tick).bytes
        return frames
    }

    private func appendSockets(_ viewer: Progress, to frames: inout [UInt8]) {
        let watched = Set(viewer.watch.sockets)
        var writer = WireWriter()
        func put(_ bytes: [UInt8]) {
            if writer.bytes.count + bytes.count > Self.chunk, !writer.bytes.isEmpty {
                frames += InspectionFrame.frame(.sockets, writer.bytes)
                writer = WireWriter()
            }
            writer.append(1, encoded: bytes)
        }
        if viewer.revision + 1 == revision {
            for id in lastChanged where !watched.contains(id) || last.watched[id] == nil {
                if let entry = entries[id] { put(entry.bytes) }
            }
        } else {
            for entry in entries.values where entry.revision > viewer.revision { put(entry.bytes) }
        }
        for id in viewer.watch.sockets {
            if let socket = last.watched[id] { put(shown(socket).encoded) }
        }
        if !writer.bytes.isEmpty { frames += InspectionFrame.frame(.sockets, writer.bytes) }
    }

    private func appendEvents(_ viewer: inout Progress, to frames: inout [UInt8]) {
        defer { viewer.nextEvent = viewer.watch.wantsEvents ? last.tick.nextEvent : nil }
        guard viewer.watch.wantsEvents else { return }
        let next = viewer.nextEvent ?? 0
        let new = events.drop { $0.sequence < next }
        if !new.isEmpty { frames += InspectionFrame.events(Array(new)).bytes }
    }

    private func appendTraffic(_ viewer: inout Progress, to frames: inout [UInt8]) {
        guard let id = viewer.watch.traffic, let traffic = last.traffic[id] else { return }
        var change = InspectionTraffic()
        change.socket = id
        change.dropped = traffic.dropped
        change.first = traffic.items.first?.sequence ?? 0
        let known = viewer.trafficOf == id ? viewer.traffic : TrafficSnapshot()
        change.items = traffic.changes(since: known)
        guard viewer.trafficOf != id || !change.items.isEmpty || traffic.dropped != known.dropped else { return }
        viewer.trafficOf = id
        viewer.traffic = traffic
        frames += InspectionFrame.traffic(change).bytes
    }
}

extension QueueSnapshot {
    fileprivate mutating func hidePayload() {
        current?.preview = []
        for index in pending.indices { pending[index].preview = [] }
    }
}

extension TrafficSnapshot {
    /// Items that are not in `known`, or stand otherwise there. Both lists ascend; an item changes only while it is in
    /// progress.
    fileprivate func changes(since known: TrafficSnapshot) -> [TrafficItem] {
        guard let firstOpen = known.items.first(where: { $0.state == .inProgress })?.sequence else {
            guard let last = known.items.last?.sequence else { return items }
            return Array(items.drop { $0.sequence <= last })
        }
        return items.drop { $0.sequence < firstOpen }.filter { item in
            !known.items.contains { $0.sequence == item.sequence && $0.done == item.done && $0.state == item.state }
        }
    }
}
