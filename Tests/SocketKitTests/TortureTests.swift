import SocketKit
import SocketSimulation
import Testing

/// Every call of every scenario fails once with every errno that it can return, as in curl's torture tests.
@Suite("Torture") struct TortureTests {
    @Test("whatever fails: nothing leaks, hangs, spins, or is told twice", arguments: TortureScenario.all)
    func everyPoint(scenario: TortureScenario) {
        let whole = TortureMachine.run(scenario)
        #expect(whole.findings.isEmpty, "without any fault: \(whole.findings)")
        let points = TortureMachine.points(of: scenario)
        #expect(points.count == whole.calls.reduce(0) { $0 + $1.faults.count })
        var run = 0
        for point in points {
            let outcome = TortureMachine.run(scenario, failing: point)
            if outcome.hasStruck { run += 1 }
            #expect(outcome.findings.isEmpty, "\(point): \(outcome.findings.prefix(3))")
        }
        #expect(run == points.count)
        print("torture of \(scenario): \(whole.calls.count) calls, \(run) pairs of call and fault")
    }

    @Test("out of descriptors from any call on, all ends as well", arguments: TortureScenario.all)
    func droughts(scenario: TortureScenario) {
        for point in TortureMachine.droughts(of: scenario) {
            let outcome = TortureMachine.run(scenario, failing: point)
            #expect(outcome.hasStruck && outcome.findings.isEmpty, "\(point): \(outcome.findings.prefix(3))")
        }
    }

    @Test("every call of the seam is tortured")
    func everyCall() {
        let pairs = TortureScenario.all.flatMap { scenario in
            TortureMachine.points(of: scenario)
        }
        #expect(Set(pairs.map(\.call)) == Set(TortureCall.allCases))
        #expect(pairs.count > 700)
        print("torture: \(pairs.count) pairs of call and fault in all")
    }

    @Test("a scenario is the same each time")
    func repeatable() {
        for scenario in TortureScenario.all {
            #expect(TortureMachine.run(scenario).calls == TortureMachine.run(scenario).calls)
        }
    }
}
