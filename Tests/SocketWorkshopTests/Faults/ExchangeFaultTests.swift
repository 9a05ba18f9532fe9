import SocketCore
import SocketWorkshop
import Testing

@Suite("Rules about single questions and their answers")
struct ExchangeFaultTests {
    /// A relayed connection whose clock is set by hand, half a millisecond for each read.
    private struct Talk {
        var faults = RelayFaults(seed: 1, connection: 1, began: .zero, delayBuffer: FaultBook.delayBuffer)
        var now = MonotonicTime.zero
        var wake: MonotonicTime?
        var toServer = ""
        var toClient = ""
        var wasReset = false
        var happened = 0

        init(_ rules: String...) throws {
            for (index, rule) in rules.enumerated() { try add(index + 1, rule) }
        }

        mutating func add(_ number: Int, _ rule: String, after former: ExchangeSnapshot? = nil) throws {
            faults.add(NumberedFault(number, try FaultRule.parse(rule)), after: former)
            absorb(faults.start(now))
        }

        mutating func absorb(_ actions: [RelayFaults.Action]) {
            for action in actions {
                switch action {
                case .write(.target, let bytes, _, _): toServer += String(decoding: bytes, as: UTF8.self)
                case .write(.client, let bytes, _, _): toClient += String(decoding: bytes, as: UTF8.self)
                case .reset: wasReset = true
                case .wake(let time): wake = min(wake ?? time, time)
                case .report(_, let report): happened += report.kind == .happened ? 1 : 0
                default: break
                }
            }
        }

        mutating func ask(_ text: String) { pass(text, .client) }
        mutating func answer(_ text: String) { pass(text, .target) }

        private mutating func pass(_ text: String, _ leg: RelayMachine.Leg) {
            now = now + .microseconds(500)
            absorb(faults.receive(Array(text.utf8), from: leg, now))
        }

        /// Lets time pass until all has been delivered, and returns how long that took.
        mutating func settle() -> Duration {
            let start = now
            while let due = wake {
                (now, wake) = (max(now, due), nil)
                absorb(faults.wake(now))
            }
            return now - start
        }
    }

    @Test("the third question is reset before a byte of it passes")
    func reset() throws {
        var talk = try Talk("on exchange 3 reset")
        for number in 1...2 {
            talk.ask("q\(number)")
            talk.answer("a\(number)")
        }
        #expect(!talk.wasReset && talk.toServer == "q1q2" && talk.toClient == "a1a2")
        talk.ask("q3")
        #expect(talk.wasReset && talk.toServer == "q1q2" && talk.faults.snapshot.rules.first?.count == 1)
    }

    @Test("downstream, the third answer is reset, whatever the server says before it is asked")
    func resetAnswer() throws {
        var talk = try Talk("on exchange 3 downstream reset")
        talk.answer("220 hello")
        for number in 1...3 {
            talk.ask("q\(number)")
            #expect(!talk.wasReset)
            talk.answer("a\(number)")
        }
        #expect(talk.wasReset && talk.toServer == "q1q2q3" && talk.toClient == "220 helloa1a2")
    }

    @Test("answers to questions with a pattern are late, in parts too, and others are not")
    func question() throws {
        var talk = try Talk("after question /select/ latency 300ms")
        talk.ask("Q begin")
        talk.answer("done")
        #expect(talk.settle() == .zero && talk.toClient == "done")
        talk.ask("Q sel")
        talk.ask("ect 1")
        #expect(talk.settle() == .zero && talk.toServer == "Q beginQ select 1", "the question itself is not late")
        talk.answer("row ")
        talk.answer("row ")
        #expect(talk.toClient == "done")
        #expect(talk.settle() == .milliseconds(300) && talk.toClient == "donerow row ")
        talk.ask("Q commit")
        talk.answer("done")
        #expect(talk.settle() == .zero && talk.toClient == "donerow row done")
        talk.ask("Q select 2")
        talk.answer("row")
        #expect(talk.settle() == .milliseconds(300))
        #expect(talk.faults.snapshot.rules.first?.count == 3 && talk.happened == 1)
    }

    @Test("what is found must lie within the exchange, and each of them has its own limit")
    func bounds() throws {
        var replacing = try Talk("on exchange 2 downstream replace ab with X")
        for _ in 1...3 {
            replacing.ask("q")
            replacing.answer("aba")
            _ = replacing.settle()
        }
        replacing.ask("q")
        replacing.answer("b")
        #expect(replacing.toClient == "abaXaabab")
        var matching = try Talk("on exchange 2 downstream match b insert -")
        var inserting = try Talk("after question x downstream insert -")
        for text in ["x1", "y2", "x3"] {
            matching.ask(text)
            matching.answer("abab")
            inserting.ask(text)
            inserting.answer("a")
            inserting.answer("b")
        }
        #expect(matching.toClient == "ababa-ba-babab" && inserting.toClient == "-abab-ab")
    }

    @Test("where requests overlap or are hidden, the rule holds for nothing, and that is said")
    func overlapping() throws {
        var talk = try Talk("on exchange 2 reset", "after question b reset")
        talk.ask("a")
        #expect(!talk.faults.snapshot.overlaps)
        talk.now = talk.now + .seconds(1)
        talk.ask("b")
        talk.answer("x")
        for _ in 1...3 {
            talk.ask("b")
            talk.answer("y")
        }
        #expect(!talk.wasReset && talk.faults.snapshot.overlaps && talk.toServer == "abbbb")
        var http2 = try Talk("on exchange 1 reset")
        http2.ask("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        #expect(!http2.wasReset && http2.faults.snapshot.overlaps)
        var upgraded = try Talk("on exchange 2 reset")
        upgraded.ask("GET / HTTP/1.1\r\n\r\n")
        upgraded.answer("HTTP/1.1 101 Switching Protocols\r\n\r\n")
        upgraded.ask("frame")
        #expect(!upgraded.wasReset && upgraded.faults.snapshot.overlaps)
    }

    @Test("a rule that is added later counts the questions before it")
    func later() throws {
        var former = ExchangeSnapshot()
        former.count = 4
        var between = try Talk("after 1G reset")
        between.ask("q4")
        between.answer("a4")
        try between.add(2, "on exchange 5 reset", after: former)
        #expect(!between.wasReset)
        between.ask("q5")
        #expect(between.wasReset)

        former.unansweredSince = .zero
        var asking = try Talk("after 1G reset")
        asking.ask("q4")
        try asking.add(2, "on exchange 4 downstream reset", after: former)
        try asking.add(3, "after question /q4/ insert x", after: former)
        asking.answer("a4")
        #expect(asking.wasReset && !asking.toClient.contains("x"), "its first bytes are not known")

        var unknown = try Talk("after 1G reset")
        unknown.ask("q")
        try unknown.add(2, "on exchange 1 reset")
        unknown.answer("a")
        #expect(!unknown.wasReset && unknown.faults.snapshot.overlaps)
    }

    @Test("with match, the limit counts from the first match of each exchange, and not from each match")
    func limit() throws {
        var talk = try Talk("after question x downstream match a limit 4")
        talk.ask("x1")
        talk.answer("-ab")
        talk.ask("y2")
        talk.answer("abababab")
        talk.ask("x3")
        talk.answer("-abab-")
        #expect(talk.toClient == "-ab" + "abababab" + "-abab" && talk.faults.snapshot.droppedBytes == 1)
    }

    @Test("what is edited at a breakpoint belongs to the exchange of the bytes that it replaces")
    func editing() throws {
        var talk = try Talk("on exchange 2 upstream insert -", "on exchange 2 downstream limit 3")
        talk.faults.add(NumberedBreak(1, try Breakpoint.parse("upstream on match bc")))
        talk.faults.add(NumberedBreak(2, try Breakpoint.parse("downstream on match bc")))
        talk.ask("q1")
        talk.answer("a1")
        talk.ask("abcd")
        #expect(talk.toServer == "q1-a")
        talk.absorb(talk.faults.release(.edit(Array("X".utf8)), .upstream, talk.now))
        talk.ask("more")
        #expect(talk.toServer == "q1-aXmore", "its exchange goes on, and nothing is inserted again")
        talk.answer("abc")
        talk.absorb(talk.faults.release(.edit(Array("YZ!".utf8)), .downstream, talk.now))
        #expect(talk.toClient == "a1aYZ")
        #expect(talk.faults.snapshot.droppedBytes == 6)
    }

    @Test("that requests overlap is said as long as there is a rule by exchange")
    func removing() throws {
        var talk = try Talk("on exchange 2 reset", "after question b reset", "after 1G reset")
        talk.ask("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        talk.faults.remove(rule: 1)
        #expect(talk.faults.snapshot.overlaps)
        talk.faults.remove(rule: 2)
        #expect(!talk.faults.snapshot.overlaps)
    }
}
