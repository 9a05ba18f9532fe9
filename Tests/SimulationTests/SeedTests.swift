import SocketKit
import SocketSimulation
import Testing

/// A few seeds of the simulation, in process; `script/test --all` runs many more of them in a program built for speed.
@Suite("Simulation") struct SeedTests {
    /// So few seeds have to await more often.
    private static let rarity = 3

    @Test("no seed breaks a rule, and the sockets have been nearly everywhere")
    func seeds() {
        var campaign = Campaign()
        for seed in UInt64(0)..<200 { campaign.run(seed: seed, awaitsOneIn: Self.rarity) }
        for failure in campaign.failures {
            Issue.record(
                "simulate-sockets --seed \(failure.seed) --awaits \(Self.rarity) --verbose: \(failure.findings.prefix(3))"
            )
        }
        #expect(campaign.fewestEvents >= Simulation.eventCount)
        #expect(campaign.sessions > 2_000 && campaign.operations > 4_000)
        let missing = campaign.coverage.missing
        #expect(missing.count < Coverage.possible.count / 8, "\(missing)")
        for (state, event) in Self.essential {
            #expect(campaign.coverage.count(state, event) > 0, "\(state) x \(event)")
        }
        let missingAwaits = campaign.coverage.missingAwaits
        #expect(missingAwaits.count < Coverage.possibleAwaits.count / 8, "\(missingAwaits)")
        for line in campaign.report { print("simulation: \(line)") }
    }

    /// Pairs that even a short run may not leave out.
    private static let essential: [(Coverage.State, Coverage.Event)] = [
        (.connecting, .writable), (.connecting, .hungUp), (.connected, .readable), (.connected, .peerClosed),
        (.connected, .hungUp), (.connected, .timeout), (.interestOff, .peerClosed), (.writeBlocked, .writable),
        (.readAsking, .verdict), (.paused, .resume), (.draining, .readable), (.lingering, .peerClosed),
        (.lingering, .timeout), (.halfOpen, .write), (.listening, .readable), (.gone, .readable),
    ]

    @Test("the same seed is the same run", arguments: [UInt64(3), 77, 4_096])
    func replay(seed: UInt64) {
        #expect(trace(seed) == trace(seed))
        #expect(trace(seed) != trace(seed + 1))
    }

    private func trace(_ seed: UInt64) -> [String] {
        let lines = Lock<[String]>([])
        _ = Simulation.run(seed: seed, awaitsOneIn: Self.rarity) { line in lines.withLock { $0.append(line) } }
        return lines.withLock { $0 }
    }

    @Test("every planted bug is found, by the rule that it breaks", arguments: Mutant.allCases)
    func mutants(mutant: Mutant) {
        let found = (UInt64(0)..<60).lazy.map { Simulation.run(seed: $0, awaitsOneIn: Self.rarity, mutant: mutant) }
            .first { $0.findings.first?.rule == mutant.rule }
        #expect(found != nil, "nothing came of it in 60 seeds")
        let again = found.map { Simulation.run(seed: $0.seed, awaitsOneIn: Self.rarity, mutant: mutant) }
        #expect(again == found)
    }
}
