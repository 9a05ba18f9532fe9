import SocketCore

/// A viewer's snapshot of one engine in another program, built from the wire.
///
/// Frames are kept until an update is complete. Nothing that the program sends makes the mirror exceed its limits, or
/// take more time than the number of received bytes justifies. A program that sends more than any real one is refused.
package struct InspectionMirror: Sendable {
    /// The maximum number of unfetched events kept. Beyond it the oldest are lost, which the sequence numbers show.
    package static let eventLimit = 4_096
    /// The maximum number of sessions kept for one program, including recently closed ones.
    package static let sessionLimit = 1 << 17
    /// The maximum memory for the texts and lists of all its sessions, in bytes.
    package static let memoryLimit = 256 << 20

    private var listed = MirroredSessions()
    private var arrived: ArrivedSessions
    private var isVoid = false
    private var events: [SocketEvent] = []
    /// The sequence number of the next event expected. Earlier events are not delivered again.
    private var awaitedEvent: UInt64 = 0
    private var traffic = MirroredTraffic()
    private var trafficOf: SocketID?
    /// Whether a complete update has included the traffic.
    private var hasTraffic = false
    private var lastTick: InspectionTick?
    private var watched: Set<SocketID> = []
    /// Whether all sessions count as watched.
    private var watchesAll = false
    /// Sessions that are no longer watched and have not been received since.
    private var unwatched: Set<SocketID> = []
    /// The number of complete updates taken.
    package private(set) var updates: UInt64 = 0

    /// Creates an empty mirror. With `isRecording`, it accepts sockets of other programs, which an attached program
    /// can't know.
    package init(isRecording: Bool = false) { arrived = ArrivedSessions(keepsHost: isRecording) }

    /// The approximate memory of its sessions.
    var cost: Int { listed.memory }

    /// The end of the last complete update.
    package var tick: InspectionTick? { lastTick }

    /// Records what is requested from now on. Details that are no longer sent are dropped with the next update, so that
    /// old ones don't pass for new.
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

    /// Absorbs a frame from the program. Frames without state of the engine are ignored.
    ///
    /// `now` is the viewer's time. The programs of one host share a clock, so no update can be later. Throws a sentence
    /// if the program sends more than is kept. Nothing more can be taken then.
    package mutating func absorb(_ frame: InspectionFrame, now: MonotonicTime? = nil) throws(WireError) {
        switch frame {
        case .sockets(let blocks):
            do throws(WireError) {
                try arrived.add(blocks)
            } catch {
                arrived.clear()
                throw error
            }
        case .tick(let tick): try finishUpdate(tick, now)
        case .events(let new): absorb(new)
        case .traffic(let change):
            guard change.socket == trafficOf else { break }
            try traffic.absorb(change)
        case .reset:
            arrived.clear()
            isVoid = true
        case .hello, .refusal, .notice, .peers, .calls, .passed, .answer, .watch, .command, .request, .unknown: break
        }
    }

    /// Returns the state as of the last complete update, or `nil` before the first. It includes the events since the
    /// previous call, with the program's own sequence numbers.
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

    private mutating func absorb(_ new: [SocketEvent]) {
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
    /// The maximum time between updates of any program.
    private static let longestInterval = Duration.seconds(600)

    /// Returns the tick moved to be no earlier than the previous one and no later than now.
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
