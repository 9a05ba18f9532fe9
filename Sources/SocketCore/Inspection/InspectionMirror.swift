/// A viewer's picture of one engine in another program, put together from what the wire brings.
///
/// What comes is kept until an update is whole. Nothing that the program says makes it keep more than its limits, nor
/// take more than a time that grows with the bytes that came: a program that says more than any has to say is refused.
package struct InspectionMirror: Sendable {
    /// Events that are kept until somebody asks; more are lost, and their sequence numbers say so.
    package static let eventLimit = 4_096
    /// Sessions of one program that are kept, those that closed lately included.
    package static let sessionLimit = 1 << 17
    /// Bytes that the texts and lists of all its sessions may take.
    package static let memoryLimit = 256 << 20

    private var listed = MirroredSessions()
    private var arrived: ArrivedSessions
    private var isVoid = false
    private var events: [SocketEvent] = []
    /// The event that is expected next: what was told before is not told again.
    private var awaitedEvent: UInt64 = 0
    private var traffic = MirroredTraffic()
    private var trafficOf: SocketID?
    /// Whether an update has told of it, and ended.
    private var hasTraffic = false
    private var lastTick: InspectionTick?
    private var watched: Set<SocketID> = []
    /// Whether all sessions count as watched.
    private var watchesAll = false
    /// No longer watched, and not told of since.
    private var unwatched: Set<SocketID> = []
    /// Updates taken whole.
    package private(set) var updates: UInt64 = 0

    /// `isRecording`: whether it may tell of sockets of other programs, which a program that is attached to cannot know.
    package init(isRecording: Bool = false) { arrived = ArrivedSessions(keepsHost: isRecording) }

    /// About the memory that its sessions take.
    var cost: Int { listed.memory }

    /// The end of the last whole update.
    package var tick: InspectionTick? { lastTick }

    /// What was asked for from now on: what is told no more is forgotten with the next update, so that nothing old is
    /// taken for new.
    package mutating func watches(_ watch: InspectionWatch) {
        let wanted = Set(watch.sockets)
        let former = watchesAll && !watch.wantsAll ? Set(listed.ids) : watched
        unwatched = watch.wantsAll ? [] : unwatched.union(former).subtracting(wanted)
        (watched, watchesAll) = (wanted, watch.wantsAll)
        guard trafficOf != watch.traffic else { return }
        trafficOf = watch.traffic
        traffic = MirroredTraffic()
        hasTraffic = false
    }

    /// Takes a frame of the program's. Frames that only a viewer sends are left out.
    ///
    /// `now` is the viewer's own time: the clocks of one host's programs are one clock, so no update is of a later
    /// instant. Throws a sentence when the program says more than is kept; nothing more can be taken then.
    package mutating func take(_ frame: InspectionFrame, now: MonotonicTime? = nil) throws(WireError) {
        switch frame {
        case .sockets(let blocks):
            do throws(WireError) {
                try arrived.add(blocks)
            } catch {
                arrived.clear()
                throw error
            }
        case .tick(let tick): try finishUpdate(tick, now)
        case .events(let new): take(new)
        case .traffic(let change):
            guard change.socket == trafficOf else { break }
            try traffic.take(change)
        case .reset:
            arrived.clear()
            isVoid = true
        case .hello, .refusal, .notice, .peers, .passed, .answer, .watch, .command, .request, .unknown: break
        }
    }

    /// The picture as of the last whole update; nil before the first. Events since the last call are in it, with the
    /// program's own sequence numbers.
    package mutating func snapshot(engine: String) -> EngineSnapshot? {
        guard let lastTick else { return nil }
        var snapshot = EngineSnapshot(
            engine: engine, time: lastTick.time, wallNanoseconds: lastTick.wallNanoseconds)
        snapshot.sockets = listed.sockets
        snapshot.counters = lastTick.counters
        snapshot.times = lastTick.times
        swap(&snapshot.events, &events)
        snapshot.nextEvent = max(lastTick.nextEvent, awaitedEvent)
        snapshot.trafficOf = trafficOf
        if hasTraffic { snapshot.traffic = traffic.snapshot }
        return snapshot
    }

    private mutating func take(_ new: [SocketEvent]) {
        for event in new where event.sequence >= awaitedEvent {
            events.append(event)
            awaitedEvent = event.sequence + 1
        }
        if events.count > Self.eventLimit { events.removeFirst(events.count - Self.eventLimit) }
    }

    private mutating func finishUpdate(_ tick: InspectionTick, _ now: MonotonicTime?) throws(WireError) {
        if isVoid { (listed, isVoid) = (MirroredSessions(), false) }
        try listed.apply(&arrived, without: tick.removed)
        for id in unwatched { listed.forgetDetails(of: id) }
        unwatched = []
        hasTraffic = traffic.wasTold
        lastTick = tick.plausible(after: lastTick?.time, now)
        updates += 1
    }
}

extension InspectionTick {
    /// The longest that the updates of any program lie apart.
    private static let longestInterval = Duration.seconds(600)

    /// The same, not before the one before it and not later than now.
    fileprivate func plausible(after former: MonotonicTime?, _ now: MonotonicTime?) -> InspectionTick {
        var tick = self
        if let now, now < tick.time {
            tick.wallNanoseconds -= (tick.time - now).wholeNanoseconds
            tick.time = now
        }
        if let former { tick.time = max(former, tick.time) }
        tick.wallNanoseconds = max(0, tick.wallNanoseconds)
        tick.interval = max(.zero, min(interval, Self.longestInterval))
        tick.times.makePlausible()
        return tick
    }
}
