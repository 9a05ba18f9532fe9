import SocketKit
import SocketTestSupport

/// What everybody in a run shares.
package final class Stage: Sendable {
    let chance: Chance
    let clock = ManualClock()
    let findings = Findings()
    let mutation: Mutation
    let kernel: SimulatedKernel
    let resolver: SimulatedResolver
    /// Two engines of one machine.
    let stations: [Station]
    let ledger: Ledger
    let snapshotRules: SnapshotRules
    let coverage: Coverage
    /// What tasks await in this run.
    let awaits: Awaits
    private let tell: (@Sendable (String) -> Void)?
    private let roster = Lock<[Player]>([])
    /// Players act of their own accord; off while the run comes to its end.
    private let isPlaying = Lock(true)
    private let hasFaults = Lock(true)

    init(seed: UInt64, mutant: Mutant?, coverage: Coverage, tell: (@Sendable (String) -> Void)?) {
        chance = Chance(seed: seed)
        mutation = Mutation(mutant)
        kernel = SimulatedKernel(chance: chance, findings: findings, mutation: mutation)
        let (resolver, operations) = (SimulatedResolver(chance: chance), OperationCounter())
        self.resolver = resolver
        stations = (0..<2).map { [kernel, clock, mutation, chance] in
            Station(
                $0, kernel: kernel, clock: clock, resolver: resolver, mutation: mutation, chance: chance,
                operations: operations)
        }
        ledger = Ledger(findings: findings)
        snapshotRules = SnapshotRules(findings: findings, ledger: ledger, kernel: kernel)
        self.coverage = coverage
        awaits = Awaits(chance: chance, findings: findings, coverage: coverage, mutation: mutation, tell: tell)
        self.tell = tell
    }

    /// Whether players still do something of their own accord.
    var isOpen: Bool {
        get { isPlaying.withLock { $0 } }
        set { isPlaying.withLock { $0 = newValue } }
    }

    /// Whether no call fails for no reason of its own, so that nothing can be lost.
    var isFaultless: Bool {
        get { hasFaults.withLock { !$0 } }
        set { hasFaults.withLock { $0 = !newValue } }
    }

    /// Everybody who ever had a socket, in order.
    var players: [Player] { roster.withLock { $0 } }

    /// One of the engines.
    func pickEngine() -> SocketEngine? { chance.pick(stations).engine }

    /// Makes a player with a number of its own.
    func enroll() -> Player {
        roster.withLock { roster in
            roster.append(Player(number: roster.count, stage: self))
            return roster[roster.count - 1]
        }
    }

    /// Lets go of all players, who hold the engines. With them go sockets, and what is kept there.
    func dismiss() {
        var former = roster.withLock { roster in
            defer { roster = [] }
            return roster
        }
        former.removeAll()
    }

    /// One line for whoever watches a single seed.
    func trace(_ line: @autoclosure () -> String) {
        if let tell { tell(line()) }
    }
}
