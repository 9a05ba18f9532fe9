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
        _ = model.update(.child(ChildNews(ChildState(name: "nc", via: .connect, phase: .running(process: 78)))))
        if isTraced { _ = model.update(.snapshot(snapshot(model, calls))) }
        return model
    }

    /// The next snapshot, after these calls.
    static func snapshot(_ model: Model, _ calls: [SocketCall], _ losses: CallLosses = CallLosses()) -> EngineSnapshot {
        var snapshot = model.shared.latest ?? World.snapshot([])
        var ledger = snapshot.calls ?? CallLedger()
        ledger.absorb(calls, losses)
        snapshot.calls = ledger
        return snapshot
    }

    static func poll(_ state: SocketCall.State, took: Duration = .seconds(2)) -> SocketCall {
        var call = call(.poll, state, thread: 81, second: 3, took: took)
        call.poll = SocketCall.Poll(descriptors: 2, timeout: .seconds(5))
        return call
    }

    /// A read of 987 bytes, after one of 1,024 that got 37.
    static func piece(_ state: SocketCall.State) -> SocketCall {
        var call = call(.recvfrom, state, second: 4.2, took: .seconds(3))
        call.asked = 987
        call.gathered = SocketCall.Gathered(asked: 1_024, had: 37, calls: 1, began: World.at(14, 2, 4))
        return call
    }

    static func model(_ size: Size) -> Model {
        var model = model(
            size,
            [
                call(.sendto, .returned(88)), call(.recvfrom, .failed(11), second: 4.1),
                call(.accept4, .returned(7), thread: 79, second: 4.2),
                call(.writev, .vanished, thread: 80, second: 4.3),
                call(.recvmsg, .failed(512), second: 4.4), call(.close, .returned(0), second: 4.5),
                poll(.returned(0)), call(.recvfrom, .returned(37), second: 4), piece(.returned(987)),
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
        #expect(ledger.latest.count == 5 && ledger.dropped == 5 && ledger.next == 10)
        #expect(ledger.ended(from: 8).count == 2 && ledger.ended(from: 0).count == 5 && ledger.ended(from: 12).isEmpty)
        ledger.absorb([CallWorld.poll(.waits)])
        #expect(ledger.waiting.count == 1)
        ledger.absorb([CallWorld.poll(.returned(1), took: .microseconds(999))])
        #expect(ledger.waiting.isEmpty && ledger.next == 10, "one that hardly waited is not kept")
    }

    @Test("reads into the rest of one buffer are one message; a write, another address or a full buffer begins anew")
    func gathering() {
        var gathering = CallGathering()
        func absorb(
            _ kind: SocketCall.Kind, _ asked: Int64, _ state: SocketCall.State, at address: UInt64
        ) -> SocketCall {
            var call = CallWorld.call(kind, state)
            call.asked = asked
            gathering.absorb(&call, at: address)
            return call
        }
        #expect(absorb(.recvfrom, 1_024, .returned(37), at: 0x1000).gathered == nil)
        #expect(absorb(.recvfrom, 987, .waits, at: 0x1025).gathered?.had == 37)
        #expect(absorb(.recvfrom, 987, .failed(11), at: 0x1025).gathered?.calls == 1)
        #expect(absorb(.recvfrom, 987, .returned(900), at: 0x1025).gathered?.asked == 1_024)
        let last = absorb(.recvfrom, 87, .returned(87), at: 0x13A9)
        #expect(last.gathered?.calls == 2 && last.messageBytes == 1_024 && last.messageAsked == 1_024)
        #expect(absorb(.recvfrom, 1_024, .returned(5), at: 0x1400).gathered == nil, "the message was complete")
        #expect(absorb(.recvfrom, 1_019, .returned(5), at: 0x1500).gathered == nil, "another address")
        _ = absorb(.sendto, 3, .returned(3), at: 0x9000)
        #expect(absorb(.recvfrom, 1_014, .waits, at: 0x1505).gathered == nil, "it was answered")
    }

    @Test("a message that is read in pieces is one row, with how far it has come")
    func pieces() {
        let first = CallWorld.call(.recvfrom, .returned(37))
        let other = CallWorld.call(.sendto, .returned(9), thread: 90)
        #expect(SocketCall.gathered([first, other, CallWorld.piece(.waits)]) == [other, CallWorld.piece(.waits)])
        #expect(SocketCall.gathered([first, CallWorld.call(.recvfrom, .waits)]).count == 2)
        let waits = CallWorld.piece(.waits).sentence(at: World.at(14, 2, 7.4))
        #expect(waits == "recvfrom has 37 of 1,024 for 3.2s, 2 calls")
        let ended = CallWorld.piece(.returned(987)).sentence(at: .zero)
        #expect(ended == "recvfrom asked 987, got 987 in 3s; has 1,024 of 1,024, 2 calls")
        let poll = CallWorld.poll(.waits).sentence(at: World.at(14, 2, 4))
        #expect(poll == "poll of 2 descriptors for up to 5s, waiting for 1s")
        let late = CallWorld.poll(.returned(0)).sentence(at: .zero)
        #expect(late == "poll of 2 descriptors for up to 5s, timed out in 2s")
    }

    @Test("JSON has a line for each call that is over, and at the end for each that waits")
    func lines() throws {
        var json = JSONLines(program: "p", naming: .standard)
        var snapshot = World.snapshot([ExchangeWorld.socket])
        _ = json.absorb(snapshot)
        var ledger = CallLedger()
        ledger.absorb([
            CallWorld.call(.recvfrom, .waits), CallWorld.call(.accept4, .returned(7), thread: 79),
            CallWorld.call(.read, .failed(11), thread: 80), CallWorld.call(.write, .waits, thread: 82),
            CallWorld.poll(.returned(0)), CallWorld.call(.recvfrom, .returned(37)),
        ])
        snapshot.calls = ledger
        let made = json.absorb(snapshot).filter { $0.contains(#""type":"call""#) }
        #expect(json.absorb(snapshot).isEmpty, "each is told once")
        try #require(made.count == 4)
        #expect(made[0].contains(#""call":"accept4","fd":5,"asked_bytes":null,"returned_bytes":null,"accepted_fd":7,"#))
        #expect(made[1].contains(#""errno":11,"error":"would block","thread_ended":false,"#))
        #expect(made[2].contains(#""call":"poll","fd":5,"#))
        #expect(made[2].contains(#""fds":2,"timeout_s":5,"ready_fds":0,"#), "\(made[2])")
        #expect(made[3].contains(#""id":10,"process":78,"thread":78,"call":"recvfrom","fd":5,"asked_bytes":1024,"#))
        #expect(
            made[3].hasSuffix(#""began":"2023-11-15T14:02:04.000000000Z","took_s":5.4e-05,"sequence":3}"#),
            "\(made[3])")
        let rest = json.close()
        #expect(rest.count == 1 && rest[0].contains(#""call":"write""#))
        #expect(rest[0].hasSuffix(#""took_s":null,"sequence":null}"#))
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
        #expect(shown.contains("recvfrom          5    1.0K       -       -  waits "), "\(shown)")
        let waits = DetailDocument(model, width: 90).rows.map(\.left.text).joined(separator: "\n")
        #expect(waits.contains("recvfrom asked 1,024, waiting for "), "\(waits)")
        #expect(waits.contains("last: sendto asked 1,024, got 88 in 54us"), "\(waits)")
        var losses = CallLosses()
        losses.rings = [78]
        _ = model.update(
            .snapshot(CallWorld.snapshot(model, [CallWorld.call(.recvfrom, .returned(37), second: 5)], losses)))
        #expect(model.list.found?.matches.count == 2 && model.list.found?.current?.call?.returnedBytes == 37)
        let ring = DetailDocument(model, width: 90).rows.map(\.left.text).joined(separator: "\n")
        #expect(ring.contains("calls through io_uring are not seen"), "\(ring)")
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
