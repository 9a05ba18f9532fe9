/// Many seeds, one after the other, and what they came to.
package struct Campaign: Sendable {
    /// Where the sockets have been in all seeds together.
    package let coverage = Coverage()
    package private(set) var seeds = 0
    package private(set) var events = 0
    package private(set) var steps = 0
    package private(set) var operations = 0
    package private(set) var sessions = 0
    /// The fewest events that a seed had.
    package private(set) var fewestEvents = Int.max
    /// The runs in which a rule was broken.
    package private(set) var failures: [Simulation.Outcome] = []
    /// Runs in which a planted bug showed itself.
    package private(set) var mutated = 0

    /// Nothing has run yet.
    package init() {}

    /// Runs one seed more.
    @discardableResult
    package mutating func run(
        seed: UInt64, awaitsOneIn rarity: Int = Simulation.usualRarity, mutant: Mutant? = nil,
        tell: (@Sendable (String) -> Void)? = nil
    ) -> Simulation.Outcome {
        let outcome = Simulation.run(
            seed: seed, awaitsOneIn: rarity, mutant: mutant, coverage: coverage, tell: tell)
        seeds += 1
        events += outcome.events
        steps += outcome.steps
        operations += outcome.operations
        sessions += outcome.sessions
        fewestEvents = min(fewestEvents, outcome.events)
        if outcome.hasMutated { mutated += 1 }
        if !outcome.findings.isEmpty { failures.append(outcome) }
        return outcome
    }

    /// The figures, in words.
    package var report: [String] {
        let (possible, awaits) = (Coverage.possible.count, Coverage.possibleAwaits.count)
        let missing = coverage.missing
        return [
            "\(seeds) seeds, \(events) kernel events (at least \(seeds == 0 ? 0 : fewestEvents) a seed), \(steps) steps",
            "\(sessions) sessions, \(operations) operations",
            "\(possible - missing.count) of \(possible) pairs of state and event seen",
            "\(awaits - coverage.missingAwaits.count) of \(awaits) pairs of await and end seen",
            "\(failures.count) seeds failed",
        ]
    }
}
