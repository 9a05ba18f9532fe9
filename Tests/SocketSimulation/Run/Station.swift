import SocketKit
import SocketTestSupport

/// One engine of a run, and what it runs on. Connections move from one to the other.
package final class Station: Sendable {
    let reactor: SimulatedReactor
    let work = HeldWork()
    let budget: TurnBudget
    private let held = Lock<SocketEngine?>(nil)

    /// `number` counts the stations of a run. Their sessions have numbers of their own, so that a run can tell them apart.
    init(
        _ number: Int, kernel: SimulatedKernel, clock: ManualClock, resolver: SimulatedResolver, mutation: Mutation,
        chance: Chance, operations: OperationCounter
    ) {
        reactor = SimulatedReactor(kernel: kernel, mutation: mutation, number: number)
        budget = Self.budget(chance)
        var configuration = EngineConfiguration()
        configuration.eventCapacity = 64
        configuration.closedLimit = 6
        configuration.capturesTraffic = chance.oneIn(8)
        let work = work
        let engine = SocketEngine(
            configuration, kernel: kernel, clock: clock, reactor: reactor, resolver: resolver,
            schedule: { work.add($0) }, names: Names(after: UInt64(number) * 1_000_000, operations: operations),
            budget: budget)
        held.withLock { $0 = engine }
    }

    /// Often so small that most of what a run asks for does not fit into one turn.
    private static func budget(_ chance: Chance) -> TurnBudget {
        var budget = TurnBudget()
        guard !chance.oneIn(3) else { return budget }
        budget.jobs = chance.within(1...8)
        budget.callbacks = chance.within(1...4)
        budget.bytes = chance.within(16...2_048)
        return budget
    }

    /// The engine; nil once it was let go of.
    var engine: SocketEngine? { held.withLock { $0 } }

    /// Lets go of the engine, and reports what keeps it.
    func releaseRetired(_ findings: Findings) {
        guard let queue = engine?.queue else { return }
        weak let former = engine
        held.replace(\.self, with: nil)
        // Or its last work, which closes everything, would never be done.
        findings.require(former == nil, .descriptorLeaked, "the engine itself is kept")
        while !work.isEmpty { work.runOne(on: queue) }
    }

    /// Whether it has something to do without the kernel's reporting anything.
    func isDue(_ clock: ManualClock) -> Bool { reactor.wakeTime.map { $0 <= clock.now } ?? false }
}
