import SocketTestSupport
import Testing

@testable import SocketCore

/// A talk in a line: who sends how many bytes, and when, in microseconds. `c` is the client, `s` the server.
private func run(
    _ talk: String, client: TrafficItem.Direction = .sent, isJoined: Bool = false, question: String? = nil
) -> (tally: ExchangeTally, snapshot: ExchangeSnapshot?) {
    var tally = ExchangeTally(client: client, isJoined: isJoined)
    var times = AnswerTimes()
    for word in talk.split(separator: " ") {
        let parts = word.dropFirst().split(separator: "@").compactMap { Int64($0) }
        let isClient = word.first == "c"
        let step = tally.pass(
            isClient == (client == .sent) ? .sent : .received, Int(parts[0]),
            at: MonotonicTime(nanoseconds: parts[1] * 1_000))
        if step == .answered { times.add(tally.answerTime) }
        guard let question, step != .more else { continue }
        tally.tell(Array(question.utf8), isWhole: step == .answered)
    }
    return (tally, tally.snapshot(times))
}

/// The facts of a talk that is counted by totals, as an engine does. Nothing is left to judge from the first answer on, and
/// the tally is told so if it `settles`.
private func count(_ talk: String, client: TrafficItem.Direction, settles: Bool) -> ExchangeSnapshot? {
    var (tally, times) = (ExchangeTally(client: client), AnswerTimes())
    var (received, sent) = (UInt64(0), UInt64(0))
    for word in talk.split(separator: " ") {
        let parts = word.dropFirst().split(separator: "@").compactMap { UInt64($0) }
        if (word.first == "c") == (client == .sent) { sent += parts[0] } else { received += parts[0] }
        let now = MonotonicTime(nanoseconds: Int64(parts[1]) * 1_000)
        withUnsafeMutablePointer(to: &times) { times in
            if tally.isSettled {
                ExchangeTally.passSettled(&tally, upTo: received, sent, at: now, addingTo: times)
            } else if tally.pass(upTo: received, sent, at: now, addingTo: times), tally.answered > 0 {
                tally.tell([UInt8](), isWhole: true)
                if settles { tally.settle() }
            }
        }
    }
    return tally.snapshot(times)
}

struct Talk: Sendable {
    var name: String
    var talk: String
    var question: String?
    /// The questions, or `nil` if they overlap.
    var count: UInt64?
    var last: Int?
    var worst: Int?
    /// When the unanswered question began.
    var since: Int64?
}

@Suite struct ExchangeTallyTests {
    static let talks = [
        Talk(name: "nothing", talk: "", count: 0),
        Talk(name: "asked", talk: "c10@100", count: 1, since: 100),
        Talk(name: "answered", talk: "c10@100 s5@350", count: 1, last: 250, worst: 250),
        Talk(name: "twice", talk: "c10@100 s5@350 s9@400 c10@500 s1@540", count: 2, last: 40, worst: 250),
        Talk(name: "asked again", talk: "c10@100 s5@350 c10@500", count: 2, last: 250, worst: 250, since: 500),
        Talk(name: "a greeting is no answer", talk: "s30@10 s3@20 c10@100 s5@350", count: 1, last: 250, worst: 250),
        Talk(name: "a batch at once", talk: "c10@100 c10@100 s5@350 s5@350", count: 1, last: 250, worst: 250),
        Talk(name: "parts in a row", talk: "c10@100 c90@150 s5@350", count: 1, last: 250, worst: 250),
        Talk(name: "an upload", talk: "c4096@0 c4096@5000 c9@10000 s5@20000", count: 1, last: 20_000, worst: 20_000),
        Talk(name: "only sends", talk: "c4096@0 c4096@9000000 c4096@18000000", count: 1, since: 0),
        Talk(name: "two questions without an answer between", talk: "c10@0 c10@2000 s5@20000"),
        Talk(
            name: "the head and the body of a request", talk: "c40@0 c10@2000 s5@20000",
            question: "POST / HTTP/1.1\r\n", count: 1, last: 20_000, worst: 20_000),
        Talk(name: "commands that follow each other", talk: "c10@0 c10@20 s5@90", question: "*1\r\n$4\r\nPING\r\n"),
        Talk(
            name: "frames", talk: "c8@0 s8@90 c8@200 s8@290", question: "\0\0\0\u{4}abcd", count: 2, last: 90,
            worst: 90),
        Talk(name: "frames that follow each other", talk: "c8@0 s8@90 c8@200 c8@210", question: "\0\0\0\u{4}abcd"),
        Talk(name: "several frames at once", talk: "c10@0 s5@90", question: "\0\0\0\u{1}a\0\0\0\u{1}b"),
        Talk(name: "HTTP/2", talk: "c60@0 s5@90", question: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Talk(name: "MQTT", talk: "c14@0 s4@90", question: "\u{10}\u{c}\0\u{4}MQTT\u{4}\u{2}\0\0"),
        Talk(name: "pushed after a silence, and asked then", talk: "c9@0 s9@100 s9@1500000 c9@1600000 s9@1600100"),
        Talk(name: "pushed after a silence", talk: "c9@0 s9@100 s9@1500000", count: 1, last: 100, worst: 100),
        Talk(
            name: "a slow answer of HTTP", talk: "c40@0 s9@100 s9@1500000 c9@1600000 s9@1600100",
            question: "GET / HTTP/1.1\r\n", count: 2, last: 100, worst: 100),
        Talk(name: "an answer at the instant of its question", talk: "c9@10 s9@10"),
    ]

    @Test(arguments: talks)
    func counts(_ talk: Talk) throws {
        let (tally, snapshot) = run(talk.talk, question: talk.question)
        #expect(tally.overlaps == (talk.count == nil), "\(talk.name)")
        let facts = try #require(snapshot)
        #expect(facts.count == talk.count ?? 0, "\(talk.name)")
        #expect(facts.last == talk.last.map { .microseconds($0) }, "\(talk.name)")
        #expect(facts.worst == talk.worst.map { .microseconds($0) }, "\(talk.name)")
        #expect(facts.unansweredSince?.nanoseconds == talk.since.map { $0 * 1_000 }, "\(talk.name)")
        #expect((facts.median == nil) == (talk.last == nil), "\(talk.name)")
    }

    @Test func aServerAnswersAtOnce() {
        let facts = run("c9@10 s9@10", client: .received).snapshot
        #expect(facts?.count == 1 && facts?.last == .zero)
    }

    @Test func theRestOfAQuestionIsNotTimed() {
        let facts = run("c9@10 s9@500 c9@600 s9@700", isJoined: true).snapshot
        #expect(facts?.count == 1 && facts?.worst == .microseconds(100))
    }

    @Test func whatIsEncryptedIsUnknown() {
        #expect(run("c9@10 s9@500", question: "\u{16}\u{3}\u{1}").snapshot == nil)
    }

    @Test func onceOverlappingNothingIsCounted() {
        let facts = run("c10@0 s10@50 c10@100 c10@3000 s5@20000 c10@90000 s1@90100 c10@95000").snapshot
        var only = ExchangeSnapshot()
        only.overlaps = true
        #expect(facts == only)
    }

    @Test func memoryIsBounded() {
        // With what its owner keeps beside it: a flag, and where the times are.
        #expect(MemoryLayout<ExchangeTally>.stride + 16 < 100)
        #expect(MemoryLayout<ExchangeTally>.stride + 16 + MemoryLayout<AnswerTimes>.stride <= 700)
    }

    /// Counting by totals, several of which may be of one step, gives what counting direction by direction gives.
    @Test(arguments: UInt64(1)...20)
    func totalsAgreeWithSteps(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let client: TrafficItem.Direction = seed % 2 == 0 ? .sent : .received
        var (byTotals, bySteps) = (ExchangeTally(client: client), ExchangeTally(client: client))
        var (times, stepTimes) = (AnswerTimes(), AnswerTimes())
        // Just below what 32 bits hold, and past it.
        var (received, sent, time): (UInt64, UInt64, Int64) = (0, 0, 0)
        for step in 0..<2_000 {
            time += Int64.random(in: 1...900_000_000, using: &random)
            let now = MonotonicTime(nanoseconds: time)
            let isAsking = step % 2 == 0
            let bulk = UInt64.random(in: 1...20_000_000, using: &random)
            let isBoth = Bool.random(using: &random) && client == .received && isAsking
            for direction in TrafficItem.Direction.allCases {
                guard isBoth || (direction == client) == isAsking else { continue }
                if direction == .received { received += bulk } else { sent += bulk }
                if bySteps.pass(direction, Int(bulk), at: now) == .answered { stepTimes.add(bySteps.answerTime) }
            }
            _ = withUnsafeMutablePointer(to: &times) { byTotals.pass(upTo: received, sent, at: now, addingTo: $0) }
        }
        #expect(byTotals.snapshot(times) == bySteps.snapshot(stepTimes))
        #expect(byTotals.snapshot(times)?.count ?? 0 > 900 && max(received, sent) > UInt64(UInt32.max))
    }

    /// However questions and answers are divided, as many are counted as there are, with the times that they had.
    @Test(arguments: UInt64(1)...20)
    func agreesWithASimpleReference(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var tally = ExchangeTally(client: seed % 2 == 0 ? .sent : .received)
        var answerTimes = AnswerTimes()
        let (client, server): (TrafficItem.Direction, TrafficItem.Direction) =
            seed % 2 == 0 ? (.sent, .received) : (.received, .sent)
        var (time, times): (Int64, [Int64]) = (0, [])
        func speak(_ direction: TrafficItem.Direction, pauses: ClosedRange<Int64>) {
            for part in 0..<Int.random(in: 1...5, using: &random) {
                if part > 0 { time += Int64.random(in: pauses, using: &random) }
                let count = Int.random(in: 1...2_000, using: &random)
                let step = tally.pass(direction, count, at: .init(nanoseconds: time))
                if step == .answered { answerTimes.add(tally.answerTime) }
            }
        }
        if seed % 3 == 0 { speak(server, pauses: 0...900_000_000) }
        for _ in 0..<500 {
            time += Int64.random(in: 1...1_000_000_000, using: &random)
            let began = time
            speak(client, pauses: 0...900_000)
            time += Int64(1) << Int64.random(in: 0...33, using: &random)
            times.append(time - began)
            speak(server, pauses: 0...900_000_000)
        }
        let facts = try #require(tally.snapshot(answerTimes))
        #expect(facts.count == 500 && !facts.overlaps && facts.unansweredSince == nil)
        #expect(facts.last == times.last.map { .nanoseconds($0) })
        #expect(facts.worst == times.max().map { .nanoseconds($0) })
        times.sort()
        #expect(isNear(facts.median, times[249]) && isNear(facts.late, times[494]))
    }

    /// Returns whether a time is within 3 % of the true one, or both are so short that they are not told apart.
    private func isNear(_ told: Duration?, _ time: Int64) -> Bool {
        guard let told = told?.wholeNanoseconds else { return false }
        if time < 1 << 14 { return told <= 1 << 14 }
        return abs(Double(told - time)) <= 0.0301 * Double(time)
    }

    @Test func eachTimeIsToldWithinThreePercent() {
        var time: Int64 = 1 << 14
        while time < 1 << 34 {
            var times = AnswerTimes()
            times.add(time)
            let told = times.quantile(0.5, worst: .max) ?? 0
            #expect(abs(Double(told - time)) <= 0.03 * Double(time), "\(time)")
            time += max(1, time / 199)
        }
    }

    @Test func fullBucketsKeepTheirProportions() {
        var times = AnswerTimes()
        for index in 0..<300_000 { times.add(index % 100 < 97 ? 1_000_000 : 50_000_000) }
        #expect(isNear(times.quantile(0.5, worst: .max).map { .nanoseconds($0) }, 1_000_000))
        #expect(isNear(times.quantile(0.99, worst: .max).map { .nanoseconds($0) }, 50_000_000))
        #expect(times.spread(over: 24)?.bars.count { $0 > 0 } == 2)
    }

    @Test(
        "once nothing is left to judge, all is counted as before",
        arguments: talks.map(\.talk) + [
            "c1@0 s1@90 c1@200 s1@290 s1@300 s1@900 c1@1000 s1@1000 c1@2000 s1@9000",
            "c1@0 s1@90 c1@200 c1@300 s1@400 c2000@500 c2000@9000 c1@90000 s1@90001 c1@90002",
            "c1@0 s1@90 c1@200 c1@3000 s1@3001 c1@3002", "c1@0 s1@90 s1@2000000 c1@2000001 s1@2000002",
            "c1@0 s1@90 c1@200 s0@210 s1@290 c0@300 c1@400 s1@450",
        ], [TrafficItem.Direction.sent, .received])
    func settled(talk: String, client: TrafficItem.Direction) {
        #expect(count(talk, client: client, settles: true) == count(talk, client: client, settles: false))
    }
}
