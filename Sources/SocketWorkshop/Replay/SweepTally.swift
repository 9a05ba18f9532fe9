/// The result of one connection of a sweep.
package struct SweepOutcome: Equatable, Sendable {
    package var answer: [UInt8]
    /// How the server closed the connection, if it did.
    package var ending: AnswerEnding
    /// Whether it was abandoned while bytes were expected.
    package var isStalled = false

    package init(answer: [UInt8], ending: AnswerEnding, isStalled: Bool = false) {
        (self.answer, self.ending, self.isStalled) = (answer, ending, isStalled)
    }
}

/// The result of one test.
package struct SweepFinding: Equatable, Sendable {
    /// The first difference in an answer, and the offset of its trial.
    package struct Answer: Equatable, Sendable {
        package var offset: Int
        package var difference: AnswerDifference
    }

    /// The first ending that differs, and the offset of its trial.
    package struct Ending: Equatable, Sendable {
        package var offset: Int
        package var ending: AnswerEnding
    }

    package var test: SweepTest
    /// The number of trials, or 0 if the test doesn't apply.
    package var trials = 0
    /// The offsets of trials whose answers and whose endings differ from those of the controls.
    package var answers: [Int] = []
    package var endings: [Int] = []
    package var firstAnswer: Answer?
    package var firstEnding: Ending?

    package var isFinding: Bool { !answers.isEmpty || !endings.isEmpty }
}

/// Compares the trials of a sweep with its controls.
///
/// An answer that differs is kept until the last control, since a difference between controls is not a finding. Equal
/// answers are kept once. Their memory is bounded, and answers beyond the bound are compared with the controls known so
/// far.
package struct SweepTally: Sendable {
    package private(set) var control: ControlPattern
    /// How the controls ended. If they differ, endings are not compared.
    package private(set) var endings: Set<AnswerEnding>
    /// The number of controls.
    package private(set) var controls = 1
    private var outcomes: [SweepTrial: SweepOutcome] = [:]
    /// The answers that differ, and how many trials keep each.
    private var kept: [[UInt8]: Int] = [:]
    private var keptBytes = 0
    /// Differences whose answers are not kept.
    private var judged: [SweepTrial: AnswerDifference] = [:]
    private var trials: Set<SweepTrial> = []

    private static let keptLimit = 16 << 20

    package init(_ first: SweepOutcome) { (control, endings) = (ControlPattern(first.answer), [first.ending]) }

    package var pattern: AnswerPattern { control.pattern }

    /// Whether the server answers no second request on a connection, because it ends the connection.
    package var closes: Bool { !endings.contains(.open) }

    /// Adds another control.
    package mutating func absorbControl(_ outcome: SweepOutcome) {
        controls += 1
        endings.insert(outcome.ending)
        control.absorb(outcome.answer)
    }

    /// Returns the expected answer of a trial.
    package func expected(_ test: SweepTest) -> AnswerPattern {
        test == .pipelined ? pattern.repeated(2) : pattern
    }

    /// Adds the outcome of a trial, replacing an earlier outcome of the same trial.
    package mutating func absorb(_ outcome: SweepOutcome, of trial: SweepTrial) {
        if let former = outcomes.removeValue(forKey: trial) { drop(former.answer) }
        trials.insert(trial)
        judged[trial] = nil
        let difference = difference(of: outcome.answer, trial.test)
        guard difference != nil || isEndingOther(outcome.ending, trial.test) else { return }
        // An answer that matches doesn't need to be kept.
        var outcome = outcome
        if difference == nil {
            outcome.answer = pattern.answer
            if trial.test == .pipelined { outcome.answer += pattern.answer }
        }
        if let answer = keep(outcome.answer) {
            outcome.answer = answer
        } else {
            outcome.answer = []
            judged[trial] = difference
        }
        outcomes[trial] = outcome
    }

    /// The trials that were abandoned while bytes were expected.
    package var stalled: [SweepTrial] {
        outcomes.filter { $0.value.isStalled }.keys.sorted { $0.offset < $1.offset }
    }

    /// Whether a trial's answer differs from the controls known so far.
    package func differs(_ trial: SweepTrial) -> Bool {
        guard let outcome = outcomes[trial] else { return false }
        return judged[trial] != nil || difference(of: outcome.answer, trial.test) != nil
    }

    /// The findings, in the order of the tests.
    package var findings: [SweepFinding] { SweepTest.allCases.map(finding) }

    private func finding(_ test: SweepTest) -> SweepFinding {
        var finding = SweepFinding(test: test, trials: trials.count { $0.test == test })
        for trial in outcomes.keys.filter({ $0.test == test }).sorted(by: { $0.offset < $1.offset }) {
            guard let outcome = outcomes[trial] else { continue }
            if let difference = judged[trial] ?? difference(of: outcome.answer, test) {
                finding.answers.append(trial.offset)
                if finding.firstAnswer == nil {
                    finding.firstAnswer = .init(offset: trial.offset, difference: difference)
                }
            }
            if isEndingOther(outcome.ending, test) {
                finding.endings.append(trial.offset)
                if finding.firstEnding == nil {
                    finding.firstEnding = .init(offset: trial.offset, ending: outcome.ending)
                }
            }
        }
        return finding
    }

    private func difference(of answer: [UInt8], _ test: SweepTest) -> AnswerDifference? {
        var matcher = AnswerMatcher(expected(test))
        matcher.absorb(answer)
        matcher.finish()
        return matcher.difference
    }

    /// Whether an ending differs. After this side's FIN any ending is right, except none at all or no connection.
    /// Otherwise it must be that of the controls.
    private func isEndingOther(_ ending: AnswerEnding, _ test: SweepTest) -> Bool {
        if test == .halfClose { return ending == .open || ending == .refused }
        return endings.count == 1 && !endings.contains(ending)
    }

    /// Returns the answer in memory that equal ones share, or `nil` if there is no room for it.
    private mutating func keep(_ answer: [UInt8]) -> [UInt8]? {
        if let index = kept.index(forKey: answer) {
            kept.values[index] += 1
            return kept.keys[index]
        }
        guard keptBytes + answer.count <= Self.keptLimit else { return nil }
        keptBytes += answer.count
        kept[answer] = 1
        return answer
    }

    private mutating func drop(_ answer: [UInt8]) {
        guard let count = kept[answer] else { return }
        kept[answer] = count == 1 ? nil : count - 1
        if count == 1 { keptBytes -= answer.count }
    }
}
