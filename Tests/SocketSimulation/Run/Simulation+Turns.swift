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

    /// One turn of a station with what is ready: all of it, or some, in any order, at times with a report that is not
    /// true.
    func turn(_ station: Int, some: Bool) {
        let reactor = stage.stations[station].reactor
        var batch = reactor.ready
        if some, batch.count > 1 {
            batch.shuffle(using: &order)
            batch.removeLast(stage.chance.below(batch.count))
        }
        let isTimely = takeTimer(of: reactor)
        guard !batch.isEmpty || isTimely else { return }
        let isTrue = !(some && stage.chance.oneIn(12) && addRumour(to: &batch, station))
        for readiness in batch { cover(readiness) }
        enter(station, batch, isTrue: isTrue)
    }

    private var order: ChanceOrder {
        get { ChanceOrder(chance: stage.chance) }
        set {}
    }

    private func takeTimer(of reactor: SimulatedReactor) -> Bool {
        guard let time = reactor.wakeTime, time <= stage.clock.now else { return false }
        reactor.takeTimer()
        coverTimeouts()
        return true
    }

    private func enter(_ station: Int, _ batch: [Readiness], isTrue: Bool) {
        stage.trace("turn of engine \(station): \(batch.map(\.words).joined(separator: ", "))")
        let before = progress
        stage.stations[station].reactor.turn(batch)
        let tally = checkTurn(of: station)
        guard isTrue, !batch.isEmpty else { return }
        let hasChanged = progress != before || tally.jobs > 0 || tally.callbacks > 0
        if spins[station].note(hasChanged: hasChanged) {
            stage.findings.report(.spinning, "nothing came of \(batch.map(\.words).joined(separator: ", "))")
        }
    }

    /// Holds what a turn did against its budget.
    @discardableResult
    private func checkTurn(of station: Int) -> TurnTally {
        let budget = stage.stations[station].budget
        guard let tally = stage.stations[station].engine?.lastTurn else { return TurnTally() }
        // One descriptor may be dealt with when the budget is spent, and each call may exceed it.
        let isShort =
            tally.jobs <= budget.jobs && tally.callbacks <= budget.callbacks && tally.bytes <= budget.bytes + 32_768
        stage.findings.require(isShort, .turnTooLong, "\(tally) within \(budget)")
        return tally
    }

    /// Says of a connection that it is readable and writable, which may not be so.
    private func addRumour(to batch: inout [Readiness], _ station: Int) -> Bool {
        let token = stage.kernel.network.withLock { network in
            network.descriptors.compactMap { $0?.watch }.first { $0.reactor == station && $0.token.index == .max }?
                .token
        }
        guard let token, !batch.contains(where: { $0.token == token }) else { return false }
        batch.append(Readiness(token, readable: true, writable: true))
        return true
    }

    /// One piece of an engine's later work.
    func runWork(_ station: Int) {
        guard let queue = stage.stations[station].engine?.queue else { return }
        stage.trace("later work of engine \(station)")
        stage.stations[station].work.runOne(on: queue)
        checkTurn(of: station)
    }

    // MARK: Coming to rest

    /// Turns until nothing is ready, nothing is due and no work waits.
    func settle() {
        for _ in 0..<40_000 {
            guard stage.awaits.runner.isEmpty else {
                stage.awaits.runner.runOne(stage.chance)
                continue
            }
            guard let busy = stage.stations.firstIndex(where: isBusy) else { return }
            stage.stations[busy].work.isEmpty ? turn(busy, some: false) : runWork(busy)
            if !stage.findings.list.isEmpty { return }
        }
        stage.findings.report(.spinning, "the engine does not come to rest")
    }

    private func isBusy(_ station: Station) -> Bool {
        !station.work.isEmpty || !station.reactor.ready.isEmpty || station.isDue(stage.clock)
    }

    /// Comes to rest in the midst of the play, with nothing new from outside, and looks whether anything was forgotten.
    func checkQuiet() {
        stage.isOpen = false
        settle()
        // Before anybody looks, since a snapshot makes up for much.
        for station in stage.stations where stage.findings.list.isEmpty {
            stage.findings.require(
                station.engine?.isAtRest ?? true, .hanging, "work is left before a snapshot, and no turn was asked for")
        }
        for station in stage.stations { checkQuiet(station) }
        stage.awaits.checkQuiet()
        awaiting?.check(isOver: false)
        stage.isOpen = true
    }

    private func checkQuiet(_ station: Station) {
        _ = station.engine?.snapshot()
        // The snapshot itself may have made work.
        settle()
        guard stage.findings.list.isEmpty, let snapshot = station.engine?.snapshot() else { return }
        settle()
        stage.findings.require(station.engine?.isAtRest ?? true, .hanging, "work is left, and no turn was asked for")
        QuietRules.check(snapshot, stage, wakeTime: station.reactor.wakeTime)
    }

    /// Faults end, peers take their leave, every question is answered, and time goes on: whatever is under way must
    /// come to its end.
    func end() {
        stage.kernel.network.withLock { $0.isFaulty = false }
        stage.isOpen = false
        awaiting?.drain()
        comeToRest()
        for _ in 0..<2_000 {
            let times = stage.stations.compactMap(\.reactor.wakeTime)
            guard let time = times.min(), stage.findings.list.isEmpty else { break }
            if time > stage.clock.now { stage.clock.advance(by: time - stage.clock.now) }
            comeToRest()
        }
        if stage.findings.list.isEmpty { stage.stations.forEach(checkQuiet) }
        if stage.findings.list.isEmpty {
            datagrams?.checkEnd()
            stage.awaits.checkQuiet()
            awaiting?.check(isOver: true)
        }
        look()
        releaseRetired()
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
