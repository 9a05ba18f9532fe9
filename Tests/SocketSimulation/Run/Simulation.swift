import SocketKit

/// Sees each snapshot of a run's engines, beside the rules.
package protocol SimulationViewer: AnyObject {
    /// What the next snapshot of an engine shall hold.
    func request(of station: Int) -> SnapshotRequest
    func absorb(_ snapshot: EngineSnapshot, of station: Int)
}

/// One run: an engine on a simulated machine, with clients, a listener and peers, all of which do what the seed says.
///
/// Everything happens on the calling thread, so the same seed always gives the same run. First comes the play, in which
/// anything may happen in any order and calls fail for no reason; then all peers take their leave, and whatever can
/// come to its end must do so; then everything is closed, and nothing may be left.
package final class Simulation {
    /// The port that everybody connects to.
    static let port: UInt16 = 7_000
    /// Calls, arrivals and answers that a play has at least.
    package static let eventCount = 200
    private static let stepLimit = 4_000

    /// What a run came to.
    package struct Outcome: Sendable, Equatable {
        package var seed: UInt64
        package var findings: [Finding]
        /// Calls of the kernel, arrivals and answers.
        package var events: Int
        package var steps: Int
        package var operations: Int
        package var sessions: Int
        /// Whether the planted bug, if any, showed itself.
        package var hasMutated: Bool
    }

    let stage: Stage
    let peers: Peers
    private let seed: UInt64
    private let door: Door
    private var listener: SocketListener?
    private(set) var datagrams: DatagramPlayer?
    private(set) var awaiting: (any AwaitingPlay)?
    private var steps = 0
    /// Of how many chances to cancel a task one is taken.
    private let patience: Int
    var spins: [SpinDetector]

    /// Of how many seeds one has tasks that await.
    private let rarity: Int
    /// Who else looks at the engines.
    private let viewer: (any SimulationViewer)?

    private init(
        seed: UInt64, awaitsOneIn rarity: Int, mutant: Mutant?, coverage: Coverage, viewer: (any SimulationViewer)?,
        tell: (@Sendable (String) -> Void)?
    ) {
        self.viewer = viewer
        self.seed = seed
        self.rarity = rarity
        stage = Stage(seed: seed, mutant: mutant, coverage: coverage, tell: tell)
        peers = Peers(stage: stage)
        door = Door(stage: stage)
        patience = stage.chance.within(1...8)
        spins = stage.stations.map { _ in SpinDetector() }
    }

    /// Of how many seeds one has tasks that await, unless said: such a seed takes several times as long.
    package static let usualRarity = 16

    /// Runs one seed. `tell` gets a line for everything that happens. Of `rarity` seeds, one has tasks that await; with
    /// another rarity a seed is another run.
    package static func run(
        seed: UInt64, awaitsOneIn rarity: Int = usualRarity, mutant: Mutant? = nil, coverage: Coverage = Coverage(),
        viewer: (any SimulationViewer)? = nil, tell: (@Sendable (String) -> Void)? = nil
    ) -> Outcome {
        let run = Simulation(
            seed: seed, awaitsOneIn: rarity, mutant: mutant, coverage: coverage, viewer: viewer, tell: tell)
        run.begin()
        while run.isPlaying { run.step() }
        run.end()
        return run.outcome
    }

    private var outcome: Outcome {
        Outcome(
            seed: seed, findings: stage.findings.list, events: events, steps: steps,
            operations: stage.ledger.operationCount, sessions: stage.ledger.sessionCount,
            hasMutated: stage.mutation.hasShown)
    }

    private var events: Int { stage.kernel.network.withLock { $0.events } }

    private var isPlaying: Bool {
        events < (awaiting == nil ? 1 : 3) * Self.eventCount && steps < Self.stepLimit && stage.findings.list.isEmpty
    }

    // MARK: The play

    private func begin() {
        guard let engine = stage.stations[0].engine else { return }
        stage.kernel.network.withLock { $0.isFaulty = false }
        let listener = SocketListener(engine: engine, delegate: door)
        self.listener = listener
        listen()
        stage.findings.require(listener.session != nil, .hanging, "the listener does not listen")
        awaiting = stage.makeAwaitingPlay(oneIn: rarity)
        stage.isFaultless = awaiting != nil && stage.chance.oneIn(2)
        stage.kernel.network.withLock { $0.isFaulty = !stage.isFaultless }
        if stage.chance.oneIn(4) { datagrams = DatagramPlayer(engine: engine, stage: stage) }
        for _ in 0..<stage.chance.within(1...4) {
            enroll()
        }
    }

    private func enroll() {
        guard let engine = stage.pickEngine() else { return }
        let player = stage.enroll()
        player.absorb(AsyncSocket(engine: engine))
        player.act()
    }

    /// Stops the listener, or lets it listen again; that may be refused.
    private func listen() {
        guard let listener else { return }
        if listener.session != nil { return listener.stop() }
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = stage.chance.oneIn(2)
        configuration.options.backlog = Int32(stage.chance.within(1...8))
        if stage.chance.oneIn(4) { configuration.prepareDescriptor = Keepsake.acting(on: stage) }
        listener.configuration = configuration
        try? listener.listen(on: .tcp(host: Network.host, port: Self.port))
        stage.trace("listener \(listener.session?.description ?? "refused")")
    }

    private func step() {
        steps += 1
        if let awaiting, stage.chance.oneIn(2) { return letTasksAct(awaiting) }
        let station = stage.chance.below(stage.stations.count)
        switch stage.chance.below(32) {
        case 0..<8: turn(station, some: true)
        case 8..<11: stage.stations[station].work.isEmpty ? turn(station, some: false) : runWork(station)
        case 11..<19: deliverOne()
        case 19..<23: act()
        case 23..<27: peers.act()
        case 27: answerOne()
        case 28: stage.resolver.answerOne()
        case 29: advanceClock()
        case 30: turn(station, some: false)
        case 31 where listener?.session == nil || stage.chance.oneIn(16): listen()
        default: if stage.chance.oneIn(4) { checkQuiet() }
        }
        if stage.chance.oneIn(3) { look() }
    }

    /// Lets a task go on, begin to await something, or be cancelled.
    private func letTasksAct(_ awaiting: any AwaitingPlay) {
        switch stage.chance.below(16) {
        case 0..<7: stage.awaits.runner.runOne(stage.chance)
        case 7..<12: awaiting.act()
        case 12, 13: hurry()
        default: cancelTask()
        }
    }

    /// Cancels a task, often one that has its answer and has not gone on yet.
    private func cancelTask() {
        guard !stage.awaits.runner.isEmpty || stage.chance.oneIn(patience) else { return }
        stage.awaits.cancelOne()
        if stage.chance.oneIn(3) { checkQuiet() }
    }

    /// Delivers whatever is under way: a handshake takes many steps of the network.
    private func hurry() {
        for _ in 0..<stage.chance.within(1...4) {
            deliverAll()
            for station in stage.stations.indices {
                turn(station, some: false)
                if !stage.stations[station].work.isEmpty { runWork(station) }
            }
        }
    }

    private func act() {
        if let datagrams, stage.chance.oneIn(4) { return datagrams.act() }
        let players = stage.players.filter { $0.socket != nil }
        players.isEmpty || stage.chance.oneIn(40) ? enroll() : stage.chance.pick(players).act()
    }

    private func deliverOne() {
        stage.kernel.network.withLock { network in
            let arrivals = network.arrivals()
            guard !arrivals.isEmpty else { return }
            let (link, end) = network.chance.pick(arrivals)
            let most = network.chance.oneIn(2) ? network.chance.within(1...20) : network.chance.within(1...4_096)
            network.deliver(to: link, end, atMost: most)
            stage.trace("network delivers up to \(most) to end \(end) of link \(link)")
        }
    }

    private func deliverAll() {
        stage.kernel.network.withLock { network in
            for descriptor in network.unanswered() { network.answer(descriptor) }
            for (link, end) in network.arrivals() { network.deliver(to: link, end, atMost: .max) }
        }
    }

    private func answerOne() {
        stage.kernel.network.withLock { network in
            let unanswered = network.unanswered()
            guard !unanswered.isEmpty else { return }
            network.answer(network.chance.pick(unanswered))
        }
    }

    private func advanceClock() {
        // At times long enough for a second attempt to connect beside the first.
        let step = Duration.milliseconds(stage.chance.within(stage.chance.oneIn(6) ? 240...270 : 0...80))
        stage.clock.advance(by: step)
        stage.trace("clock goes on by \(step)")
    }

    /// Takes a picture of each engine, and holds it against the rules.
    func look() {
        var all: [SocketSnapshot] = []
        for (number, station) in stage.stations.enumerated() {
            let request = viewer?.request(of: number) ?? SnapshotRequest()
            guard let snapshot = station.engine?.snapshot(request) else { continue }
            all += snapshot.sockets
            stage.snapshotRules.check(snapshot, isFresh: true)
            viewer?.absorb(snapshot, of: number)
        }
        stage.coverage.update(all)
    }

    // MARK: Letting go

    /// Closes whatever is open, and lets go of everything.
    func releaseRetired() {
        for player in stage.players {
            player.socket?.userData = nil
            player.socket?.disconnect()
        }
        datagrams?.leave()
        awaiting?.leave()
        listener?.stop()
        settle()
        look()
        stage.awaits.finish()
        stage.ledger.finish()
        stage.dismiss()
        listener = nil
        datagrams = nil
        awaiting = nil
        for station in stage.stations { station.releaseRetired(stage.findings) }
        let left = stage.kernel.network.withLock { $0.openDescriptors }
        stage.findings.require(left.isEmpty, .descriptorLeaked, "open at the end: \(left)")
    }
}
