import InspectorCore
import SocketKit
import SocketTestSupport
import SocketWorkshop
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("The relay of datagrams", .timeLimit(.minutes(10)))
struct DatagramRelayTests {
    /// A relay, its target, and clients of it.
    private final class World {
        let engine: SocketEngine
        let relay: DatagramRelay
        let server: DatagramSocket
        let served: DatagramRecorder
        let port: UInt16

        let control: FaultControl

        init(_ table: AssociationTable = AssociationTable(), faults: [String] = []) throws {
            var options = FaultOptions()
            (options.rules, options.seed) = (faults, 1)
            control = FaultControl(options)
            #expect(control.begin(with: options) == nil)
            var settings = EngineConfiguration()
            settings.capturesTraffic = true
            engine = SocketEngine(settings)
            // Says back what it hears, with a mark before it.
            served = DatagramRecorder()
            server = DatagramSocket(engine: engine, delegate: served)
            try server.bind(to: .udp(host: "127.0.0.1", port: 0))
            try server.beginReceiving()
            let target = try #require(server.localAddress?.port)
            let request = try RelayRequest.parse("udp://127.0.0.1:0", to: "127.0.0.1:\(target)", TLSChoices())
            relay = DatagramRelay(engine: engine, request: request, table: table, control: control)
            try relay.start()
            let session = relay.session
            port = try #require(engine.snapshot().sockets.first { $0.id == session }?.local?.port)
        }

        func client() throws -> (DatagramSocket, DatagramRecorder) {
            let recorder = DatagramRecorder()
            let socket = DatagramSocket(engine: engine, delegate: recorder)
            try socket.connect(to: .udp(host: "127.0.0.1", port: port))
            try eventuallyReceiving(socket)
            return (socket, recorder)
        }

        private func eventuallyReceiving(_ socket: DatagramSocket) throws {
            try #require(eventually { socket.isConnected })
            try socket.beginReceiving()
        }

        var rows: [SocketSnapshot] { engine.snapshot().sockets.filter { $0.datagrams?.client != nil } }
        var listener: DatagramSnapshot? {
            let session = relay.session
            return engine.snapshot().sockets.first { $0.id == session }?.datagrams
        }
    }

    @Test("rules drop, delay, cut and double datagrams, in the direction that they are for")
    func faults() throws {
        let world = try World(faults: [
            "upstream match drop loss 1", "upstream match twice duplicate 1", "upstream truncate 5",
            "downstream delay 20ms", "connection 2 upstream loss 1", "slice 1",
        ])
        let (first, heard) = try world.client()
        for text in ["drop this", "twice", "cut here"] { first.send(Array(text.utf8)) }
        #expect(eventually { world.served.datagrams.count == 3 })
        #expect(
            world.served.datagrams.map { String(decoding: $0.bytes, as: UTF8.self) } == ["twice", "twice", "cut h"])
        world.server.send([7], to: Endpoint(try #require(world.served.datagrams.first).source))
        #expect(eventually { heard.datagrams.map(\.bytes) == [[7]] })
        let (second, _) = try world.client()
        second.send([1])
        #expect(eventually { world.rows.count == 2 && world.rows.allSatisfy { $0.fault != nil } })
        #expect(
            eventually { world.rows.contains { $0.fault?.rules.contains { $0.number == 5 && $0.count == 1 } == true } })
        #expect(world.served.datagrams.count == 3)
        let rules = world.rows.flatMap { $0.fault?.rules ?? [] }
        #expect(!rules.contains { $0.effect == "slice" } && rules.filter { $0.number == 5 }.count == 1)
        #expect(world.control.clear() == 6)
        second.send([2])
        #expect(eventually { world.served.datagrams.last?.bytes == [2] })
    }

    @Test("a rule that is added concerns the associations that it chooses, also those that exist")
    func added() throws {
        let world = try World()
        let (first, _) = try world.client()
        first.send([1])
        #expect(eventually { world.served.datagrams.count == 1 })
        let (second, _) = try world.client()
        second.send([2])
        #expect(eventually { world.served.datagrams.count == 2 })
        _ = try world.control.add("connection 1 upstream loss 1")
        #expect(eventually { world.rows.count { $0.fault != nil } == 1 })
        first.send([3])
        second.send([4])
        #expect(eventually { world.served.datagrams.last?.bytes == [4] })
        #expect(eventually { world.rows.contains { $0.fault?.droppedBytes == 1 } })
        #expect(world.served.datagrams.map(\.bytes) == [[1], [2], [4]])
    }

    @Test("a datagram that waits for longer than one may be quiet arrives, and is counted where it cannot")
    func delayed() throws {
        let rules = ["upstream match hex:01 delay 300ms", "upstream match hex:02 delay 600s"]
        let world = try World(AssociationTable(limit: 1, patience: .milliseconds(50)), faults: rules)
        let (first, _) = try world.client()
        first.send([1])
        #expect(eventually { world.served.datagrams.map(\.bytes) == [[1]] })
        #expect(eventually { world.rows.map(\.phase) == [.closed] })
        #expect(world.rows.first?.fault?.droppedBytes == 0)
        first.send([2, 3, 4])
        let (second, _) = try world.client()
        #expect(eventually { world.rows.count == 2 })
        second.send([5])
        #expect(eventually { world.rows.contains { $0.phase == .closed && $0.fault?.droppedBytes == 3 } })
        #expect(eventually { world.served.datagrams.map(\.bytes) == [[1], [5]] })
    }

    @Test("each client has an association, and gets the answers to what it sent")
    func passing() throws {
        let world = try World()
        let (first, heardFirst) = try world.client()
        let (second, heardSecond) = try world.client()
        first.send(Array("one".utf8))
        second.send(Array("two".utf8))
        first.send([])
        #expect(eventually { world.served.datagrams.count == 3 })
        #expect(Set(world.served.datagrams.map(\.source)).count == 2)
        for datagram in world.served.datagrams {
            world.server.send([0x21] + datagram.bytes, to: Endpoint(datagram.source))
        }
        #expect(eventually { heardFirst.datagrams.count == 2 && heardSecond.datagrams.count == 1 })
        #expect(Set(heardFirst.datagrams.map(\.bytes)) == [Array("!one".utf8), Array("!".utf8)])
        #expect(heardSecond.datagrams.map(\.bytes) == [Array("!two".utf8)])
        let rows = world.rows
        #expect(rows.count == 2 && rows.allSatisfy { $0.parent == world.relay.session })
        #expect(Set(rows.compactMap { $0.datagrams?.client }) == Set([first, second].compactMap(\.localAddress)))
        #expect(world.listener?.associations?.open == 2)
    }

    @Test("the longest datagram passes whole, both ways")
    func longest() throws {
        let world = try World()
        let (client, heard) = try world.client()
        let bytes = (0..<65_507).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        client.send(bytes)
        #expect(eventually { world.served.datagrams.map(\.bytes) == [bytes] })
        world.server.send(bytes.reversed(), to: Endpoint(world.served.datagrams[0].source))
        #expect(eventually { heard.datagrams.map(\.bytes) == [Array(bytes.reversed())] })
        #expect(world.rows.first?.datagrams?.counters.truncated == 0)
    }

    @Test("what a user sends to the server is marked, and what the client sends is not")
    func injected() throws {
        let world = try World()
        let (client, _) = try world.client()
        client.send([1])
        #expect(eventually { world.rows.count == 1 && world.served.datagrams.count == 1 })
        let row = try #require(world.rows.first?.id)
        world.engine.post(SocketCommand(row, .send(DatagramRequest([2]))))
        #expect(eventually { world.served.datagrams.map(\.bytes) == [[1], [2]] })
        let items = world.engine.snapshot(SnapshotRequest(traffic: row)).traffic?.items ?? []
        #expect(items.map(\.isInjected) == [false, true])
        let events = world.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events
        #expect(events.filter { $0.kind == .injected }.map(\.socket) == [row])
    }

    @Test("a quiet association ends and says why; the next datagram begins another")
    func quiet() throws {
        let world = try World(AssociationTable(patience: .milliseconds(200)))
        let (client, _) = try world.client()
        client.send([1])
        #expect(eventually { world.rows.first?.phase == .closed })
        #expect(world.rows.first?.closed?.error?.reason == .idleTimeout)
        #expect(world.listener?.associations?.expired == 1 && world.listener?.associations?.open == 0)
        client.send([2])
        #expect(eventually { world.served.datagrams.count == 2 && world.rows.count == 2 })
    }

    @Test("one client too many ends the association that was quiet for longest, and is counted")
    func crowded() throws {
        let world = try World(AssociationTable(limit: 4))
        var clients: [DatagramSocket] = []
        for number in 0..<6 as Range<UInt8> {
            clients.append(try world.client().0)
            clients[clients.count - 1].send([number])
            #expect(eventually { world.served.datagrams.count == Int(number) + 1 })
        }
        #expect(eventually { world.listener?.associations?.evicted == 2 })
        #expect(eventually { world.rows.count { $0.phase != .closed } == 4 })
        let ended = world.rows.filter { $0.phase == .closed }.compactMap { $0.datagrams?.client }
        #expect(Set(ended) == Set(clients[..<2].compactMap(\.localAddress)))
    }

    @Test("a target where nobody listens is an error on the row of the client, which goes on")
    func refused() throws {
        let world = try World()
        let (client, _) = try world.client()
        world.server.close()
        client.send([1])
        #expect(eventually { (world.rows.first?.datagrams?.counters.errors ?? 0) > 0 })
        #expect(world.rows.first?.phase == .connected)
    }

    @Test("without its port there are no associations")
    func stopping() throws {
        let world = try World()
        let (client, _) = try world.client()
        client.send([1])
        #expect(eventually { world.rows.count == 1 })
        world.relay.stop()
        #expect(eventually { world.rows.allSatisfy { $0.phase == .closed } })
    }

    @Test(
        "what cannot be relayed is refused with what would be right",
        arguments: [
            ("udp://:0", "udp://", "host:port"), ("udp://239.1.2.3:5", "h:1", "a port of this host"),
            ("udp://:0", "239.1.2.3:5", "as in udp://:5353"),
            (":0", "udp://h:1", "to relay datagrams, listen on udp://"),
            ("udp://:0", "unix:/x", "host:port"), ("udp://:0", "tls://h:1", "host:port"),
        ])
    func refusals(listen: String, target: String, words: String) {
        do throws(EndpointError) {
            _ = try RelayRequest.parse(listen, to: target, TLSChoices())
            Issue.record("it was taken")
        } catch {
            #expect(error.problem.contains(words), "\(error.problem)")
        }
    }
}
