import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("Questions with their answers, in JSON and in the list")
struct ExchangeLinesTests {
    private func snapshot(_ change: (inout SocketSnapshot) -> Void = { _ in }) -> EngineSnapshot {
        var socket = ExchangeWorld.socket
        change(&socket)
        return World.snapshot([socket])
    }

    private func lines(_ counts: [Int], isClosed: Bool = false) -> [String] {
        var json = JSONLines(program: "p", naming: .standard, exchanges: true)
        var made: [String] = []
        for (index, count) in counts.enumerated() {
            let isLast = index == counts.count - 1
            _ = json.absorb(snapshot { if isLast, isClosed { $0.phase = .closed } })
            made += json.absorb(
                TrafficSnapshot(items: Array(ExchangeWorld.traffic.items.prefix(count))), of: ExchangeWorld.socket.id)
        }
        return made + json.close()
    }

    @Test("each exchange has one line, however its traffic arrives, and the last when the run or the session ends")
    func oneEach() {
        let all = lines([8])
        #expect(all.count == 4)
        #expect(
            lines([1, 2, 3, 4, 4, 6, 7, 8]) == all && lines([5, 8]) == all && lines([8, 8], isClosed: true) == all)
        #expect(
            all[0].contains(
                #""number":1,"asked_by":"local","began":"2023-11-15T14:02:04.000000000Z","asked_bytes":32,"#))
        #expect(all[0].contains(#""answered_bytes":23,"first_byte_s":0.02,"took_s":0.034,"#))
        #expect(all[0].hasSuffix(#""question":"GET /first HTTP/1.1"}"#))
        #expect(all[1].contains(#""question":"GET /slow\u001b[2J HTTP/1.1""#))
        #expect(all[3].contains(#""first_byte_s":null,"took_s":null,"question":"GET /fourth HTTP/1.1""#))
    }

    @Test("where earlier traffic was dropped, the numbers go on")
    func dropped() {
        var json = JSONLines(program: "p", naming: .standard, exchanges: true)
        _ = json.absorb(snapshot())
        let rest = TrafficSnapshot(items: Array(ExchangeWorld.traffic.items.dropFirst(3)), dropped: 3)
        let made = json.absorb(rest, of: ExchangeWorld.socket.id) + json.close()
        #expect(made.count == 2, "the first one kept may be the rest of one")
        #expect(made[0].contains(#""number":3,"#) && made[1].contains(#""number":4,"#), "\(made)")
    }

    @Test("what overlaps, and what is encrypted, has no lines from then on")
    func overlapping() {
        var json = JSONLines(program: "p", naming: .standard, exchanges: true)
        _ = json.absorb(snapshot())
        let talk = TrafficSnapshot(items: [
            ExchangeWorld.item(0, .sent, "one", 1), ExchangeWorld.item(1, .received, "1", 1.1),
            ExchangeWorld.item(2, .sent, "two", 2), ExchangeWorld.item(3, .sent, "three", 2.5),
        ])
        let made = json.absorb(talk, of: ExchangeWorld.socket.id) + json.close()
        #expect(made.count == 1 && made[0].contains(#""question":"one""#))
        var later = snapshot { $0.exchanges = nil }
        later.time = later.time + .seconds(1)
        _ = json.absorb(later)
        #expect(json.absorb(ExchangeWorld.traffic, of: ExchangeWorld.socket.id).isEmpty)
    }

    @Test(":exchanges lists them, slowest first if asked for, and Enter goes to one's place in the traffic")
    func list() {
        var model = ExchangeWorld.model(Size(100, 24), "exchanges slowest")
        let found = model.list.found
        #expect(found?.matches.map { $0.exchange?.number } == [4, 2, 1, 3] && found?.cursor == 0)
        #expect(found?.words == "4 requests, slowest first")
        model.press(.character("j"))
        model.press(.enter)
        #expect(model.tab == .traffic && model.traffic.match?.item == 3)
        model.press(.escape)
        #expect(model.tab == .list && model.list.found != nil)
        model.press(.escape)
        #expect(model.list.found == nil)
    }

    @Test("without answer times, or without kept traffic, a sentence says why there is no list")
    func none() {
        func notice(_ change: (inout SocketSnapshot) -> Void) -> String? {
            var model = ExchangeWorld.model(Size(80, 24), "select 10")
            var snapshot = snapshot(change)
            (snapshot.trafficOf, snapshot.traffic) = (ExchangeWorld.socket.id, TrafficSnapshot())
            _ = model.update(.snapshot(snapshot))
            _ = model.update(.command("exchanges"))
            return model.list.found == nil ? model.notice?.text : nil
        }
        #expect(notice { $0.exchanges = nil } == "#10 has no answer times: it is not known who sends requests")
        #expect(notice { $0.exchanges?.overlaps = true } == "#10 has no answer times: its requests overlap")
        #expect(notice { _ in } == "no request of #10 is kept")
    }
}
