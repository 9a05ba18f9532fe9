import SocketCore

/// The contents of a capture file, in the form that an engine provides: for a socktui recording its snapshots and
/// traffic as they were shown, for any other file the sessions reassembled from its packets.
///
/// It is a value: a copy made at a position in the file continues from there, which is how a file is rewound.
package struct OpenedCapture: Sendable {
    /// An entry that changes the state at an instant.
    private enum Step: Sendable {
        case packet(CapturedPacket)
        /// An update of a recording, whose last frame has its instant.
        case update(RecordedUpdate)
    }

    private var reader = CaptureReader()
    private var packets: CapturedSessions
    private var decoder = InspectionFrameDecoder()
    private var mirror = InspectionMirror(isRecording: true)
    private var traffic = OpenedTraffic()
    private var tail: EventTail
    /// The frames of an update whose end has not been read.
    private var frames: [InspectionFrame] = []
    /// The number of bytes read when the update began.
    private var updateBegan: UInt64 = 0
    private static let updateLimit: UInt64 = 128 << 20
    /// The time of day at which its clock is 0, in nanoseconds since 1970, or `nil` if its clock is the file's own.
    private let zero: Int64?
    /// The frames before a recording's first instant, until the offset between the two clocks is known.
    private var unshifted: [UInt8]?
    /// The next step, if it is later than the requested instant.
    private var waiting: Step?
    private var limits: (each: Int, all: Int)
    /// The first tick of a recording, and the instant of its last one.
    private var first: InspectionTick?
    private var lastTime = MonotonicTime.zero
    /// The peers that the viewer found, and the name of the engine.
    private var peers: [SocketID: PeerEnd]?
    /// Whether the update has had peers. Its first ones replace those of earlier updates.
    private var hasNewPeers = false
    private var engine: String?
    /// The calls that the viewer traced.
    private var calls: CallLedger?
    /// The states that were passed since this was set, or `nil` if they aren't collected.
    package var passing: PassedSnapshots?
    /// Whether it is a socktui recording.
    package private(set) var isOurs = false
    /// The number of bytes read.
    package private(set) var length: UInt64 = 0
    /// The instants of events read since this was last emptied, or `nil` if they aren't collected.
    package var instants: [MonotonicTime]?

    /// Keeps at most `each` bytes of one session's traffic and about `all` bytes in all. `zero` is the time of day, in
    /// nanoseconds since 1970, at which its clock is 0, so that several files share a clock. If it is `nil`, the clock
    /// is the file's own.
    package init(
        keeping each: Int = TrafficLog.standardLimit, all: Int = TrafficLog.standardTotal,
        events: Int = EventTail.limit, zero: Int64? = nil
    ) {
        limits = (each, all)
        self.zero = zero
        unshifted = zero == nil ? nil : []
        tail = EventTail(limit: events)
        packets = CapturedSessions(keeping: each, all: all, zero: zero)
        var watch = InspectionWatch()
        (watch.wantsAll, watch.wantsEvents) = (true, true)
        mirror.watches(watch)
    }

    /// Processes the next bytes of the file.
    package mutating func absorb(_ bytes: some Collection<UInt8>) throws(CaptureError) {
        append(bytes)
        _ = try advance(until: nil)
    }

    /// Appends the next bytes of the file, which `advance` processes.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        length += UInt64(bytes.count)
        reader.append(bytes)
    }

    /// Processes everything up to an instant, or all of it. Returns whether more bytes are needed to know the state at
    /// that instant.
    package mutating func advance(until limit: MonotonicTime?) throws(CaptureError) -> Bool {
        while true {
            var following = waiting.take()
            if following == nil { following = try next() }
            guard let step = following else { return true }
            if let limit, time(of: step) > limit {
                waiting = step
                return false
            }
            try apply(step)
        }
    }

    /// Processes a packet that was just captured.
    package mutating func absorb(_ packet: CapturedPacket) { packets.absorb(packet) }

    /// The number of complete updates of a recording so far.
    package var updates: UInt64 { mirror.updates }

    /// Processes frames of a recording without its packets.
    package mutating func absorb(frames: ArraySlice<UInt8>) throws(CaptureError) {
        length += UInt64(frames.count)
        take(frames)
        while let step = try nextUpdate() { try apply(step) }
    }

    private mutating func take(_ frames: ArraySlice<UInt8>) {
        isOurs = true
        unshifted?.append(contentsOf: frames)
        decoder.append(frames)
    }

    /// Records the end of the file.
    package mutating func finish() { packets.finish() }

    /// The file's problem, if it ends here.
    package var problemAtEnd: String? { reader.problemAtEnd ?? (isOurs ? nil : packets.unreadable) }

    /// The reasons that the contents are incomplete, as text, or an empty array if they are complete.
    package var shortcomings: [String] {
        let missing = packets.sessions.reduce(UInt64(0)) { $0 &+ $1.fromLocal.missing &+ $1.fromPeer.missing }
        let lost = max(packets.dropped, reader.lost)
        return [
            lost.times("packet or operation not recorded", "packets or operations not recorded"),
            missing.times("byte missing", "bytes missing"),
            traffic.refused.times(
                "piece of traffic beyond the limit of \(CapturedSessions.limit) sessions",
                "pieces of traffic beyond the limit of \(CapturedSessions.limit) sessions"),
        ].compactMap { $0 } + packets.shortcomings
            + [reader.skipped.times("block of an unknown type", "blocks of unknown types")].compactMap { $0 }
    }

    // MARK: Steps

    private mutating func next() throws(CaptureError) -> Step? {
        while true {
            if let update = try nextUpdate() { return update }
            guard let entry = try reader.next() else { return nil }
            switch entry {
            case .section: packets.beginSection()
            case .interface(let interface): packets.add(interface)
            case .packet(let packet):
                // A recording's own snapshots say more than its packets do.
                guard isOurs else { return .packet(packet) }
                packets.countOnly(packet)
            case .frames(let bytes): take(bytes)
            case .name, .secrets: break
            }
        }
    }

    private mutating func nextUpdate() throws(CaptureError) -> Step? {
        do throws(WireError) {
            while let frame = try decoder.next() {
                guard case .tick(let tick) = frame else {
                    if frames.isEmpty { updateBegan = length }
                    guard length - updateBegan < Self.updateLimit else {
                        throw .malformed("one of them is larger than \(Self.updateLimit >> 20) MiB")
                    }
                    frames.append(frame)
                    continue
                }
                defer { frames = [] }
                if let bytes = unshifted.take(), let zero {
                    // They are read again, shifted to the common clock.
                    decoder = InspectionFrameDecoder(shift: Self.shift(of: tick, to: zero))
                    decoder.append(bytes)
                    continue
                }
                return .update(RecordedUpdate(frames: frames, tick: tick))
            }
        } catch {
            throw Self.unreadable(error)
        }
        return nil
    }

    /// Returns the nanoseconds from a tick's clock to the one that is 0 at a time of day, or 0 if the tick is out of
    /// range.
    private static func shift(of tick: InspectionTick, to zero: Int64) -> Int64 {
        let (since, isFar) = tick.wallNanoseconds.subtractingReportingOverflow(zero)
        let (shift, overflow) = since.subtractingReportingOverflow(tick.time.nanoseconds)
        return isFar || overflow ? 0 : shift
    }

    private func time(of step: Step) -> MonotonicTime {
        switch step {
        case .packet(let packet): packets.time(of: packet.nanoseconds)
        case .update(let update): max(update.tick.time, lastTime)
        }
    }

    private mutating func apply(_ step: Step) throws(CaptureError) {
        switch step {
        case .packet(let packet):
            let seen = packets.events.next
            packets.absorb(packet)
            if instants != nil, packets.events.next > seen { instants?.append(packets.latest) }
        case .update(let update): try absorb(update)
        }
    }

    /// Applies an update of a recording, from a file or in memory.
    mutating func absorb(_ update: RecordedUpdate) throws(CaptureError) {
        do throws(WireError) {
            hasNewPeers = false
            for frame in update.frames { try absorb(frame) }
            try mirror.absorb(.tick(update.tick))
        } catch {
            throw Self.unreadable(error)
        }
        isOurs = true
        lastTime = mirror.tick?.time ?? lastTime
        if first == nil { first = mirror.tick }
        if passing != nil {
            let shown = snapshot(SnapshotRequest(), named: "")
            passing?.append(shown)
        }
    }

    /// Records the update after this state, some of whose events may be earlier than the requested instant.
    mutating func expect(_ update: RecordedUpdate) { waiting = .update(update) }

    /// Discards the expected update.
    mutating func expectNothing() { waiting = nil }

    private mutating func absorb(_ frame: InspectionFrame) throws(WireError) {
        switch frame {
        case .traffic(let change):
            try traffic.absorb(change, each: limits.each, all: limits.all)
            packets.passed? += change.items.map { PassedItem(socket: change.socket, item: $0) }
        case .events(let events):
            for event in events where event.sequence >= tail.next {
                tail.append(event)
                instants?.append(event.time)
            }
        case .peers(let found):
            if !hasNewPeers { (peers, hasNewPeers) = ([:], true) }
            for peer in found { peers?[peer.socket] = peer.end }
        case .calls(let update):
            calls = calls ?? CallLedger(limit: 1 << 16)
            calls?.absorb(update)
        case .hello(let hello):
            engine = hello.engine
            try mirror.absorb(frame)
        default: try mirror.absorb(frame)
        }
    }

    private static func unreadable(_ error: WireError) -> CaptureError {
        let problem = if case .malformed(let sentence) = error { sentence } else { "a newer version wrote it" }
        return CaptureError("its snapshots cannot be read: \(problem)")
    }

    // MARK: Time

    /// The first instant, by its own clock, or `nil` if there is none yet.
    package var start: MonotonicTime? { isOurs ? first?.time : packets.start.map(packets.time) }

    /// The latest instant that was processed.
    package var latest: MonotonicTime { isOurs ? lastTime : packets.latest }

    /// The instant of the last applied update of a recording, and the recording's first tick.
    var lastUpdate: MonotonicTime? { first == nil ? nil : lastTime }
    package var beginning: InspectionTick? { first }

    private var startWall: Int64? { isOurs ? first?.wallNanoseconds : packets.start }

    /// Returns the time of day of an instant of its clock.
    package func wall(_ time: MonotonicTime) -> Int64? {
        guard let start, let startWall else { return nil }
        return startWall + (time - start).wholeNanoseconds
    }

    /// Returns the instant of its clock at a time of day.
    package func time(ofWall nanoseconds: Int64) -> MonotonicTime? {
        guard let start, let startWall else { return nil }
        let (distance, overflow) = nanoseconds.subtractingReportingOverflow(startWall)
        return start + .nanoseconds(overflow ? 0 : max(0, distance))
    }

    // MARK: As a source

    /// Returns the state after everything that was processed, or at a later instant up to which everything was
    /// processed, or `nil` if there is none yet. It includes the requested events.
    package func snapshot(
        _ request: SnapshotRequest, named name: String, at instant: MonotonicTime? = nil
    ) -> EngineSnapshot? {
        var snapshot: EngineSnapshot
        var events: EventTail
        if isOurs {
            var mirror = mirror
            guard let shown = mirror.snapshot(engine: name), let tick = mirror.tick else { return nil }
            snapshot = shown
            (snapshot.engine, snapshot.peers, snapshot.calls) = (engine ?? name, peers, calls)
            events = tail
            // A snapshot of that very instant includes all its events.
            if let instant, instant > lastTime {
                for event in waitingUpdate?.events ?? [] where event.time <= instant { events.append(event) }
                for update in waitingUpdate?.calls ?? [] { snapshot.calls?.absorb(update, until: instant) }
            }
            snapshot.nextEvent = max(tick.nextEvent, events.next)
        } else {
            guard packets.start != nil else { return nil }
            snapshot = EngineSnapshot(engine: name, time: packets.latest, wallNanoseconds: 0)
            snapshot.sockets = packets.snapshots
            snapshot.counters.opened = UInt64(packets.sessions.count)
            snapshot.counters.closed = UInt64(packets.sessions.count { $0.closed != nil })
            (snapshot.counters.sent, snapshot.counters.received) = (packets.sent, packets.received)
            events = packets.events
            snapshot.nextEvent = events.next
        }
        if let instant { snapshot.time = max(instant, snapshot.time) }
        snapshot.wallNanoseconds = wall(snapshot.time) ?? snapshot.wallNanoseconds
        if let from = request.eventsFrom { snapshot.events = Array(events.events(from: from)) }
        snapshot.trafficOf = request.traffic
        snapshot.traffic = request.traffic.map { traffic(of: $0) }
        return snapshot
    }

    /// Keeps the state of each session for the snapshots that follow, until it changes.
    package mutating func keepSnapshots() { if !isOurs { packets.keepSnapshots() } }

    /// The next update, which has the events and calls before it.
    private var waitingUpdate: RecordedUpdate? { if case .update(let update) = waiting { update } else { nil } }

    /// Returns the states that were passed, each with its new events, and stops collecting them.
    package mutating func takePassed() -> [EngineSnapshot] {
        defer { passing = nil }
        guard var states = passing?.snapshots else { return [] }
        // The last one is the state that is shown.
        if states.last?.time == lastTime { states.removeLast() }
        var next: UInt64 = 0
        for index in states.indices {
            states[index].events = tail.events(from: next).prefix { $0.sequence < states[index].nextEvent }.map { $0 }
            next = states[index].nextEvent
        }
        return states
    }

    /// Returns the recorded traffic of a session.
    package func traffic(of id: SocketID) -> TrafficSnapshot {
        if isOurs { return traffic[id] }
        let index = Int(clamping: id.number) - 1
        return packets.sessions.indices.contains(index) ? packets.sessions[index].traffic : TrafficSnapshot()
    }

    /// Collects the items that pass from now on.
    package mutating func collectItems() { packets.passed = [] }

    /// Returns the items that passed since the last call. A recording repeats an item each time it has changed.
    package mutating func takeItems() -> [PassedItem] {
        defer { packets.passed = [] }
        return packets.passed ?? []
    }

    // MARK: As a checkpoint

    /// The approximate memory that a copy takes, in bytes.
    package var cost: Int {
        trafficCost + reader.pending + packets.memory + 64 * tail.events.count + mirror.cost + (calls?.weight ?? 0)
    }

    private var trafficCost: Int { traffic.cost + packets.cost }

    /// Drops the bytes that were already processed.
    package mutating func compact() {
        reader.compact()
        packets.forgetSnapshots()
        calls?.trim(to: Self.fewEvents)
    }

    /// Drops what isn't needed, and traffic until everything fits into about `all` bytes.
    package mutating func shrink(to all: Int) {
        packets.forget()
        packets.trimEvents(to: Self.fewEvents)
        tail.trim(to: Self.fewEvents)
        let traffic = max(0, all - (cost - trafficCost))
        self.traffic.trim(to: traffic)
        packets.trim(to: traffic)
        self.traffic.compact()
        packets.compact()
    }

    private static let fewEvents = 1_024

    /// Lowers the limit for all traffic from now on.
    package mutating func limit(to all: Int) {
        limits.all = min(limits.all, all)
        packets.limit(to: all)
    }
}
