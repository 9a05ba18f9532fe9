/// A viewer's picture of one engine in another program, put together from what the wire brings.
///
/// What comes is kept until an update is whole, unless it is more than a program can have meant.
package struct InspectionMirror: Sendable {
    /// Events that are kept until somebody asks; more are lost, and their sequence numbers say so.
    static let eventLimit = 4_096

    /// As of the last whole update, in the order of their names.
    private var sockets: [SocketSnapshot] = []
    /// Those names, close together, where they are found soon.
    private var names: [SocketID] = []
    /// What came of the update under way.
    private var arrived: [SocketSnapshot] = []
    private var isVoid = false
    private var events: [SocketEvent] = []
    private var traffic: [TrafficItem] = []
    private var trafficDropped: UInt64 = 0
    private var trafficOf: SocketID?
    private var lastTick: InspectionTick?
    private var watched: Set<SocketID> = []
    /// Whether all sessions count as watched.
    private var watchesAll = false
    /// No longer watched, and not told of since.
    private var unwatched: Set<SocketID> = []
    /// Updates taken whole.
    package private(set) var updates: UInt64 = 0

    package init() {}

    /// The end of the last whole update.
    package var tick: InspectionTick? { lastTick }

    /// What was asked for from now on: what is told no more is forgotten with the next update, so that nothing old is
    /// taken for new.
    package mutating func watches(_ watch: InspectionWatch) {
        let wanted = Set(watch.sockets)
        let former = watchesAll && !watch.wantsAll ? Set(names) : watched
        unwatched = watch.wantsAll ? [] : unwatched.union(former).subtracting(wanted)
        (watched, watchesAll) = (wanted, watch.wantsAll)
        guard trafficOf != watch.traffic else { return }
        trafficOf = watch.traffic
        traffic = []
        trafficDropped = 0
    }

    /// Takes a frame of the program's. Frames that only a viewer sends are left out.
    package mutating func take(_ frame: InspectionFrame) {
        switch frame {
        case .sockets(let blocks):
            arrived += blocks
            if arrived.count > Self.most { apply([]) }
        case .tick(let tick):
            apply(tick.removed)
            lastTick = tick
            updates += 1
        case .events(let new):
            events += new
            if events.count > Self.eventLimit { events.removeFirst(events.count - Self.eventLimit) }
        case .traffic(let change): take(change)
        case .reset:
            arrived = []
            isVoid = true
        case .hello, .refusal, .notice, .watch, .command, .unknown: break
        }
    }

    /// The picture as of the last whole update; nil before the first. Events since the last call are in it, with the
    /// program's own sequence numbers.
    package mutating func snapshot(engine: String) -> EngineSnapshot? {
        guard let lastTick else { return nil }
        var snapshot = EngineSnapshot(
            engine: engine, time: lastTick.time, wallNanoseconds: lastTick.wallNanoseconds)
        snapshot.sockets = sockets
        snapshot.counters = lastTick.counters
        snapshot.times = lastTick.times
        swap(&snapshot.events, &events)
        snapshot.nextEvent = lastTick.nextEvent
        snapshot.trafficOf = trafficOf
        if trafficOf != nil { snapshot.traffic = TrafficSnapshot(items: traffic, dropped: trafficDropped) }
        return snapshot
    }

    // MARK: The end of an update

    private mutating func apply(_ removed: [SocketID]) {
        if isVoid { (sockets, names, isVoid) = ([], [], false) }
        let places = arrived.map { position(of: $0.id) }
        if removed.isEmpty, places.allSatisfy({ $0 != nil }) {
            replace(places.compactMap { $0 })
        } else {
            rebuild(without: Set(removed))
            forgetUnwatched()
        }
        arrived.removeAll(keepingCapacity: arrived.count < Self.usual)
    }

    /// Sessions that wait for the end of their update at most.
    private static let most = 1 << 17
    /// Room for so many sessions in an update is kept.
    private static let usual = 4_096

    /// Puts what has come in the places of what was there.
    private mutating func replace(_ places: [Int]) {
        for (index, place) in places.enumerated() {
            arrived[index].makePlausible()
            swap(&sockets[place], &arrived[index])
        }
        // Behind them: one of them may have left before the program knew.
        forgetUnwatched()
    }

    private mutating func forgetUnwatched() {
        for id in unwatched {
            guard let place = position(of: id) else { continue }
            sockets[place].kernel = nil
            sockets[place].reading.pending = []
            sockets[place].writing.pending = []
        }
        unwatched = []
    }

    /// Puts everything together anew, since sessions came or went. Of one that was told twice the latter counts.
    private mutating func rebuild(without removed: Set<SocketID>) {
        var latest: [SocketID: Int] = [:]
        for index in arrived.indices { latest[arrived[index].id] = index }
        let order = latest.keys.filter { !removed.contains($0) }.sorted()
        var all: [SocketSnapshot] = []
        all.reserveCapacity(sockets.count + order.count)
        var next = 0
        func add(upTo id: SocketID?) {
            while next < order.count, id.map({ order[next] < $0 }) ?? true {
                if let index = latest[order[next]] {
                    arrived[index].makePlausible()
                    all.append(arrived[index])
                }
                next += 1
            }
        }
        for (index, id) in names.enumerated() {
            add(upTo: id)
            if latest[id] == nil, !removed.contains(id) { all.append(sockets[index]) }
        }
        add(upTo: nil)
        sockets = all
        names = all.indices.map { all[$0].id }
    }

    private func position(of id: SocketID) -> Int? {
        var (low, high) = (0, names.count)
        while low < high {
            let middle = (low + high) / 2
            if names[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low < names.count && names[low] == id ? low : nil
    }

    private mutating func take(_ change: InspectionTraffic) {
        guard change.socket == trafficOf else { return }
        trafficDropped = change.dropped
        traffic.removeAll { $0.sequence < change.first }
        for item in change.items {
            let item = item.plausible
            // Changes are of the latest items, so the search from the end is short.
            if let index = traffic.lastIndex(where: { $0.sequence <= item.sequence }) {
                if traffic[index].sequence == item.sequence {
                    traffic[index] = item
                } else {
                    traffic.insert(item, at: index + 1)
                }
            } else {
                traffic.insert(item, at: 0)
            }
        }
    }
}

// What another program claims, held to what can be: views rely on it.

extension SocketSnapshot {
    fileprivate mutating func makePlausible() {
        reading.makePlausible()
        writing.makePlausible()
        prebuffered = max(0, prebuffered)
    }
}

extension QueueSnapshot {
    fileprivate mutating func makePlausible() {
        current?.makePlausible()
        for index in pending.indices { pending[index].makePlausible() }
        pendingCount = max(pending.count, pendingCount)
        pendingBytes = max(0, pendingBytes)
    }
}

extension OperationSnapshot {
    fileprivate mutating func makePlausible() {
        guard done < 0 || total.map({ $0 < done }) ?? false else { return }
        done = max(0, done)
        total = total.map { max($0, done) }
    }
}

extension TrafficItem {
    fileprivate var plausible: TrafficItem {
        guard done < bytes.count || total.map({ $0 < done }) ?? false else { return self }
        var item = self
        item.done = max(done, bytes.count)
        item.total = total.map { max($0, item.done) }
        return item
    }
}
