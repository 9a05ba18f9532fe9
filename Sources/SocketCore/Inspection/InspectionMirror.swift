/// A viewer's picture of one engine in another program, put together from what the wire brings.
package struct InspectionMirror: Sendable {
    /// Events that are kept until somebody asks; more are lost, and their sequence numbers say so.
    static let eventLimit = 4_096

    /// In the order of their names.
    private var sockets: [SocketSnapshot] = []
    private var events: [SocketEvent] = []
    private var traffic: [TrafficItem] = []
    private var trafficDropped: UInt64 = 0
    private var trafficOf: SocketID?
    private var lastTick: InspectionTick?
    private var watched: Set<SocketID> = []
    /// Updates taken whole.
    package private(set) var updates: UInt64 = 0

    package init() {}

    /// The end of the last whole update.
    package var tick: InspectionTick? { lastTick }

    /// What was asked for from now on: what is told no more is forgotten, so that nothing old is taken for new.
    package mutating func watches(_ watch: InspectionWatch) {
        let wanted = Set(watch.sockets)
        for id in watched.subtracting(wanted) {
            guard let index = position(of: id) else { continue }
            sockets[index].kernel = nil
            sockets[index].reading.pending = []
            sockets[index].writing.pending = []
        }
        watched = wanted
        guard trafficOf != watch.traffic else { return }
        trafficOf = watch.traffic
        traffic = []
        trafficDropped = 0
    }

    /// Takes a frame of the program's. Frames that only a viewer sends are left out.
    package mutating func take(_ frame: InspectionFrame) {
        switch frame {
        case .sockets(let blocks): for block in blocks { put(block) }
        case .tick(let tick):
            for id in tick.removed { remove(id) }
            lastTick = tick
            updates += 1
        case .events(let new):
            events += new
            if events.count > Self.eventLimit { events.removeFirst(events.count - Self.eventLimit) }
        case .traffic(let change): take(change)
        case .reset: sockets = []
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

    private mutating func put(_ block: SocketSnapshot) {
        let block = block.plausible
        if let last = sockets.last, last.id < block.id { return sockets.append(block) }
        let index = place(of: block.id)
        if index < sockets.count, sockets[index].id == block.id {
            sockets[index] = block
        } else {
            sockets.insert(block, at: index)
        }
    }

    private mutating func remove(_ id: SocketID) {
        if let index = position(of: id) { sockets.remove(at: index) }
    }

    private func position(of id: SocketID) -> Int? {
        let index = place(of: id)
        return index < sockets.count && sockets[index].id == id ? index : nil
    }

    /// Where that name stands, or would stand.
    private func place(of id: SocketID) -> Int {
        var (low, high) = (0, sockets.count)
        while low < high {
            let middle = (low + high) / 2
            if sockets[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
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
    fileprivate var plausible: SocketSnapshot {
        var socket = self
        socket.reading = reading.plausible
        socket.writing = writing.plausible
        socket.prebuffered = max(0, prebuffered)
        return socket
    }
}

extension QueueSnapshot {
    fileprivate var plausible: QueueSnapshot {
        var queue = self
        queue.current = current?.plausible
        for index in pending.indices { queue.pending[index] = pending[index].plausible }
        queue.pendingCount = max(pending.count, pendingCount)
        queue.pendingBytes = max(0, pendingBytes)
        return queue
    }
}

extension OperationSnapshot {
    fileprivate var plausible: OperationSnapshot {
        guard done < 0 || total.map({ $0 < done }) ?? false else { return self }
        var operation = self
        operation.done = max(0, done)
        operation.total = total.map { max($0, operation.done) }
        return operation
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
