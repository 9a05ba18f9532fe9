import Dispatch
import Glibc
import SocketKit
import SocketTestSupport

/// Runs one scenario on a simulated machine whose network does nothing wrong, while at most one call fails.
package final class TortureMachine {
    /// What a run came to.
    package struct Outcome: Sendable {
        /// Every call that can fail, in order.
        package var calls: [TortureCall]
        /// Whether the call that was to fail was reached.
        package var hasStruck: Bool
        package var findings: [Finding]
        package var turns: UInt64
        package var sessions: Int
        package var operations: Int
    }

    /// Turns in which every scenario must have come to its end, whatever fails.
    package static let turnLimit: UInt64 = 400

    package let engine: SocketEngine
    package let ledger: Ledger
    let findings = Findings()
    private let counter: TortureCounter
    private let chance = Chance(seed: 1)
    private let clock = ManualClock()
    private let work = HeldWork()
    private let kernel: SimulatedKernel
    private let reactor: SimulatedReactor
    private var players: [TorturePlayer] = []
    private var listeners: [SocketListener] = []

    private init(_ point: TorturePoint?) {
        let mutation = Mutation(nil)
        counter = TortureCounter(point)
        ledger = Ledger(findings: findings)
        kernel = SimulatedKernel(chance: chance, findings: findings, mutation: mutation)
        reactor = SimulatedReactor(kernel: kernel, mutation: mutation)
        kernel.network.withLock { $0.isFaulty = false }
        let work = work
        engine = SocketEngine(
            EngineConfiguration(), kernel: TortureKernel(kernel, counter: counter), clock: clock,
            reactor: TortureReactor(reactor, counter: counter),
            resolver: ScriptedResolver([
                "pair.test": [.v6(host: "2001:db8::1", port: 1), .v4(host: Network.host, port: Self.port)]
            ]),
            schedule: { work.add($0) })
    }

    /// The port of the scenarios' listener.
    package static let port: UInt16 = 7_000

    /// Runs a scenario to its end, then closes what is left.
    package static func run(_ scenario: TortureScenario, failing point: TorturePoint? = nil) -> Outcome {
        let (outcome, work, queue) = play(scenario, failing: point)
        // The engine is released by now, and its last work, to let go of all it holds, waits here.
        while !work.isEmpty { work.runOne(on: queue) }
        return outcome
    }

    private static func play(
        _ scenario: TortureScenario, failing point: TorturePoint?
    ) -> (Outcome, HeldWork, DispatchQueue) {
        let machine = TortureMachine(point)
        scenario.begin(machine)
        machine.run()
        let snapshot = machine.engine.snapshot(SnapshotRequest(kernel: .all))
        machine.closeAll()
        let outcome = Outcome(
            calls: machine.counter.calls, hasStruck: machine.counter.hasStruck, findings: machine.findings.list,
            turns: snapshot.counters.turns, sessions: machine.ledger.sessionCount,
            operations: machine.ledger.operationCount)
        return (outcome, machine.work, machine.engine.queue)
    }

    /// Every point at which a scenario can fail, found by running it once.
    package static func points(of scenario: TortureScenario) -> [TorturePoint] {
        run(scenario).calls.enumerated().flatMap { index, call in
            call.faults.map { TorturePoint(index: index, call: call, fault: $0) }
        }
    }

    /// Every call that opens a descriptor, as the first of many that find none.
    package static func droughts(of scenario: TortureScenario) -> [TorturePoint] {
        points(of: scenario).filter { $0.fault == .errno(EMFILE) }.map {
            TorturePoint(index: $0.index, call: $0.call, fault: $0.fault, lasts: true)
        }
    }

    // MARK: For the scenarios

    /// A player that reacts to what it hears.
    func makePlayer(
        _ configuration: SocketConfiguration = SocketConfiguration(), _ react: @escaping TorturePlayer.Reaction
    ) -> TorturePlayer {
        let player = TorturePlayer(number: players.count, ledger: ledger, react)
        player.absorb(AsyncSocket(engine: engine, configuration: configuration))
        players.append(player)
        return player
    }

    /// Listens, and gives every connection that is taken a player of this kind. A refusal is an answer too.
    func listen(
        on endpoint: Endpoint = .tcp(host: Network.host, port: TortureMachine.port), allowsHalfOpen: Bool = false,
        _ react: @escaping TorturePlayer.Reaction
    ) {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = allowsHalfOpen
        let door = TortureDoor(ledger: ledger, react)
        let listener = SocketListener(engine: engine, delegate: door, configuration: configuration)
        listeners.append(listener)
        doors.append(door)
        try? listener.listen(on: endpoint)
    }

    private var doors: [TortureDoor] = []
    private var datagrams: [TortureDatagrams] = []

    /// A datagram socket that reacts to what it hears.
    func makeDatagrams(_ react: @escaping TortureDatagrams.Reaction) -> TortureDatagrams {
        let made = TortureDatagrams(engine: engine, findings: findings, react)
        datagrams.append(made)
        return made
    }

    /// Leaves a socket file behind, as a program that crashed.
    func leaveSocketFile(_ path: String) {
        kernel.network.withLock { _ = $0.socketFiles.insert(path) }
    }

    /// A descriptor that is connected to a peer who sends these bytes and FIN.
    func connectedDescriptor(sending bytes: [UInt8]) -> Int32 {
        kernel.network.withLock { network in
            let descriptor = network.openConnected()
            network.links[network.links.count - 1].directions[1].send(bytes)
            network.links[network.links.count - 1].directions[1].end()
            return descriptor
        }
    }

    /// The caller closes a descriptor that was not taken over.
    func close(_ descriptor: Int32) {
        kernel.close(descriptor)
    }

    // MARK: Running

    /// Until nothing is ready, nothing is under way and nothing is due any more, ever.
    private func run() {
        for _ in 0..<10_000 where !step() { return checkEnd() }
        findings.report(.spinning, "the scenario does not come to its end")
    }

    /// Does the next thing; false when there is none.
    private func step() -> Bool {
        if !work.isEmpty {
            work.runOne(on: engine.queue)
            return true
        }
        let isTimely = reactor.wakeTime.map { $0 <= clock.now } ?? false
        if isTimely { reactor.takeTimer() }
        let ready = reactor.ready
        if isTimely || !ready.isEmpty {
            reactor.turn(ready)
            return true
        }
        if moveNetwork() { return true }
        guard let time = reactor.wakeTime else { return false }
        clock.advance(by: time - clock.now)
        return true
    }

    private func moveNetwork() -> Bool {
        kernel.network.withLock { network in
            let unanswered = network.unanswered()
            for descriptor in unanswered { network.answer(descriptor) }
            let arrivals = network.arrivals()
            for (link, end) in arrivals { network.deliver(to: link, end, atMost: .max) }
            return !unanswered.isEmpty || !arrivals.isEmpty
        }
    }

    private func checkEnd() {
        findings.require(ledger.isOver, .hanging, "a session does not end by itself")
        for socket in datagrams { socket.checkEnd() }
        let turns = engine.snapshot().counters.turns
        findings.require(turns < Self.turnLimit, .spinning, "\(turns) turns")
    }

    private func closeAll() {
        for player in players { player.socket?.disconnect() }
        for door in doors { door.disconnectAll() }
        for listener in listeners { listener.stop() }
        for socket in datagrams { socket.socket?.close() }
        for _ in 0..<10_000 where !step() { break }
        ledger.finish()
        for socket in datagrams { socket.checkEnd() }
        let snapshot = engine.snapshot()
        SnapshotRules(findings: findings, ledger: ledger, kernel: kernel).check(snapshot, isFresh: true)
        findings.require(
            snapshot.counters.opened == snapshot.counters.closed, .neverDisconnected, "\(snapshot.counters)")
        let left = kernel.network.withLock { $0.openDescriptors }
        findings.require(left.isEmpty, .descriptorLeaked, "\(left)")
    }
}
