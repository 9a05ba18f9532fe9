/// Which direction of which connection it is, for what is drawn by chance and what counts from the beginning.
package struct FaultPlace: Hashable, Sendable {
    package var seed: UInt64
    /// The nth connection, counted from 1.
    package var connection: UInt64
    package var direction: FaultDirection
    /// When the connection began.
    package var began: MonotonicTime

    package init(seed: UInt64, connection: UInt64, direction: FaultDirection, began: MonotonicTime) {
        (self.seed, self.connection, self.direction, self.began) = (seed, connection, direction, began)
    }
}

/// What a rule or a breakpoint did.
package struct FaultReport: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A rule took effect.
        case happened
        /// A breakpoint holds the direction.
        case held
        /// It does not any more.
        case released
    }

    /// The rule's, or the breakpoint's.
    package var number: Int
    package var kind: Kind
    /// Where in the stream, if it is at one place.
    package var offset: UInt64?
    /// When it is held, how many bytes wait; when it is released, for how many milliseconds it was held.
    package var amount = 0
}

/// One direction of one connection with the rules and breakpoints that concern it: bytes in, and what is to be done now.
///
/// It is pure: it is told the time, and asks to be woken. What it does to bytes depends on the rules, the seed and the
/// bytes alone, not on how they fall into reads. It holds no more than one read of the sender, a line or a frame that
/// is not whole, and what `latency` may hold; for the rest it asks that nothing be taken from the sender.
package struct FaultPipeline: Sendable {
    package enum Action: Equatable, Sendable {
        /// Send these bytes to the receiver. `isApart`: as a piece of their own. `isOurs`: a person wrote them here.
        case deliver([UInt8], isApart: Bool, isOurs: Bool)
        /// Take nothing more from the sender (true), or go on (false).
        case hold(Bool)
        /// Send FIN to the receiver, after the bytes that were delivered. What the sender still sends is dropped.
        case end
        /// End both sides with RST.
        case reset
        /// Call `wake` then.
        case wake(at: MonotonicTime)
        case report(FaultReport)
    }

    private let place: FaultPlace
    private let capacity: Int
    private var stages: [FaultStage]
    private var source = FaultQueue<FaultStage.Item>()
    private var sourceBytes = 0
    private var isHolding = false
    private var isReceiverBlocked = false
    /// Before the connection is established nothing passes, and no rule takes effect.
    package var isAwaiting = false
    /// How many bytes the sender has sent since the connection began, as a person edited them, and where reads ended of
    /// which something is not past the breakpoints.
    private var sent: UInt64
    private var reads = FaultQueue<UInt64>()
    /// How many have been delivered since then.
    private var delivered: UInt64
    /// Whether the receiver has its end, so that nothing of the sender passes any more.
    package private(set) var isOver = false
    private var isAbandoned = false
    private var wakes: MonotonicTime?
    private var heldSince: MonotonicTime?
    /// Whether it was released, which is not reported yet.
    private var isReleased = false
    /// Bytes that came after the end that a rule made.
    private var discarded: UInt64 = 0

    /// A direction that nothing concerns yet.
    /// - Parameters:
    ///   - delayBuffer: how many bytes `latency` may hold.
    ///   - passed: how many bytes have gone this way before.
    package init(_ place: FaultPlace, delayBuffer: Int, passed: UInt64 = 0) {
        self.place = place
        capacity = max(1, delayBuffer)
        (sent, delivered) = (passed, passed)
        stages = [FaultStage(0, .gate, when: [.afterBytes(.max)], place)]
    }

    /// Whether bytes pass unaltered and at once from now on, so that nobody has to ask here.
    package var isIdle: Bool { stages.count == 1 && !stages[0].isHeld && source.isEmpty && !isHolding && !isOver }

    /// Whether something that the sender sent is not delivered yet.
    package var isPending: Bool {
        !isOver && (!source.isEmpty || stages.contains { !$0.isEmpty })
    }

    /// Bytes that are not delivered yet.
    package var pendingBytes: Int { stages.reduce(sourceBytes) { $0 + $1.waitingBytes } }

    // MARK: What concerns it

    /// Adds a rule or a breakpoint. Breakpoints look at what the sender sent, before any rule changes it.
    package mutating func add(_ rule: NumberedFault) {
        if let stage = rule.stage(at: place, capacity: capacity, from: delivered) { stages.append(stage) }
    }

    package mutating func add(_ breakpoint: NumberedBreak) {
        guard let stage = breakpoint.stage(at: place, from: pastBreaks) else { return }
        stages.insert(stage, at: firstRule)
    }

    /// Breakpoints come first.
    private var firstRule: Int { stages.firstIndex(where: \.isFault) ?? stages.endIndex }

    /// How many bytes have passed all breakpoints since the connection began.
    private var pastBreaks: UInt64 { sent - UInt64(stages[..<firstRule].reduce(sourceBytes) { $0 + $1.waitingBytes }) }

    /// Removes a rule; what it holds goes out first.
    package mutating func remove(rule number: Int) {
        for index in stages.indices where stages[index].isFault && stages[index].number == number {
            stages[index].isOff = true
        }
    }

    /// Removes a breakpoint, and releases what it holds.
    package mutating func remove(breakpoint number: Int) {
        let held = held?.breakpoint == number
        for index in stages.indices where !stages[index].isFault && index > 0 && stages[index].number == number {
            stages[index].isOff = true
        }
        if stages[0].isHeld, stages[0].heldBy == number { stages[0].release() }
        if held, heldStage == nil { noteRelease() }
    }

    // MARK: What happens

    /// Looks at what takes effect without a byte, such as rules that were just added.
    package mutating func start(_ now: MonotonicTime) -> [Action] { run(now) }

    /// The sender sent these.
    package mutating func receive(_ bytes: [UInt8], _ now: MonotonicTime) -> [Action] {
        guard !bytes.isEmpty else { return run(now) }
        source.append(.bytes(bytes[...], FaultStage.Marks()))
        sourceBytes += bytes.count
        sent += UInt64(bytes.count)
        if !isOver { reads.append(sent) }
        for index in stages.indices where stages[index].allowance == .read { stages[index].allow(.bytes(bytes.count)) }
        return run(now)
    }

    /// The sender sent FIN.
    package mutating func end(_ now: MonotonicTime) -> [Action] {
        source.append(.end)
        return run(now)
    }

    /// The time that was asked for has come.
    package mutating func wake(_ now: MonotonicTime) -> [Action] {
        wakes = nil
        return run(now)
    }

    /// The receiver takes no more for now (true), or does again (false).
    package mutating func blockReceiver(_ isBlocked: Bool, _ now: MonotonicTime) -> [Action] {
        isReceiverBlocked = isBlocked
        return run(now)
    }

    // MARK: Held

    /// Holds this direction for a breakpoint that was hit elsewhere: at the listener, or in the other direction.
    package mutating func hold(for breakpoint: Int, _ now: MonotonicTime) -> [Action] {
        stages[0].heldBy = breakpoint
        stages[0].holdQuietly()
        return run(now)
    }

    private var heldStage: Int? { isOver ? nil : stages.lastIndex(where: \.isHeld) }

    /// The breakpoint that holds it, since when, and how many bytes wait here for that.
    package var held: (breakpoint: Int, since: MonotonicTime, bytes: Int)? {
        guard let index = heldStage, let heldSince else { return nil }
        let waiting = stages[...index].reduce(sourceBytes) { $0 + $1.waitingBytes }
        return (stages[index].heldBy ?? stages[index].number, heldSince, waiting)
    }

    /// The bytes that are held here, the next ones first.
    package func heldBytes(_ most: Int) -> [UInt8] {
        guard let index = heldStage else { return [] }
        var bytes: [UInt8] = []
        for stage in stages[...index].reversed() { bytes += stage.waiting(max(0, most - bytes.count)) }
        for case .bytes(let waiting, _) in source.all { bytes += waiting.prefix(max(0, most - bytes.count)) }
        return bytes
    }

    /// Does to held bytes what a person, or a script, decided. No effect where nothing is held.
    package mutating func release(_ release: BreakRelease, _ now: MonotonicTime) -> [Action] {
        guard let index = heldStage, let held else { return [] }
        switch release {
        case .all: releaseAll()
        case .read where held.bytes == 0:
            for stage in stages[...index].indices { stages[stage].allow(.read) }
        case .read:
            let next = sent - UInt64(held.bytes)
            let end = reads.all.first { $0 > next } ?? sent
            allow(Int(end - next), upTo: index)
        case .bytes(let count): allow(count, upTo: index)
        case .edit(let bytes):
            stages[index].drop(takeHeld(upTo: index))
            stages[index].putFirst(bytes)
            sent += UInt64(bytes.count)
            if !bytes.isEmpty { reads.append(sent) }
            releaseAll()
        case .drop:
            stages[index].drop(takeHeld(upTo: index))
            releaseAll()
        }
        return run(now)
    }

    /// Lets so many bytes pass the held stage, and those before it that are held too.
    private mutating func allow(_ count: Int, upTo index: Int) {
        var left = count
        for stage in stages[...index].indices.reversed() where left > 0 {
            stages[stage].allow(.bytes(left))
            left -= stages[stage].waitingBytes
        }
    }

    private mutating func releaseAll() {
        noteRelease()
        for index in stages.indices { stages[index].release() }
    }

    private mutating func noteRelease() { (heldSince, isReleased) = (nil, true) }

    /// Takes the bytes that are held out of the stream. Returns how many they were.
    private mutating func takeHeld(upTo index: Int) -> Int {
        var count = sourceBytes
        for stage in stages[...index].indices { count += stages[stage].takeWaiting().count }
        var rest = FaultQueue<FaultStage.Item>()
        for item in source.all {
            if case .bytes = item { continue }
            rest.append(item)
        }
        (source, sourceBytes) = (rest, 0)
        sent -= UInt64(count)
        reads = FaultQueue()
        return count
    }

    // MARK: Facts

    /// What each rule that concerns it has done so far.
    package var tallies: [FaultTally] {
        stages.filter { $0.isFault && !$0.isOff }.map {
            FaultTally(number: $0.number, direction: place.direction, count: $0.count, dropped: $0.dropped)
        }
    }

    /// Bytes of the sender that nobody will receive, because of a rule or a person.
    package var droppedBytes: UInt64 { stages.reduce(discarded) { $0 + $1.dropped } }

    /// Bytes that wait in a rule.
    package var delayedBytes: Int {
        isAbandoned ? 0 : stages.reduce(0) { $0 + ($1.isFault ? $1.waitingBytes : 0) }
    }

    /// Whether `latency` holds as much as it may, so that it delays more than was asked for.
    package var isLimitedByBuffer: Bool { isHolding && stages.contains(where: \.isFull) }

    // MARK: The flow

    private mutating func run(_ now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        guard !isOver else {
            discard()
            return actions
        }
        guard !isAwaiting else {
            settle(now, &actions)
            return actions
        }
        for index in stages.indices { stages[index].tick(now) }
        while !isOver, !isReceiverBlocked, let item = pull(stages.count - 1, now) {
            switch item {
            case .bytes(let bytes, let marks):
                delivered += UInt64(bytes.count)
                actions.append(.deliver(Array(bytes), isApart: marks.isApart, isOurs: marks.isOurs))
            case .end:
                actions.append(.end)
                isOver = true
            case .reset:
                actions.append(.reset)
                isOver = true
            }
        }
        // Whatever cannot go out now is overtaken.
        if !isOver, stages.contains(where: \.isResetting) {
            actions.append(.reset)
            isOver = true
        }
        if isOver {
            for index in stages.indices { stages[index].abandon() }
            discard()
        }
        // What happened is told before it is done: with a reset the connection is over.
        var reports: [Action] = []
        report(now, &reports)
        actions.insert(contentsOf: reports, at: 0)
        for stage in stages where stage.isDone && stage.kind != .gate { discarded += stage.dropped }
        stages.removeAll { $0.isDone && $0.kind != .gate }
        let past = pastBreaks
        while let end = reads.first, end <= past { reads.removeFirst() }
        settle(now, &actions)
        return actions
    }

    /// The connection is over.
    /// - Returns: how many bytes wait here that nobody will deliver.
    package mutating func abandon() -> Int {
        guard !isAbandoned else { return 0 }
        (isAbandoned, isOver) = (true, true)
        return pendingBytes
    }

    /// The other direction has reset the connection: nothing is delivered any more.
    package mutating func close() { isOver = true }

    /// Nothing can be delivered any more: what comes is counted as dropped.
    private mutating func discard() {
        while let item = source.first {
            source.removeFirst()
            if case .bytes(let bytes, _) = item { discarded += UInt64(bytes.count) }
        }
        sourceBytes = 0
        reads = FaultQueue()
    }

    /// What comes out of a stage, which takes from those before it what it needs.
    private mutating func pull(_ index: Int, _ now: MonotonicTime) -> FaultStage.Item? {
        guard index >= 0 else { return next() }
        while true {
            if let item = stages[index].output(now) { return item }
            guard stages[index].accepts, let item = pull(index - 1, now) else { return nil }
            if case .reset = item { return item }
            stages[index].take(item, now)
        }
    }

    private mutating func next() -> FaultStage.Item? {
        guard let item = source.first else { return nil }
        source.removeFirst()
        if case .bytes(let bytes, _) = item { sourceBytes -= bytes.count }
        return item
    }

    private mutating func report(_ now: MonotonicTime, _ actions: inout [Action]) {
        if isReleased { actions.append(.report(FaultReport(number: 0, kind: .released, offset: nil))) }
        isReleased = false
        for index in stages.indices where !stages[index].reports.isEmpty {
            for report in stages[index].reports { actions.append(.report(report)) }
            stages[index].reports = []
        }
        let isHeld = heldStage != nil
        if isHeld, heldSince == nil { heldSince = now }
        if !isHeld, heldSince != nil {
            heldSince = nil
            actions.append(.report(FaultReport(number: 0, kind: .released, offset: nil)))
        }
    }

    /// Asks for what is needed until the next call.
    private mutating func settle(_ now: MonotonicTime, _ actions: inout [Action]) {
        let isStopped = !isAwaiting && (isReceiverBlocked || !stages.allSatisfy(\.takesFromSender))
        let holds = !isOver && (sourceBytes > 0 || isStopped)
        if holds != isHolding {
            isHolding = holds
            actions.append(.hold(holds))
        }
        guard !isOver, !isAwaiting else { return }
        // What is due by now waits for a stage after it, which asks for its own time. A reset waits for nobody.
        let times = isReceiverBlocked ? stages.compactMap(\.resetDue) : stages.compactMap(\.due)
        let due = times.filter { $0 > now && $0 != .distantFuture }.min()
        if let due, wakes.map({ due < $0 }) ?? true {
            wakes = due
            actions.append(.wake(at: max(due, now)))
        }
    }
}
