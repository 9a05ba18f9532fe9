import InspectorCore
import SocketCore
import Testing

@Suite("Rates and payload in JSON")
struct PayloadLinesTests {
    private func snapshot(
        _ milliseconds: Int64, _ change: (inout SocketSnapshot) -> Void = { _ in }
    ) -> EngineSnapshot {
        let time = MonotonicTime(nanoseconds: milliseconds * 1_000_000)
        var snapshot = EngineSnapshot(engine: "e", time: time, wallNanoseconds: milliseconds * 1_000_000)
        var socket = SocketSnapshot(
            id: SocketID(1), role: .client, phase: .connecting, target: "h:1", opened: time)
        socket.opened = .zero
        change(&socket)
        snapshot.sockets = [socket]
        return snapshot
    }

    private func sockets(_ lines: [String]) -> Int { lines.count { $0.contains(#""type":"socket""#) } }

    @Test("a rate alone makes no line")
    func rates() {
        var lines = JSONLines(program: "p", naming: .standard)
        #expect(sockets(lines.absorb(snapshot(0))) == 1)
        let still = [
            snapshot(100) { $0.receiveRate = 5 }, snapshot(200) { $0.sendRate = 4 },
            snapshot(300) { $0.activity.operationRate = 3 }, snapshot(400) { $0.activity.queueRate = 2 },
        ]
        for snapshot in still { #expect(sockets(lines.absorb(snapshot)) == 0) }
        let news = lines.absorb(snapshot(500) { ($0.received, $0.receiveRate) = (1, 7) })
        #expect(sockets(news) == 1 && news.contains { $0.contains(#""received_bytes_per_s":7,"#) })
    }

    @Test("with a time between them, rates make lines, at most that often, and the last one too")
    func every() {
        var lines = JSONLines(program: "p", naming: .standard, every: .milliseconds(50))
        #expect(sockets(lines.absorb(snapshot(0))) == 1)
        #expect(sockets(lines.absorb(snapshot(10) { $0.receiveRate = 5 })) == 0)
        #expect(sockets(lines.absorb(snapshot(50) { $0.receiveRate = 5 })) == 1)
        #expect(sockets(lines.absorb(snapshot(120) { $0.receiveRate = 5 })) == 0)
        #expect(sockets(lines.absorb(snapshot(130) { $0.received = 1 })) == 1, "anything else does not wait")
        #expect(sockets(lines.absorb(snapshot(140) { ($0.received, $0.receiveRate) = (1, 4) })) == 0)
        #expect(sockets(lines.absorb(snapshot(150) { ($0.received, $0.receiveRate) = (1, 0) })) == 0)
        #expect(sockets(lines.absorb(snapshot(190) { ($0.received, $0.receiveRate) = (1, 0) })) == 1)
        #expect(sockets(lines.absorb(snapshot(290) { ($0.received, $0.receiveRate) = (1, 0) })) == 0)
    }

    private func item(
        _ sequence: UInt64, _ bytes: [UInt8], _ state: TrafficItem.State = .complete(after: .zero)
    ) -> TrafficItem {
        TrafficItem(
            sequence: sequence, operation: OperationID(9), time: .zero, direction: .received, tag: 3,
            kind: .read(.available(limit: nil)), done: bytes.count, total: nil, state: state, bytes: bytes)
    }

    @Test("what passed is asked for when bytes passed, and when the session ends")
    func due() {
        var lines = JSONLines(program: "p", naming: .standard, payload: 100)
        #expect(lines.dueTraffic(snapshot(0)).isEmpty)
        #expect(lines.dueTraffic(snapshot(1) { $0.sent = 1 }) == [SocketID(1)])
        #expect(lines.dueTraffic(snapshot(2) { $0.sent = 1 }).isEmpty)
        #expect(lines.dueTraffic(snapshot(3) { ($0.sent, $0.phase) = (1, .closed) }) == [SocketID(1)])
        var none = JSONLines(program: "p", naming: .standard)
        #expect(none.dueTraffic(snapshot(1) { $0.sent = 1 }).isEmpty)
    }

    @Test("each operation has one line, once it is over; what was dropped is counted")
    func items() {
        var lines = JSONLines(program: "p", naming: .standard, payload: 100)
        let id = SocketID(1)
        let first = lines.absorb(
            TrafficSnapshot(items: [item(0, [0x61]), item(1, [0x62], .inProgress), item(2, [0x63])]), of: id)
        #expect(first.count == 2 && first[0].contains(#""sequence":0,"lost_items":0"#))
        #expect(first[1].contains(#""sequence":2,"lost_items":0"#) && first[1].contains(#""base64":"Yw==""#))
        let second = lines.absorb(TrafficSnapshot(items: [item(1, [0x62, 0x62], .failed("cut off"))]), of: id)
        #expect(second.count == 1 && second[0].contains(#""text":"bb","base64":"YmI=","problem":"cut off""#))
        let third = lines.absorb(TrafficSnapshot(items: [item(5, [0x64])], dropped: 5), of: id)
        #expect(third.count == 1 && third[0].contains(#""sequence":5,"lost_items":2"#))
    }

    @Test(
        "text is UTF-8 or null; a character that the limit cuts is left out",
        arguments: [
            (Array("añb".utf8), 100, #""bytes":4,"payload_bytes":4,"text":"añb","#),
            (Array("añb".utf8), 2, #""bytes":4,"payload_bytes":2,"text":"a","#),
            ([0x61, 0xFF], 100, #""text":null,"base64":"Yf8=""#), ([0x61, 0xC3], 100, #""text":null,"#),
            ([0x1B, 0x5B], 1, #""bytes":2,"payload_bytes":1,"text":"\u001b","base64":"Gw==""#),
        ])
    func texts(bytes: [UInt8], limit: Int, words: String) {
        var lines = JSONLines(program: "p", naming: .standard, payload: limit)
        let made = lines.absorb(TrafficSnapshot(items: [item(0, bytes)]), of: SocketID(1))
        #expect(made.count == 1 && made[0].contains(words), "\(made)")
    }
}
