import InspectorCore
import SocketKit
import SocketWorkshop

/// Performs a sweep: controls, parallel trials, trials that disturb others, and controls again.
///
/// A trial whose answer was late is repeated with the full time limit, because on a busy host the server may just be
/// slow. A cut that made no difference is repeated with a longer pause if other cuts differ, because the server may
/// have read both parts at once.
package actor Sweeper {
    package struct Result: Sendable {
        /// The tally, or `nil` if the controls could not be made.
        package var tally: SweepTally?
        package var parallel: Int
        package var problem: String?
    }

    private struct Problem: Error { var sentence: String }

    private let request: ReplayRequest
    private let exchange: RecordedExchange
    private let plan: SweepPlan
    private let exchanger: Exchanger
    private var tally: SweepTally?
    private var parallel: Int
    private var queue: ArraySlice<SweepTrial> = []
    private var slowdown = 1
    private var problem: String?
    private var latestControl = ContinuousClock.now
    private var endsAfterOurs = false
    private var progress: SweepProgress

    /// The silence after which an answer is complete: if its length is known, and for controls, if it is not.
    private static let quiet = Duration.milliseconds(100)
    private static let controlQuiet = Duration.milliseconds(500)
    /// The first time limit of an answer.
    private static let shortDeadline = Duration.seconds(2)
    /// The interval between controls, long enough that a counter of seconds differs.
    private static let controlPause = Duration.milliseconds(1_100)
    private static let controlInterval = Duration.milliseconds(900)
    /// The number of trials of a kind that are repeated with the full time limit before the others are believed.
    private static let confirmations = 3
    /// The most trials repeated with a longer pause, and the factor of that pause.
    private static let repetitions = 512
    private static let longerPause = 5

    package init(_ request: ReplayRequest, _ exchanges: [RecordedExchange]) {
        self.request = request
        exchange = exchanges[request.exchange - 1]
        plan = SweepPlan(exchange.request, pause: request.pause)
        exchanger = Exchanger(
            request: request, engine: SocketEngine(), before: Array(exchanges[..<(request.exchange - 1)]))
        parallel = request.parallel
        progress = SweepProgress(total: plan.trials.count + plan.lastTrials.count)
    }

    package func run() async -> Result {
        do throws(Problem) {
            try await makeControls()
            await tryHalfClose()
            // A server that closes after one answer can't be sent a second request.
            let closes = tally?.closes ?? false
            try await runAll(plan.trials.filter { !closes || $0.test != .pipelined })
            try await confirm()
            try await sharpen()
            for trial in plan.lastTrials { try await reset(trial) }
            try await Self.pause(Self.controlPause)
            try await control()
        } catch {
            problem = error.sentence
        }
        return Result(tally: tally, parallel: parallel, problem: problem)
    }

    private static func pause(_ time: Duration) async throws(Problem) {
        do { try await Task.sleep(for: time) } catch { throw Problem(sentence: "cancelled") }
    }

    // MARK: Controls

    private func makeControls() async throws(Problem) {
        let begin = ContinuousClock.now
        var wait = AnswerWait(
            quiet: max(Self.controlQuiet, exchange.longestPause * 3), deadline: request.patience)
        wait.isFirst = true
        let script = ExchangeScript(plan.request)
        let first = await exchanger.outcome(of: script, nil, wait)
        guard first.ending != .refused else { throw Problem(sentence: await exchanger.problem()) }
        if let problem = first.problem(within: request.patience) {
            throw Problem(sentence: "\(request.address): \(problem)")
        }
        guard first.answer.count <= SweepPlan.answerLimit else {
            throw Problem(sentence: "the answer is longer than \(SweepPlan.answerLimit >> 20) MiB; sweep a shorter one")
        }
        tally = SweepTally(first)
        try await controlBesideAnother(script)
        try await Self.pause(max(.zero, begin + Self.controlPause - .now))
        try await control()
    }

    /// Makes the second control while another connection is open. If it stalls, the server is swept one connection at a
    /// time.
    private func controlBesideAnother(_ script: ExchangeScript) async throws(Problem) {
        guard let other = await exchanger.connect(script) else { throw Problem(sentence: await exchanger.problem()) }
        var wait = wait(deadline: Self.shortDeadline)
        wait.quiet = Self.controlQuiet
        let outcome = await exchanger.outcome(of: script, tally?.pattern, wait)
        other.close()
        if outcome.isStalled {
            parallel = 1
            try await control()
        } else {
            tally?.absorbControl(outcome)
        }
    }

    /// Makes a control like the first ones.
    private func control() async throws(Problem) {
        latestControl = .now
        var wait = wait(deadline: request.patience)
        wait.quiet = max(Self.controlQuiet, exchange.longestPause * 3)
        let script = ExchangeScript(plan.request)
        var outcome = await exchanger.outcome(of: script, tally?.pattern, wait)
        // Half an answer must not count as a different one.
        if outcome.isStalled { outcome = await exchanger.outcome(of: script, tally?.pattern, wait) }
        if outcome.ending == .refused {
            throw Problem(sentence: "the server stopped answering: " + (await exchanger.problem()))
        }
        if outcome.isStalled {
            let time = Format.duration(request.patience)
            throw Problem(
                sentence: "the server no longer answers as in the first control: \(outcome.answer.count) of "
                    + "\(tally?.pattern.answer.count ?? 0) bytes arrived within \(time)")
        }
        tally?.absorbControl(outcome)
    }

    private func wait(deadline: Duration) -> AnswerWait {
        var wait = AnswerWait(quiet: Self.quiet, deadline: deadline)
        wait.expectsEnd = tally?.closes ?? false
        wait.endsAfterOurs = endsAfterOurs && !wait.expectsEnd
        return wait
    }

    // MARK: Trials

    /// Tests whether the server ends its stream after ours and still answers.
    private func tryHalfClose() async {
        let trial = SweepTrial(.halfClose, at: 1)
        var wait = wait(deadline: request.patience)
        wait.endsAfterOurs = true
        let outcome = await outcome(trial, wait)
        tally?.absorb(outcome, of: trial)
        endsAfterOurs = [.closed, .cut].contains(outcome.ending) && !(tally?.differs(trial) ?? true)
    }

    private func outcome(_ trial: SweepTrial, _ wait: AnswerWait) async -> SweepOutcome {
        let script = plan.script(trial, answer: tally?.pattern.answer.count ?? 0, slowdown: slowdown)
        return await exchanger.outcome(of: script, tally?.expected(trial.test), wait)
    }

    /// Makes trials in parallel.
    private func runAll(_ trials: [SweepTrial]) async throws(Problem) {
        queue = trials[...]
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<min(parallel, trials.count) { group.addTask { await self.work() } }
        }
        if let problem { throw Problem(sentence: problem) }
    }

    private func work() async {
        while problem == nil, let trial = queue.popFirst() { await carryOut(trial) }
    }

    /// Makes one trial, after a control if one is due. A trial needs controls soon before and after it, because of
    /// counters in the server's answers.
    @inline(never)
    private func carryOut(_ trial: SweepTrial) async {
        if .now - latestControl > Self.controlInterval {
            do throws(Problem) { try await control() } catch { problem = error.sentence }
        }
        let outcome = await outcome(trial, wait(deadline: min(Self.shortDeadline, request.patience)))
        tally?.absorb(outcome, of: trial)
        progress.note(trial.test, differs: tally?.differs(trial) ?? false)
    }

    /// Repeats trials whose answer was late, with the full time limit.
    private func confirm() async throws(Problem) {
        guard request.patience > Self.shortDeadline else { return }
        for (_, trials) in Dictionary(grouping: tally?.stalled ?? [], by: \.test) where trials[0].test != .halfClose {
            var confirmed = 0
            for trial in trials where confirmed < Self.confirmations {
                let outcome = await outcome(trial, wait(deadline: request.patience))
                tally?.absorb(outcome, of: trial)
                if outcome.isStalled { confirmed += 1 }
            }
        }
    }

    /// If some cuts made a difference, repeats those that did not with a longer pause.
    private func sharpen() async throws(Problem) {
        let splits = plan.trials.filter { $0.test == .split }
        let passed = splits.filter { tally?.differs($0) != true }
        guard passed.count < splits.count else { return }
        slowdown = Self.longerPause
        defer { slowdown = 1 }
        progress.add(min(passed.count, Self.repetitions))
        try await runAll(Array(passed.prefix(Self.repetitions)))
    }

    /// Resets a connection in the middle of its answer. The test is whether another one is then answered as before.
    private func reset(_ trial: SweepTrial) async throws(Problem) {
        _ = await outcome(trial, wait(deadline: request.patience))
        let outcome = await exchanger.outcome(
            of: ExchangeScript(plan.request), tally?.pattern, wait(deadline: request.patience))
        tally?.absorb(outcome, of: trial)
        progress.note(.reset, differs: tally?.differs(trial) ?? false)
    }
}

/// The progress of a sweep, in one line of a terminal.
package struct SweepProgress {
    private var total: Int
    private var done = 0
    private var differing = 0
    private var drawn = ContinuousClock.now

    private static let width = 24

    package init(total: Int) { self.total = total }

    package mutating func add(_ count: Int) { total += count }

    package mutating func note(_ test: SweepTest, differs: Bool) {
        (done, differing) = (done + 1, differing + (differs ? 1 : 0))
        guard .now - drawn > .milliseconds(100) else { return }
        drawn = .now
        let filled = total > 0 ? min(Self.width, Self.width * done / total) : 0
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        StandardStream.error.rewriteLine("[\(bar)] \(done) of \(total), \(test.rawValue), \(differing) differ")
    }
}
