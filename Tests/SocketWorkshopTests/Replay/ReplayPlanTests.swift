import SocketCore
import SocketExport
import SocketTestSupport
import SocketWorkshop
import Testing

@Suite("What a recorded client did")
struct ReplayPlanTests {
    private typealias Part = ExportedConversation.Part
    private typealias End = ExportedConversation.End

    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    private static func part(_ side: ExportedConversation.Side, _ text: String, _ time: Int64) -> Part {
        Part(side: side, bytes: Array(text.utf8), time: at(time))
    }

    @Test("a write follows the answers that had come before it, after the same pause")
    func order() {
        let plan = ReplayPlan(
            ExportedConversation(
                [
                    Self.part(.client, "a", 10), Self.part(.server, "1", 30), Self.part(.server, "23", 40),
                    Self.part(.client, "b", 70), Self.part(.client, "c", 75), Self.part(.server, "4", 80),
                ],
                ends: [
                    End(side: .client, time: Self.at(85), parts: 6), End(side: .server, time: Self.at(95), parts: 6),
                ]))
        #expect(plan.steps.map(\.action) == [.send([97]), .send([98]), .send([99]), .finish])
        #expect(plan.steps.map(\.after) == [0, 3, 3, 4])
        #expect(plan.steps.map(\.wait) == [0, 30, 0, 5].map { .milliseconds($0) })
        #expect(plan.steps.map(\.pause) == [10, 30, 5, 5].map { .milliseconds($0) })
        #expect(plan.answer == Array("1234".utf8) && plan.ending == .closed && plan.lastWait == .milliseconds(10))
        #expect(plan.isWhole && plan.sent == 3)
        #expect(plan.steps.allSatisfy { !$0.isAfterEnd })
    }

    @Test("ends have their place")
    func ends() {
        let parts = [Self.part(.server, "hi", 1), Self.part(.client, "x", 2)]
        let first = ReplayPlan(ExportedConversation(parts, ends: [End(side: .server, time: Self.at(1), parts: 1)]))
        #expect(first.steps.map(\.isAfterEnd) == [true] && first.steps[0].after == 2)
        let reset = ReplayPlan(
            ExportedConversation(parts, ends: [End(side: .server, isReset: true, time: Self.at(3), parts: 2)]))
        #expect(reset.ending == .reset)
        let ours = ReplayPlan(
            ExportedConversation(parts, ends: [End(side: .client, isReset: true, time: Self.at(3), parts: 2)]))
        #expect(ours.steps.last?.action == .reset && ours.ending == nil && !ours.isWhole)
        let open = ReplayPlan(ExportedConversation(parts))
        #expect(open.ending == nil && !open.isWhole)
    }

    @Test("a capture says who ended first")
    func captured() throws {
        let file = SampleCapture.recording()
        var index = ExportIndex()
        try index.absorb(file)
        let row = try #require(index.rows().first)
        var reader = ExportedConversation.Reader(PacketSelection(flows: [row.flow], span: .zero ... .seconds(9)))
        try reader.absorb(file)
        let plan = ReplayPlan(reader.finish(row))
        #expect(plan.steps.first?.action == .send(Array("PING\r\n".utf8)))
        #expect(plan.answer == Array("+PONG\r\n".utf8))
        for step in plan.steps.dropFirst() { #expect(step.after == plan.answer.count) }
    }

    @Test("paces", arguments: [("recorded", 100), ("x2", 50), ("x0.5", 200), ("asap", 0)])
    func paces(_ text: String, _ expected: Int) throws {
        let pace = try #require(ReplayPace.parse(text))
        #expect(pace.pause(.milliseconds(100)) == .milliseconds(expected))
    }

    @Test("what is not a pace", arguments: ["", "x", "x0", "x-1", "xinf", "xnan", "2", "fast", "x1e99"])
    func noPace(_ text: String) { #expect(ReplayPace.parse(text) == nil) }

    @Test("a session is cut into exchanges where the client goes on")
    func exchanges() {
        let all = RecordedExchange.all(
            of: ExportedConversation([
                Self.part(.server, "hello", 0), Self.part(.client, "a", 1), Self.part(.client, "b", 2),
                Self.part(.server, "1", 3), Self.part(.server, "2", 9), Self.part(.client, "c", 10),
            ]))
        #expect(all.map { String(decoding: $0.request, as: UTF8.self) } == ["", "ab", "c"])
        #expect(all.map { String(decoding: $0.answer, as: UTF8.self) } == ["hello", "12", ""])
        #expect(all[1].longestPause == .milliseconds(6))
    }
}

@Suite("Sweeps")
struct SweepTests {
    private static func outcome(
        _ answer: String, _ ending: AnswerEnding = .open, isStalled: Bool = false
    ) -> SweepOutcome {
        SweepOutcome(answer: Array(answer.utf8), ending: ending, isStalled: isStalled)
    }

    @Test("a request is cut at every byte, and nowhere else")
    func plan() {
        let plan = SweepPlan([1, 2, 3], pause: .milliseconds(20))
        #expect(plan.trials.filter { $0.test == .split }.map(\.offset) == [1, 2])
        for trial in plan.trials {
            let script = plan.script(trial, answer: 10)
            #expect(script.writes.flatMap { $0 } == (trial.test == .pipelined ? [1, 2, 3, 1, 2, 3] : [1, 2, 3]))
        }
        #expect(plan.script(SweepTrial(.split, at: 2), answer: 1).writes == [[1, 2], [3]])
        #expect(plan.script(SweepTrial(.split, at: 2), answer: 1, slowdown: 5).pause == .milliseconds(100))
        #expect(plan.script(SweepTrial(.halfClose, at: 1), answer: 1).finishes)
        #expect(plan.script(SweepTrial(.reset, at: 1), answer: 10).resetsAfter == 5)
        #expect(SweepPlan([1], pause: .zero).trials.allSatisfy { $0.test != .split })
        // However long the request, a trial ends.
        let long = SweepPlan([UInt8](repeating: 0, count: 10_000), pause: .milliseconds(20))
        #expect(long.script(SweepTrial(.dribble, at: 1), answer: 1).pause == .microseconds(500))
    }

    @Test("an answer is over when it is complete and quiet, or when its stream ended")
    func over() {
        var wait = AnswerWait(quiet: .milliseconds(100), deadline: .seconds(2))
        var state = AnswerWait.State()
        #expect(wait.step(state) == .read(.seconds(2)))
        (state.now, state.latest, state.count) = (.seconds(1), .milliseconds(900), 3)
        #expect(wait.step(state) == .read(.seconds(1)), "what is expected has not come")
        state.isDecided = true
        state.now = .milliseconds(950)
        #expect(wait.step(state) == .read(.milliseconds(50)))
        state.now = .seconds(1)
        #expect(wait.step(state) == .done)
        wait.endsAfterOurs = true
        #expect(wait.step(state) == .finish)
        state.finished = .seconds(1)
        #expect(wait.step(state) == .read(.seconds(2)), "the server's own end is sure")
        state.hasEnded = true
        #expect(wait.step(state) == .done)
        wait = AnswerWait(quiet: .milliseconds(100), deadline: .seconds(2))
        wait.expectsEnd = true
        (state.finished, state.hasEnded) = (nil, false)
        #expect(wait.step(state) == .read(.seconds(1)))
        wait = AnswerWait(quiet: .milliseconds(100), deadline: .seconds(2))
        wait.isFirst = true
        (state, state.count) = (AnswerWait.State(), 1)
        #expect(wait.step(state) == .read(.milliseconds(100)))
        state.count = 3 * SweepPlan.answerLimit
        #expect(wait.step(state) == .done)
    }

    @Test("the limit is for the whole answer: bytes that come one by one do not extend it")
    func dripping() {
        for isFirst in [true, false] {
            var wait = AnswerWait(quiet: .milliseconds(500), deadline: .seconds(3))
            wait.isFirst = isFirst
            var state = AnswerWait.State()
            var steps: [AnswerWait.Step] = []
            while steps.count < 1_000, case .read = steps.last ?? .read(.zero) {
                state.now += .milliseconds(10)
                (state.latest, state.count) = (state.now, state.count + 1)
                steps.append(wait.step(state))
            }
            #expect(steps.last == (isFirst ? .late : .done))
            #expect(state.now <= .milliseconds(3_010))
        }
    }

    @Test("a limit shorter than the silence that ends an answer is enough for one that came at once")
    func shortLimit() {
        var wait = AnswerWait(quiet: .milliseconds(500), deadline: .milliseconds(300))
        wait.isFirst = true
        var state = AnswerWait.State()
        (state.now, state.latest, state.count) = (.milliseconds(400), .milliseconds(100), 9)
        #expect(wait.step(state) == .read(.milliseconds(200)))
        state.now = .milliseconds(600)
        #expect(wait.step(state) == .done)
    }

    @Test("this side's own pauses do not count")
    func ownPauses() {
        let wait = AnswerWait(quiet: .milliseconds(100), deadline: .seconds(2))
        var state = AnswerWait.State()
        (state.now, state.written, state.rested) = (.seconds(9), .seconds(5), .seconds(3))
        #expect(wait.step(state) == .read(.seconds(1)))
    }

    @Test("what differs from the controls is found, with its offsets; what differs between them is not")
    func tally() throws {
        var tally = SweepTally(Self.outcome("+1 ok\r\n"))
        for offset in 1...4 {
            let answer = offset == 2 ? "-ERR\r\n" : offset == 3 ? "+2 ok\r\n" : "+1 ok\r\n"
            tally.absorb(Self.outcome(answer), of: SweepTrial(.split, at: offset))
        }
        #expect(tally.findings.first { $0.test == .split }?.answers == [2, 3])
        tally.absorbControl(Self.outcome("+3 ok\r\n"))
        let split = try #require(tally.findings.first { $0.test == .split })
        #expect(split.answers == [2] && split.endings.isEmpty && split.trials == 4)
        #expect(split.firstAnswer?.offset == 2 && split.firstAnswer?.difference.offset == 0)
        // A repeated trial counts once, by its last outcome.
        tally.absorb(Self.outcome("+1 ok\r\n"), of: SweepTrial(.split, at: 2))
        #expect(tally.findings.allSatisfy { !$0.isFinding } && tally.findings[0].trials == 4)
    }

    @Test("endings are compared apart from answers")
    func endings() {
        var tally = SweepTally(Self.outcome("ok"))
        tally.absorb(Self.outcome("ok", .closed), of: SweepTrial(.split, at: 1))
        tally.absorb(Self.outcome("o", .open, isStalled: true), of: SweepTrial(.split, at: 2))
        tally.absorb(Self.outcome("ok", .open), of: SweepTrial(.halfClose, at: 1))
        #expect(tally.findings[0].endings == [1] && tally.findings[0].answers == [2])
        #expect(tally.findings.first { $0.test == .halfClose }?.endings == [1])
        #expect(tally.stalled == [SweepTrial(.split, at: 2)] && !tally.closes)
        tally.absorb(Self.outcome("ok", .closed), of: SweepTrial(.halfClose, at: 1))
        #expect(tally.findings.first { $0.test == .halfClose }?.isFinding == false)
        // Controls that end this way and that say nothing about endings.
        tally.absorbControl(Self.outcome("ok", .closed))
        #expect(tally.findings[0].endings.isEmpty)
        #expect(SweepTally(Self.outcome("ok", .closed)).closes)
    }

    @Test("the memory for answers that differ is bounded, and no finding is lost")
    func memory() {
        var tally = SweepTally(Self.outcome("ok"))
        for offset in 0..<64 {
            let answer = [UInt8](repeating: UInt8(offset), count: 1 << 19)
            tally.absorb(SweepOutcome(answer: answer, ending: .open), of: SweepTrial(.split, at: offset))
        }
        #expect(tally.findings[0].answers == Array(0..<64))
    }
}
