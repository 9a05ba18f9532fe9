import Glibc
import SocketSimulation

/// `simulate-sockets`: runs the engine on a simulated machine, seed by seed, and holds it against its rules. A seed
/// that fails is printed, and fails again in the same way.
@main
enum Main {
    static func main() {
        do throws(Arguments.Refusal) {
            exit(run(try Arguments(Array(CommandLine.arguments.dropFirst()))))
        } catch {
            print("simulate-sockets: \(error.words)\n\(Arguments.usage)")
            exit(2)
        }
    }

    /// The status to exit with: 0 when no rule was broken, or the planted bug was found in every run it showed itself.
    private static func run(_ arguments: Arguments) -> Int32 {
        var campaign = Campaign()
        var tell: (@Sendable (String) -> Void)?
        if arguments.isVerbose { tell = { print($0) } }
        let start = ContinuousClock.now
        for seed in arguments.from..<(arguments.from + arguments.count) {
            let outcome = campaign.run(
                seed: seed, awaitsOneIn: arguments.rarity, mutant: arguments.mutant, tell: tell)
            if arguments.mutant == nil { report(outcome, arguments) }
        }
        let time = ContinuousClock.now - start
        for line in campaign.report { print(line) }
        print("\(time) in all, \(time * 1_000 / max(1, campaign.seeds)) for 1,000 seeds")
        let isEverywhere = !arguments.wantsCoverage || reportCoverage(campaign.coverage)
        guard let mutant = arguments.mutant else { return campaign.failures.isEmpty && isEverywhere ? 0 : 1 }
        let found = campaign.failures.filter { $0.findings.first?.rule == mutant.rule }.count
        print("\(mutant): shown in \(campaign.mutated) seeds, found as \(mutant.rule) in \(found)")
        return found > 0 ? 0 : 1
    }

    /// Lists the pairs that were seen least; true when every pair was seen.
    private static func reportCoverage(_ coverage: Coverage) -> Bool {
        for pair in coverage.rarest(5) { print("  \(pair.name): \(pair.count)") }
        for pair in coverage.rarestAwaits(5) { print("  await \(pair.name): \(pair.count)") }
        let missing = coverage.missing + coverage.missingAwaits.map { "await \($0)" }
        for name in missing { print("not seen: \(name)") }
        return missing.isEmpty
    }

    private static func report(_ outcome: Simulation.Outcome, _ arguments: Arguments) {
        guard !outcome.findings.isEmpty else { return }
        print("seed \(outcome.seed) failed:")
        for finding in outcome.findings.prefix(5) { print("  \(finding)") }
        let awaits = arguments.rarity == Simulation.usualRarity ? "" : " --awaits \(arguments.rarity)"
        print("  replay: simulate-sockets --seed \(outcome.seed)\(awaits) --verbose")
    }
}
