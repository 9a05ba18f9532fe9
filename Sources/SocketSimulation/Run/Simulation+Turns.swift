import SocketKit

/// Counts turns that were asked for and changed nothing.
struct SpinDetector {
    /// Turns in a row that changed nothing, though what they were told of was true.
    private var idleTurns = 0
    private static let limit = 16

    /// Whether the limit was reached just now.
    mutating func note(hasChanged: Bool) -> Bool {
        idleTurns = hasChanged ? 0 : idleTurns + 1
        return idleTurns == Self.limit
    }
}

/// Entering the engine, and looking whether that did any good.
extension Simulation {
    private var progress: Int { stage.kernel.network.withLock { $0.progress } }

    /// One turn with what is ready: all of it, or some, in any order, at times with a report that is not true.
    func turn(some: Bool) {
        var batch = stage.reactor.ready
        if some, batch.count > 1 {
            batch.shuffle(using: &order)
            batch.removeLast(stage.chance.below(batch.count))
        }
        let isTimely = takeTimer()
        guard !batch.isEmpty || isTimely else { return }
        let isTrue = !(some && stage.chance.oneIn(12) && addRumour(to: &batch))
        for readiness in batch { cover(readiness) }
        enter(batch, isTrue: isTrue)
    }

    private var order: ChanceOrder {
        get { ChanceOrder(chance: stage.chance) }
        set {}
    }

    private func takeTimer() -> Bool {
        guard let time = stage.reactor.wakeTime, time <= stage.clock.now else { return false }
        stage.reactor.takeTimer()
        coverTimeouts()
        return true
    }

    private func enter(_ batch: [Readiness], isTrue: Bool) {
        stage.trace("turn: \(batch.map(\.words).joined(separator: ", "))")
        let before = progress
        stage.reactor.turn(batch)
        guard isTrue, !batch.isEmpty else { return }
        if spin.note(hasChanged: progress != before) {
            stage.findings.report(.spinning, "nothing came of \(batch.map(\.words).joined(separator: ", "))")
        }
    }

    /// Says of a connection that it is readable and writable, which may not be so.
    private func addRumour(to batch: inout [Readiness]) -> Bool {
        let token = stage.kernel.network.withLock { network in
            network.descriptors.compactMap { $0?.watch?.token }.filter { $0.index == .max }.first
        }
        guard let token, !batch.contains(where: { $0.token == token }) else { return false }
        batch.append(Readiness(token, readable: true, writable: true))
        return true
    }

    /// One piece of the engine's later work.
    func runWork() {
        guard let queue = engine?.queue else { return }
        stage.trace("later work")
        stage.work.runOne(on: queue)
    }

    // MARK: Coming to rest

    /// Turns until nothing is ready, nothing is due and no work waits.
    func settle() {
        for _ in 0..<20_000 {
            if !stage.work.isEmpty {
                runWork()
            } else if !stage.reactor.ready.isEmpty || stage.reactor.wakeTime.map({ $0 <= stage.clock.now }) ?? false {
                turn(some: false)
            } else {
                return
            }
            if !stage.findings.list.isEmpty { return }
        }
        stage.findings.report(.spinning, "the engine does not come to rest")
    }

    /// Comes to rest in the midst of the play, with nothing new from outside, and looks whether anything was forgotten.
    func checkQuiet() {
        stage.isOpen = false
        settle()
        if let snapshot = engine?.snapshot() { checkQuiet(snapshot) }
        stage.isOpen = true
    }

    private func checkQuiet(_ snapshot: EngineSnapshot) {
        // The snapshot itself may have made work.
        settle()
        guard let engine, stage.findings.list.isEmpty else { return }
        QuietRules.check(engine.snapshot(), stage)
    }

    /// Faults end, peers take their leave, every question is answered, and time goes on: whatever is under way must
    /// come to its end.
    func end() {
        stage.kernel.network.withLock { $0.isFaulty = false }
        stage.isOpen = false
        comeToRest()
        for _ in 0..<2_000 {
            guard let time = stage.reactor.wakeTime, stage.findings.list.isEmpty else { break }
            if time > stage.clock.now { stage.clock.advance(by: time - stage.clock.now) }
            comeToRest()
        }
        if stage.findings.list.isEmpty, let snapshot = engine?.snapshot() { checkQuiet(snapshot) }
        if stage.findings.list.isEmpty { datagrams?.checkEnd() }
        look()
        letGo()
    }

    private func comeToRest() {
        for _ in 0..<10_000 {
            settle()
            guard stage.findings.list.isEmpty else { return }
            if stage.resolver.waiting > 0 {
                stage.resolver.answerOne()
            } else if !finishNetwork() {
                return
            }
        }
        stage.findings.report(.hanging, "the network does not come to rest")
    }

    /// Answers and delivers all that is under way; false when there was nothing.
    private func finishNetwork() -> Bool {
        peers.takeLeave()
        return stage.kernel.network.withLock { network in
            let unanswered = network.unanswered()
            for descriptor in unanswered { network.answer(descriptor) }
            let arrivals = network.arrivals()
            for (link, end) in arrivals { network.deliver(to: link, end, atMost: .max) }
            return !unanswered.isEmpty || !arrivals.isEmpty
        }
    }

    // MARK: Coverage

    private func cover(_ readiness: Readiness) {
        let session = readiness.token.socket
        if readiness.readable { stage.coverage.see(.readable, session) }
        if readiness.writable { stage.coverage.see(.writable, session) }
        if readiness.peerClosed { stage.coverage.see(.peerClosed, session) }
        if readiness.hungUp { stage.coverage.see(.hungUp, session) }
    }

    /// The timer came: whose time is up is read off the last snapshot's deadlines.
    private func coverTimeouts() {
        for session in stage.coverage.due(stage.clock.now) { stage.coverage.see(.timeout, session) }
    }
}

/// Lets the standard library's shuffle draw from a run's decisions.
private struct ChanceOrder: RandomNumberGenerator {
    let chance: Chance

    mutating func next() -> UInt64 {
        UInt64(chance.below(1 << 32)) << 32 | UInt64(chance.below(1 << 32))
    }
}

extension Readiness {
    /// As a person reads it: `#3 readable writable`.
    fileprivate var words: String {
        let flags = [
            (readable, "readable"), (writable, "writable"), (peerClosed, "peerClosed"), (hungUp, "hungUp"),
        ]
        return ([token.socket.description] + flags.filter(\.0).map(\.1)).joined(separator: " ")
    }
}
