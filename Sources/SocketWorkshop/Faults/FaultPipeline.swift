import SocketCore

/// Identifies one direction of one connection, as the key for random draws and the origin of times.
package struct FaultPlace: Equatable, Sendable {
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
package struct FaultReport: Equatable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A rule took effect.
        case happened
        /// A breakpoint holds the direction.
        case held
        /// The breakpoint no longer holds it.
        case released
    }

    /// The number of the rule or the breakpoint.
    package var number: Int
    package var kind: Kind
    /// The offset in the stream, or `nil` if the report isn't about one place.
    package var offset: UInt64?
    /// For `held`, the number of bytes that wait. For `released`, how long it was held, in milliseconds.
    package var amount = 0
}

/// One direction of one connection with its rules and breakpoints. Takes in bytes and returns what to do now.
///
/// It is pure: the caller passes the time and wakes it on request. What it does to bytes depends only on the rules, the
/// seed and the bytes, not on how reads divide them. It holds at most one read of the sender, an incomplete line or
/// frame, and what `latency` may hold. Beyond that it asks the caller to stop reading from the sender. Rules can make
/// many pieces and many bytes of a few, so each turn delivers a limited number and asks to be woken for the rest.
package struct FaultPipeline: Sendable {
    package enum Action: Equatable, Sendable {
        /// Send these bytes to the receiver, as a separate piece if `isApart`. If `isOurs`, the user wrote them.
        case deliver([UInt8], isApart: Bool, isOurs: Bool)
        /// Stop reading from the sender (`true`), or resume (`false`).
        case hold(Bool)
        /// Send FIN to the receiver after the delivered bytes. Later bytes of the sender are dropped.
        case end
        /// End both sides with RST.
        case reset
        /// Call `wake` at this time.
        case wake(at: MonotonicTime)
        case report(FaultReport)
    }

    let place: FaultPlace
    let capacity: Int
    var stages: [FaultStage]
    var source = FaultQueue<FaultStage.Item>()
    var sourceBytes = 0
    /// The exchange that the sender's latest bytes belong to.
    private var talk = FaultTalk.Place()
    var isHolding = false
    var isReceiverBlocked = false
    /// Whether the connection is not yet established. Until it is, nothing passes and no rule takes effect.
    package var isAwaiting = false
    /// The number of bytes that the sender has sent since the connection began, as edited by the user, and the ends of
    /// the reads that have not entirely passed the breakpoints.
    var sent: UInt64
    var reads = FaultQueue<UInt64>()
    /// The number of bytes delivered since the connection began.
    var delivered: UInt64
    /// Whether the receiver's stream has ended, so that nothing more from the sender passes.
    package internal(set) var isOver = false
    var isAbandoned = false
    var wakes: MonotonicTime?
    /// What this turn may still cost, as `turnLimit` says.
    var budget = 0
    /// Whether the last turn ended with its budget, so that the next one continues at once.
    var isInterrupted = false
    var heldSince: MonotonicTime?
    /// Whether a release has not been reported yet.
    var isReleased = false
    /// Bytes that arrived after the end, or that removed stages dropped.
    var discarded: UInt64 = 0

    /// Creates a direction without rules or breakpoints.
    /// - Parameters:
    ///   - delayBuffer: The number of bytes that `latency` may hold.
    ///   - passed: The number of bytes that have passed in this direction before.
    package init(_ place: FaultPlace, delayBuffer: Int, passed: UInt64 = 0) {
        self.place = place
        capacity = max(1, delayBuffer)
        (sent, delivered) = (passed, passed)
        stages = [FaultStage(0, .gate, when: [.afterBytes(.max)], place)]
    }

    /// Whether bytes pass unaltered and at once from now on, so that the caller can bypass the pipeline.
    package var isIdle: Bool { stages.count == 1 && !stages[0].isHeld && source.isEmpty && !isHolding && !isOver }

    /// Whether bytes or the FIN of the sender are not delivered yet.
    package var isPending: Bool {
        !isOver && (!source.isEmpty || stages.contains { !$0.isEmpty })
    }

    /// Bytes that are not delivered yet.
    package var pendingBytes: Int { stages.reduce(sourceBytes) { $0 + $1.waitingBytes } }

    // MARK: Rules and breakpoints

    /// Adds a rule or a breakpoint. Breakpoints see what the sender sent, before any rule changes it.
    package mutating func add(_ rule: NumberedFault) {
        if let stage = rule.stage(at: place, capacity: capacity, from: delivered) { stages.append(stage) }
    }

    package mutating func add(_ breakpoint: NumberedBreak) {
        guard let stage = breakpoint.stage(at: place, from: pastBreaks) else { return }
        stages.insert(stage, at: firstRule)
    }

    /// Rules follow the breakpoints.
    var firstRule: Int { stages.firstIndex(where: \.isFault) ?? stages.endIndex }

    /// The number of bytes that have passed all breakpoints since the connection began.
    var pastBreaks: UInt64 { sent - UInt64(stages[..<firstRule].reduce(sourceBytes) { $0 + $1.waitingBytes }) }

    /// Removes a rule. The bytes it holds go out first.
    package mutating func remove(rule number: Int) {
        for index in stages.indices where stages[index].isFault && stages[index].number == number {
            stages[index].isOff = true
        }
    }

    /// Removes a breakpoint and releases what it holds.
    package mutating func remove(breakpoint number: Int) {
        let held = held?.breakpoint == number
        for index in stages.indices where !stages[index].isFault && index > 0 && stages[index].number == number {
            stages[index].isOff = true
        }
        if stages[0].isHeld, stages[0].heldBy == number { stages[0].release() }
        if held, heldStage == nil { noteRelease() }
    }

    // MARK: Events

    /// Applies effects that need no byte, such as those of rules that were just added.
    package mutating func start(_ now: MonotonicTime) -> [Action] { run(now) }

    /// Handles bytes from the sender.
    package mutating func receive(_ bytes: [UInt8], _ now: MonotonicTime) -> [Action] {
        receive(bytes, of: FaultTalk.Place(), now)
    }

    /// Handles bytes from the sender that belong to this exchange.
    mutating func receive(_ bytes: [UInt8], of talk: FaultTalk.Place, _ now: MonotonicTime) -> [Action] {
        guard !bytes.isEmpty else { return run(now) }
        self.talk = talk
        source.append(.bytes(bytes[...], FaultStage.Marks(talk: talk)))
        sourceBytes += bytes.count
        sent += UInt64(bytes.count)
        if !isOver { reads.append(sent) }
        for index in stages.indices where stages[index].allowance == .read { stages[index].allow(.bytes(bytes.count)) }
        return run(now)
    }

    /// Handles the sender's FIN.
    package mutating func end(_ now: MonotonicTime) -> [Action] {
        source.append(.end)
        return run(now)
    }

    /// Handles the time requested with `Action.wake`.
    package mutating func wake(_ now: MonotonicTime) -> [Action] {
        wakes = nil
        return run(now)
    }

    /// Pauses delivery while the receiver accepts no more bytes (`true`), or resumes it (`false`).
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

    var heldStage: Int? { isOver ? nil : stages.lastIndex(where: \.isHeld) }

    /// The breakpoint that holds this direction, since when, and how many bytes wait for it, or `nil` if none does.
    package var held: (breakpoint: Int, since: MonotonicTime, bytes: Int)? {
        guard let index = heldStage, let heldSince else { return nil }
        let waiting = stages[...index].reduce(sourceBytes) { $0 + $1.waitingBytes }
        return (stages[index].heldBy ?? stages[index].number, heldSince, waiting)
    }

    /// Returns up to `most` of the held bytes, the next ones first.
    package func heldBytes(_ most: Int) -> [UInt8] {
        guard let index = heldStage else { return [] }
        var bytes: [UInt8] = []
        for stage in stages[...index].reversed() { bytes += stage.waiting(max(0, most - bytes.count)) }
        for case .bytes(let waiting, _) in source.all { bytes += waiting.prefix(max(0, most - bytes.count)) }
        return bytes
    }

    /// Applies a decision of the user or a script to the held bytes. Has no effect if nothing is held.
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
            let talk = heldTalk(upTo: index)
            stages[index].drop(takeHeld(upTo: index))
            stages[index].putFirst(bytes, of: talk)
            sent += UInt64(bytes.count)
            if !bytes.isEmpty { reads.append(sent) }
            releaseAll()
        case .drop:
            stages[index].drop(takeHeld(upTo: index))
            releaseAll()
        }
        return run(now)
    }

    /// Lets `count` bytes pass the held stage, and the held stages before it.
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

    mutating func noteRelease() { (heldSince, isReleased) = (nil, true) }

    /// The exchange that the held bytes belong to, or the latest one if nothing is held.
    private func heldTalk(upTo index: Int) -> FaultTalk.Place {
        if let talk = stages[...index].reversed().lazy.compactMap(\.waitingTalk).first { return talk }
        for case .bytes(_, let marks) in source.all { return marks.talk }
        return talk
    }

    /// Removes the held bytes from the stream and returns how many there were.
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

    /// What each rule of this direction has done so far.
    package var tallies: [FaultTally] {
        stages.filter { $0.isFault && !$0.isOff }.map {
            FaultTally(number: $0.number, direction: place.direction, count: $0.count, dropped: $0.dropped)
        }
    }

    /// The number of the sender's bytes that a rule or the user dropped.
    package var droppedBytes: UInt64 { stages.reduce(discarded) { $0 + $1.dropped } }

    /// The number of bytes that wait in rules.
    package var delayedBytes: Int {
        isAbandoned ? 0 : stages.reduce(0) { $0 + ($1.isFault ? $1.waitingBytes : 0) }
    }

    /// Whether `latency` holds as much as it may, so that the delay is longer than the rule says, or rules make more of
    /// the stream than the buffer holds.
    package var isLimitedByBuffer: Bool {
        isHolding && (stages.contains(where: \.isFull) || isInterrupted && delivered > sent + UInt64(capacity))
            || stages.contains { $0.limited > 0 }
    }
}
