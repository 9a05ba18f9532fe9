import InspectorCore
import SocketCore
import Testing

@testable import InspectorScreen

/// A traced program with calls of every outcome.
enum CallWorld {
    static func call(
        _ kind: SocketCall.Kind, _ state: SocketCall.State, thread: Int = 78, second: Double = 4,
        took: Duration? = .microseconds(54)
    ) -> SocketCall {
        SocketCall(
            id: ExchangeWorld.socket.id, process: 78, thread: thread, kind, descriptor: 5,
            asked: kind.returns == .bytes ? 1_024 : nil, state, began: World.at(14, 2, second),
            took: state == .waits ? nil : took)
    }

    static func model(_ size: Size, _ calls: [SocketCall], isTraced: Bool = true) -> Model {
        var model = ExchangeWorld.model(size, "select 10")
        var child = ChildState(name: "nc", via: .connect, phase: .running(process: 78))
        if isTraced { child.callLosses = CallLosses() }
        _ = model.update(.child(ChildNews(child, calls: calls)))
        return model
    }

    static func model(_ size: Size) -> Model {
        var model = model(
            size,
            [
                call(.sendto, .returned(88)), call(.recvfrom, .failed(11), second: 4.1),
                call(.accept4, .returned(7), thread: 79, second: 4.2),
                call(.writev, .vanished, thread: 80, second: 4.3),
                call(.recvmsg, .failed(512), second: 4.4), call(.close, .returned(0), second: 4.5),
                call(.recvfrom, .waits, second: 5),
            ])
        _ = model.update(.command("calls"))
        return model
    }
}

@Suite("The system calls of a program that is run")
struct CallTests {
    @Test("one that waits waits until its thread's next news, or until the end of one may be missing")
    func waiting() {
        var ledger = CallLedger(limit: 4)
        ledger.absorb([CallWorld.call(.recvfrom, .waits), CallWorld.call(.read, .waits, thread: 79)], CallLosses())
        #expect(ledger.waiting.count == 2 && ledger.latest.isEmpty)
        ledger.absorb([CallWorld.call(.recvfrom, .returned(37))], CallLosses())
        #expect(ledger.waiting.keys.sorted() == [79] && ledger.latest.count == 1)
        ledger.absorb([], CallLosses(lost: 1))
        #expect(ledger.waiting.isEmpty)
        for _ in 0..<9 { ledger.absorb([CallWorld.call(.sendto, .returned(1))]) }
        #expect(ledger.latest.count <= 5 && ledger.dropped + ledger.latest.count == 10)
    }

    @Test("JSON has a line for each call that is over, and at the end for each that waits")
    func lines() {
        var json = JSONLines(program: "p", naming: .standard)
        _ = json.absorb(World.snapshot([ExchangeWorld.socket]))
        let made = json.absorb(
            [
                CallWorld.call(.recvfrom, .waits), CallWorld.call(.accept4, .returned(7), thread: 79),
                CallWorld.call(.read, .failed(11), thread: 80), CallWorld.call(.write, .waits, thread: 81),
                CallWorld.call(.recvfrom, .returned(37)),
            ], nil)
        #expect(made.count == 3)
        #expect(made[0].contains(#""call":"accept4","fd":5,"asked_bytes":null,"returned_bytes":null,"accepted_fd":7,"#))
        #expect(made[1].contains(#""returned_bytes":null,"accepted_fd":null,"errno":11,"error":"would block","#))
        #expect(made[2].contains(#""id":10,"process":78,"thread":78,"call":"recvfrom","fd":5,"asked_bytes":1024,"#))
        #expect(made[2].hasSuffix(#""began":"2023-11-15T14:02:04.000000000Z","took_s":5.4e-05}"#), "\(made[2])")
        let rest = json.close()
        #expect(rest.count == 1 && rest[0].contains(#""call":"write""#) && rest[0].hasSuffix(#""took_s":null}"#))
    }

    @Test("what is missing is said")
    func losses() {
        var child = ChildState(name: "nc", via: .connect)
        child.callLosses = CallLosses(lost: 412, strangePrograms: 1, hiddenPrograms: 2)
        let phrases =
            "412 calls that came too fast, the calls of 1 32-bit program, the calls of 2 programs that may not be"
        #expect(child.remarks == ["not shown: \(phrases) looked into"])
    }

    @Test(":calls lists them and follows, the detail says what waits, and Enter goes to the traffic")
    func list() {
        var model = CallWorld.model(
            Size(100, 24), [CallWorld.call(.sendto, .returned(88)), CallWorld.call(.recvfrom, .waits, second: 5)])
        _ = model.update(.command("calls"))
        #expect(model.list.found?.words == "2 calls, latest last" && model.list.found?.cursor == 1)
        let shown = draw(model, Size(100, 24)).text(in: Rect(x: 0, y: 0, width: 100, height: 24))
        #expect(shown.contains("sendto"), "\(shown)")
        #expect(shown.contains("recvfrom       5    1.0K       -       -  waits "), "\(shown)")
        let waits = DetailDocument(model, width: 90).rows.map(\.left.text).joined(separator: "\n")
        #expect(waits.contains("recvfrom asked 1,024, waiting for "), "\(waits)")
        #expect(waits.contains("last: sendto asked 1,024, got 88 in 54us"), "\(waits)")
        var child = ChildState(name: "nc", via: .connect, phase: .running(process: 78))
        child.callLosses = CallLosses()
        _ = model.update(.child(ChildNews(child, calls: [CallWorld.call(.recvfrom, .returned(37), second: 5)])))
        #expect(model.list.found?.matches.count == 2 && model.list.found?.current?.call?.returnedBytes == 37)
        model.press(.enter)
        #expect(model.tab == .traffic)
        model.press(.escape)
        #expect(model.tab == .list && model.list.found != nil)
    }

    @Test("without calls, a sentence says why there is no list")
    func none() {
        var model = ExchangeWorld.model(Size(80, 24), "calls")
        #expect(model.notice?.text == "no program is running: socktui run --calls -- COMMAND starts one")
        model = CallWorld.model(Size(100, 24), [], isTraced: false)
        _ = model.update(.command("calls"))
        #expect(model.notice?.text == "the calls of nc are not traced: run --calls does that")
        model = CallWorld.model(Size(100, 24), [])
        _ = model.update(.command("calls"))
        #expect(model.notice?.text == "no call on #10 is known; :calls all lists those on all sockets")
    }
}
