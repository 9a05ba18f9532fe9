import InspectorScreen
import InspectorCore
import SocketCore
import Testing

@Suite("Datagrams on the screen")
struct DatagramViewTests {
    private let id = SocketID(1)
    private let first = SocketAddress.v4(host: "127.0.0.1", port: 40_001)

    private var socket: SocketSnapshot {
        var socket = World.make(1, .datagram, .open, target: "udp://:5000")
        socket.local = .v4(host: "0.0.0.0", port: 5_000)
        socket.descriptor = 9
        socket.reading.current = OperationSnapshot(
            id: OperationID(0), kind: .read(.available(limit: nil)), isStanding: true, started: World.at(14, 2, 1))
        socket.received = 76_800
        socket.sent = 12
        var facts = DatagramSnapshot(mode: .continuous)
        facts.flags = [.didCreateSockets, .didBind, .receiveContinuous]
        facts.locals = [.v4(host: "0.0.0.0", port: 5_000), .v6(host: "::", port: 5_000)]
        facts.groups = ["239.1.2.3 on lo"]
        facts.counters.received = 1_200
        facts.counters.sent = 3
        facts.counters.truncated = 2
        facts.counters.failed = 1
        facts.kernelDrops = 56
        var peer = DatagramPeer(address: first, lastActivity: World.at(14, 2, 10))
        (peer.packetsReceived, peer.received) = (1_199, 76_736)
        facts.peers = [peer]
        facts.peerCount = 20
        facts.peersForgotten = 4
        socket.datagrams = facts
        socket.kernel = KernelSnapshot()
        socket.kernel?.receiveQueue = 0
        socket.kernel?.drops = 56
        return socket
    }

    private func model(_ socket: SocketSnapshot) -> Model {
        var model = Model(options: .init(ascii: true, version: "0.1"))
        _ = model.update(.resized(Size(100, 30)))
        let target = OpenTarget.datagrams(.udp(host: "", port: 5_000))
        _ = model.update(.opened(id, OpenRequest(target)))
        var snapshot = World.snapshot([socket])
        snapshot.trafficOf = id
        snapshot.traffic = TrafficSnapshot(items: [
            item(0, .received, "hello", of: 5, first), item(1, .received, "cut", of: 900, first),
            item(2, .sent, "world", of: 5, first),
        ])
        _ = model.update(.snapshot(snapshot))
        return model
    }

    private func item(
        _ sequence: UInt64, _ direction: TrafficItem.Direction, _ text: String, of total: Int, _ address: SocketAddress
    ) -> TrafficItem {
        TrafficItem(
            sequence: sequence, operation: OperationID(sequence + 1), time: World.at(14, 2, 5), direction: direction,
            tag: 0, kind: direction == .sent ? .write : .read(.available(limit: nil)), done: text.utf8.count,
            total: total, state: .complete(after: .zero), bytes: Array(text.utf8), address: address)
    }

    private func text(_ model: Model) -> String { draw(model, Size(100, 30)).text }

    @Test("Each datagram is shown with who sent it and how long it was")
    func traffic() {
        let text = text(model(socket))
        #expect(text.contains("5 B from 127.0.0.1:40001"))
        #expect(text.contains("900 B from 127.0.0.1:40001, cut to 3 B"))
        #expect(text.contains("5 B to 127.0.0.1:40001"))
        #expect(text.contains("hello") && text.contains("RECV") && text.contains("56 lost"))
    }

    @Test("A line is one datagram to the first who spoke, until another is chosen")
    func composing() {
        var model = model(socket)
        #expect(text(model).contains("to 127.0.0.1:40001 (Alt-d)"))
        model.type("hi")
        let answer = DatagramRequest(Array("hi".utf8), to: .udp(host: "127.0.0.1", port: 40_001), tag: 1)
        #expect(model.press(.enter) == [.send(.send(id, answer))])
        model.press(.alt("d"))
        for _ in 0..<40 { model.press(.backspace) }
        model.type("nonsense")
        #expect(model.press(.enter).isEmpty)
        #expect(text(model).contains("nonsense:"))
        for _ in 0..<8 { model.press(.backspace) }
        model.type("[::1]:9")
        #expect(model.press(.enter).isEmpty)
        model.type("there")
        let other = DatagramRequest(Array("there".utf8), to: .udp(host: "::1", port: 9), tag: 2)
        #expect(model.press(.enter) == [.send(.send(id, other))])
        model.press(.control("d"))
        #expect(model.notice?.text.contains("no FIN") == true)
    }

    @Test("Without anybody to send to, it says how to choose one; a connected socket sends to its peer")
    func destinations() {
        var lonely = socket
        lonely.datagrams?.peers = []
        var model = model(lonely)
        model.type("x")
        #expect(model.press(.enter).isEmpty)
        #expect(model.notice?.text.contains("Alt-d") == true)
        var connected = socket
        connected.phase = .connected
        connected.peer = first
        model = self.model(connected)
        model.type("x")
        #expect(model.press(.enter) == [.send(.send(id, DatagramRequest([120], tag: 1)))])
    }

    @Test("A group that was opened is spoken to")
    func groups() {
        var member = socket
        member.target = "udp://239.1.2.3:5000?interface=lo"
        var model = model(member)
        model.type("x")
        let request = DatagramRequest([120], to: .udp(host: "239.1.2.3", port: 5_000), tag: 1)
        #expect(model.press(.enter) == [.send(.send(id, request))])
    }

    @Test("The detail tells what became of datagrams, the list what was lost")
    func detailAndList() {
        var model = model(socket)
        model.press(.escape, .character("3"))
        let detail = text(model)
        for part in [
            "received 1200", "56 dropped by the kernel", "2 cut off", "1 not sent", "group 239.1.2.3 on lo",
            "127.0.0.1:40001", "in 1199", "19 more peers, 4 forgotten", "ReceiveContinuous", "UNCONN", "[::]:5000",
        ] {
            #expect(detail.contains(part), "\(part)\n\(detail)")
        }
        model.press(.character("1"))
        let list = text(model)
        #expect(list.contains("1200 in, 56 lost") && list.contains("3 out"), "\(list)")
        for width in [60, 80, 140] {
            _ = model.update(.resized(Size(width, 24)))
            #expect(draw(model, Size(width, 24)).text.contains("56 lost"), "\(width) columns")
        }
    }

    @Test("r asks for one datagram or for all")
    func receiving() {
        var model = model(socket)
        model.press(.escape, .character("r"), .enter)
        model.press(.character("r"), .character(" "))
        let effects = model.press(.enter)
        #expect(effects == [.send(.read(id, ReadRequest(.available(limit: nil), tag: 2)))])
    }

    @Test("Numbers of datagrams stay short")
    func numbers() {
        #expect(Format.number(999_999) == "999999" && Format.number(1_000_000) == "1.0M")
        #expect(Format.number(1_250_000_000) == "1G" && Format.number(0) == "0")
    }
}
