import SocketCore

/// The latest part of a run, kept in memory as a recording: a state, and the changes in each snapshot since then.
/// Payload and sockets share the memory of the snapshots that they came from until they change.
package struct RecentRecording: Sendable {
    private struct Kept: Sendable {
        var update: RecordedUpdate
        var cost: Int
        /// The number of snapshots that it was made from.
        var snapshots = 1
        var time: MonotonicTime { update.tick.time }

        func merged(with next: Kept) -> Kept {
            var update = update
            update.merge(next.update)
            return Kept(update: update, cost: update.cost, snapshots: snapshots + next.snapshots)
        }
    }

    /// The state before the first kept update.
    private var base: OpenedCapture
    private var updates: [Kept] = []
    private var head = 0
    private var changes = RecordedChanges()
    private var instants = EventInstants()
    /// How far back it reaches.
    package let span: Duration
    /// The most bytes that all updates can take.
    private let limit: Int
    /// The approximate memory that the updates take, in bytes.
    package private(set) var cost = 0
    /// The number of snapshots that were dropped early for lack of room.
    package private(set) var dropped: UInt64 = 0
    /// Why no more snapshots can be added, or `nil` if there is no problem.
    package private(set) var problem: String?

    /// The number of earlier events that are kept for a viewer who returns to the present, which is as many as the
    /// viewer's log holds.
    private static let eventLimit = 20_000
    /// For how long every snapshot is kept, and how far apart those before it are, where memory is short.
    private static let sharpness = Duration.seconds(5)
    private static let coarseness = Duration.seconds(1)
    /// The approximate contents of one frame, in bytes.
    private static let chunk = 1 << 20

    /// Keeps updates of up to `limit` bytes. `each` and `all` limit the traffic of one session and of all sessions in
    /// the earliest state.
    package init(
        span: Duration, limit: Int, keeping each: Int = TrafficLog.standardLimit, all: Int = TrafficLog.standardTotal
    ) {
        (self.span, self.limit) = (span, limit)
        base = OpenedCapture(keeping: each, all: all, events: Self.eventLimit)
    }

    private var kept: ArraySlice<Kept> { updates[head...] }

    // MARK: Keeping

    /// Adds a snapshot that is shown, and the recorded traffic of some sessions.
    package mutating func add(_ snapshot: EngineSnapshot, _ traffic: [SocketID: TrafficSnapshot]) {
        guard problem == nil else { return }
        var update = update(snapshot, traffic)
        if let last {
            // Of several programs, one can report an earlier instant late.
            update.tick.time = max(update.tick.time, last)
            // An inspected program may report nothing for a while.
            if update.frames.isEmpty, let former = kept.last?.update.tick {
                var same = update.tick
                (same.wallNanoseconds, same.removed) = (former.wallNanoseconds, former.removed + same.removed)
                if same == former { return }
            }
        }
        instants.add(update.events.map(\.time))
        let cost = update.cost
        updates.append(Kept(update: update, cost: cost))
        self.cost += cost
        makeRoom()
    }

    private mutating func update(
        _ snapshot: EngineSnapshot, _ traffic: [SocketID: TrafficSnapshot]
    ) -> RecordedUpdate {
        var frames: [InspectionFrame] = []
        if base.lastUpdate == nil, updates.isEmpty {
            var hello = InspectionHello()
            hello.engine = snapshot.engine
            frames.append(.hello(hello))
        }
        let sockets = changes.sockets(of: snapshot)
        if !sockets.isEmpty { frames.append(.sockets(sockets)) }
        if let peers = changes.peers(of: snapshot) { frames.append(.peers(peers)) }
        frames += changes.calls(of: snapshot).map { .calls($0) }
        if !snapshot.events.isEmpty { frames.append(.events(snapshot.events)) }
        for (id, kept) in traffic.sorted(by: { $0.key < $1.key }) {
            while let change = changes.nextTraffic(of: id, kept, most: Self.chunk, edge: .max / 4) {
                frames.append(.traffic(change))
            }
        }
        return RecordedUpdate(frames: frames, tick: changes.tick(of: snapshot))
    }

    /// Keeps the states before the last few seconds by the second. Every event and byte stays.
    private mutating func thin() {
        guard let sharp = kept.last.map({ $0.time + (.zero - Self.sharpness) }) else { return }
        var thinned: [Kept] = []
        // The first one of the run stays, because times are counted from it.
        var before = base.lastUpdate
        for next in kept {
            guard let last = thinned.last, let begin = before, next.time < sharp, next.time - begin <= Self.coarseness
            else {
                before = thinned.last?.time ?? before
                thinned.append(next)
                continue
            }
            thinned[thinned.count - 1] = last.merged(with: next)
        }
        cost = thinned.reduce(0) { $0 + $1.cost }
        (updates, head) = (thinned, 0)
    }

    /// Moves the beginning forward. The latest snapshot always stays.
    private mutating func makeRoom() {
        if cost > limit { thin() }
        while kept.count > 1, let last = kept.last {
            let isOld = last.time - kept[head + 1].time >= span
            guard isOld || cost > limit else { break }
            if !isOld { dropped += UInt64(kept[head].snapshots) }
            advance()
        }
        instants.drop(before: first ?? .zero)
    }

    private mutating func advance() {
        do throws(CaptureError) {
            try base.absorb(kept[head].update)
        } catch {
            // The snapshots of this process's engine are inconsistent.
            problem = error.sentence
        }
        cost -= kept[head].cost
        updates[head] = Kept(update: RecordedUpdate(frames: [], tick: InspectionTick()), cost: 0)
        head += 1
        guard head > 256, head * 2 > updates.count else { return }
        updates.removeFirst(head)
        head = 0
    }

    // MARK: Looking back

    /// The first and the last instant that can be shown.
    package var first: MonotonicTime? { base.lastUpdate ?? kept.first?.time }
    package var last: MonotonicTime? { kept.last?.time ?? base.lastUpdate }

    /// The conversions between an instant and its time of day.
    package func wall(_ time: MonotonicTime) -> Int64? {
        origin.map { $0.wallNanoseconds + (time - $0.time).wholeNanoseconds }
    }
    package func time(ofWall wall: Int64) -> MonotonicTime? {
        origin.map { $0.time + .nanoseconds(wall.subtractingReportingOverflow($0.wallNanoseconds).partialValue) }
    }

    /// The beginning of the run, kept or not.
    private var origin: InspectionTick? { base.beginning ?? kept.first?.update.tick }

    /// Returns an instant's position in the run, or the position of the last instant if it is `nil`.
    package func moment(at instant: MonotonicTime? = nil) -> SnapshotMoment? {
        guard let first = first.flatMap(wall), let last = last.flatMap(wall) else { return nil }
        var moment = SnapshotMoment(first: first, last: last, shown: instant.flatMap(wall))
        (moment.isLive, moment.dropped) = (true, dropped)
        moment.origin = origin?.wallNanoseconds ?? first
        let (previous, next) = instants.neighbors(of: instant ?? self.last ?? .zero)
        moment.previousEvent = previous.flatMap(wall)
        moment.nextEvent = next.flatMap(wall)
        return moment
    }

    /// Returns the state at an instant, starting from `past` if that is earlier, or else from the earliest state. If
    /// `notesPassed` is set, the states on the way are included, from which a viewer computes totals and rates.
    package func state(
        at instant: MonotonicTime, from past: OpenedCapture? = nil, notesPassed: Bool = false
    ) -> OpenedCapture {
        var state = base
        if !notesPassed, let past, let reached = past.lastUpdate {
            if reached <= instant, reached >= base.lastUpdate ?? .zero { state = past }
        }
        state.expectNothing()
        if notesPassed { state.passing = PassedSnapshots(before: instant) }
        for index in firstIndex(after: state.lastUpdate)..<updates.count {
            guard index == head && state.lastUpdate == nil || updates[index].time <= instant else {
                state.expect(updates[index].update)
                break
            }
            // Kept updates are valid, since they came from snapshots.
            try? state.absorb(updates[index].update)
        }
        return state
    }

    private func firstIndex(after time: MonotonicTime?) -> Int {
        guard let time else { return head }
        var (low, high) = (head, updates.count)
        while low < high {
            let middle = (low + high) / 2
            if updates[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension RecordedUpdate {
    /// The approximate memory that it takes, in bytes.
    fileprivate var cost: Int {
        frames.reduce(512 + 16 * tick.removed.count) { sum, frame in
            switch frame {
            case .sockets(var sockets):
                var scale = WireScale()
                for index in sockets.indices { sockets[index].weigh(into: &scale) }
                return sum + scale.memory + sockets.reduce(0) { $0 + SocketSnapshot.memory + $1.rareMemory }
            case .traffic(let change):
                return sum
                    + change.items.reduce(256) { $0 + $1.keptBytes + TrafficStore.standardItemCost / 4 }
            case .events(let events): return sum + events.count * MemoryLayout<SocketEvent>.stride
            case .peers(let peers): return sum + peers.count * 256
            case .calls(let calls): return sum + (calls.ended.count + calls.waiting.count) * SocketCall.memory
            default: return sum + 256
            }
        }
    }
}
