import InspectorCore
import SocketKit
import SocketTestSupport
import SocketWorkshop
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("The relay", .timeLimit(.minutes(10)))
struct RelayTests {
    /// A relay, its target, and a client through it, all on one engine.
    private final class World {
        let engine: SocketEngine
        let target: Reception
        let served = Recorder()
        let relay: Relay
        let client: AsyncSocket
        let told = Recorder()

        init(to endpoint: Endpoint? = nil, proxy: ProxyKind? = nil, capturesTraffic: Bool = false) throws {
            var settings = EngineConfiguration()
            settings.capturesTraffic = capturesTraffic
            engine = SocketEngine(settings)
            var configuration = SocketConfiguration()
            configuration.allowsHalfOpen = true
            target = try Reception(
                engine: engine, accepting: Recorder(onAccept: { [served] in $0.delegate = served }),
                configuration: configuration)
            let there = endpoint ?? .tcp(host: "127.0.0.1", port: target.port)
            relay = Relay(
                engine: engine,
                request: RelayRequest(
                    listen: .tcp(host: "127.0.0.1", port: 0), target: proxy.map { .proxy($0) } ?? .endpoint(there)))
            try relay.start()
            client = AsyncSocket(engine: engine, delegate: told, configuration: configuration)
            let session = relay.session
            let listener = engine.snapshot().sockets.first { $0.id == session }
            try client.connect(toHost: "127.0.0.1", port: try #require(listener?.local?.port))
        }

        var accepted: AsyncSocket? { target.accepting.sockets.first }

        /// The relay's two legs.
        var legs: [SocketSnapshot] {
            engine.snapshot().sockets.filter { $0.linked != nil }
        }
    }

    private static let any = ReadRequest(.available(limit: nil), isStanding: true)

    @Test("bytes pass unaltered both ways, and both legs name each other")
    func passing() throws {
        let world = try World()
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try #require(eventually { world.accepted != nil })
        world.accepted?.read(Self.any)
        world.client.read(Self.any)
        world.client.write(bytes)
        world.accepted?.write(Array(bytes.reversed()))
        #expect(eventually { world.served.received.count == bytes.count && world.told.received.count == bytes.count })
        #expect(world.served.received == bytes)
        #expect(world.told.received == bytes.reversed())
        let legs = world.legs
        try #require(legs.count == 2)
        #expect(legs.map(\.linked) == legs.map(\.id).reversed())
        #expect(legs.map(\.role) == [.accepted, .client])
    }

    private static func readForDelegate(_ socket: AsyncSocket?) { socket?.read(any) }

    @Test("what a user writes into a leg is marked there, in traffic and events, and nothing else is")
    func injected() async throws {
        let world = try World(capturesTraffic: true)
        try #require(await eventually { world.accepted != nil && world.legs.count == 2 })
        for socket in [world.accepted, world.client] { Self.readForDelegate(socket) }
        world.client.write(Array("theirs".utf8))
        #expect(await eventually { world.served.received == Array("theirs".utf8) })
        let (client, server) = (world.legs[0].id, world.legs[1].id)
        world.engine.post(SocketCommand(server, .write(WriteRequest(Array("ours".utf8), tag: 7))))
        #expect(await eventually { world.served.received == Array("theirsours".utf8) })
        let leg = try #require(world.engine.socket(for: client))
        try await leg.inject(WriteRequest(Array("back".utf8), tag: 8))
        #expect(await eventually { world.told.received == Array("back".utf8) })
        func sent(_ id: SocketID) -> [TrafficItem] {
            let snapshot = world.engine.snapshot(SnapshotRequest(traffic: id))
            return (snapshot.traffic?.items ?? []).filter { $0.direction == .sent }
        }
        #expect(sent(server).map(\.bytes) == [Array("theirs".utf8), Array("ours".utf8)])
        #expect(sent(server).map(\.isInjected) == [false, true] && sent(client).map(\.isInjected) == [true])
        let events = world.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.filter { $0.kind == .injected }
        #expect(events.map(\.socket) == [server, client] && events.map(\.tag) == [7, 8])
        #expect(events.map(\.first) == [4, 4])
    }

    @Test("what a leg refuses is not told of as injected")
    func refusedInjection() async throws {
        let world = try World(capturesTraffic: true)
        try #require(await eventually { world.accepted != nil && world.legs.count == 2 })
        let server = world.legs[1].id
        world.engine.post(SocketCommand(server, .halfClose))
        #expect(await eventually { world.legs.last?.isWriteShut == true })
        world.engine.post(SocketCommand(server, .write(WriteRequest([1], tag: 7))))
        let leg = try #require(world.engine.socket(for: server))
        await #expect(throws: SocketError.self) { try await leg.inject(WriteRequest([2], tag: 8)) }
        let events = world.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.filter { $0.socket == server }
        #expect(events.filter { $0.kind == .writeFailed }.map(\.tag) == [7, 8])
        #expect(!events.contains { $0.kind == .injected })
    }

    @Test("what a user writes into a connection of their own is no injection")
    func ownWrites() throws {
        let world = try World(capturesTraffic: true)
        let id = try #require(eventually { world.accepted != nil } ? world.client.session : nil)
        world.engine.post(SocketCommand(id, .write(WriteRequest([1], tag: 1))))
        #expect(eventually { world.engine.snapshot(SnapshotRequest(traffic: id)).traffic?.items.count == 1 })
        let snapshot = world.engine.snapshot(SnapshotRequest(eventsFrom: 0, traffic: id))
        #expect(snapshot.traffic?.items.first?.isInjected == false)
        #expect(!snapshot.events.contains { $0.kind == .injected })
    }

    @Test("each half-close passes by itself")
    func halfCloses() throws {
        let world = try World()
        try #require(eventually { world.accepted != nil })
        world.accepted?.read(Self.any)
        world.client.read(Self.any)
        world.client.write([1])
        world.client.halfClose()
        #expect(eventually { world.served.calls.contains(.closedReadStream) })
        #expect(world.served.received == [1])
        world.accepted?.write([2])
        #expect(eventually { world.told.received == [2] })
        world.accepted?.halfClose()
        #expect(eventually { world.told.isDisconnected && world.served.isDisconnected })
        #expect(world.told.lastError?.reason == .closedByPeer && world.served.lastError?.reason == .closedByPeer)
        #expect(eventually { world.legs.allSatisfy { $0.phase == .closed } })
    }

    @Test("a target that refuses is shown, and is a reset for the client")
    func refused() throws {
        let held = try HeldPort(.v4(host: "127.0.0.1", port: 0))
        let world = try World(to: .tcp(host: "127.0.0.1", port: held.port))
        world.client.read(Self.any)
        #expect(eventually { world.told.isDisconnected })
        #expect(world.told.lastError?.reason == .system(errno: 104))
        let target = world.legs.first { $0.role == .client }
        #expect(target?.closed?.error?.reason == .system(errno: 111))
    }

    @Test("a target that is lost by a reset is a reset for the client, behind the bytes before it")
    func lost() throws {
        let world = try World()
        try #require(eventually { world.accepted != nil })
        world.client.read(Self.any)
        world.accepted?.write([1, 2, 3])
        #expect(eventually { world.told.received == [1, 2, 3] })
        world.accepted?.disconnect(.reset)
        #expect(eventually { world.told.isDisconnected })
        #expect(world.told.lastError?.reason == .system(errno: 104))
    }

    @Test("a reader that stops holds the writer back, and memory stays bounded")
    func backPressure() throws {
        let world = try World()
        try #require(eventually { world.accepted != nil })
        // Nobody reads at the target: kernel buffers fill, then the leg's queue, then the client is held back.
        for _ in 0..<64 { world.client.write([UInt8](repeating: 7, count: 1 << 20)) }
        var queued = 0
        #expect(
            eventually {
                let legs = world.legs
                queued = legs.map(\.writing.pendingBytes).max() ?? 0
                return queued > 0 && legs.contains { $0.isHeldBack && $0.role == .accepted }
            })
        #expect(queued <= Relay.highWatermark + (17 << 16))
        world.accepted?.read(Self.any)
        #expect(eventually { world.served.receivedCount == 64 << 20 })
        #expect(eventually { !world.legs.contains { $0.isHeldBack } })
    }

    @Test("SOCKS 5: the client names the target, and what it sent ahead arrives there")
    func socks() throws {
        let world = try World(proxy: .socks5)
        let port = [UInt8(world.target.port >> 8), UInt8(world.target.port & 0xFF)]
        world.client.read(ReadRequest(.length(12)))
        world.client.read(Self.any)
        world.client.write([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1] + port + [42])
        try #require(eventually { world.accepted != nil })
        world.accepted?.read(Self.any)
        #expect(eventually { world.served.received == [42] })
        world.accepted?.write([43])
        #expect(eventually { world.told.received == [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 43] })
    }

    @Test("a proxy's target that refuses is told in the protocol's words, then the connection ends")
    func proxyRefusals() throws {
        let held = try HeldPort(.v4(host: "127.0.0.1", port: 0))
        let world = try World(proxy: .http)
        world.client.read(ReadRequest(.delimiter([13, 10], limit: 1_000)))
        world.client.read(Self.any)
        world.client.write(Array("CONNECT 127.0.0.1:\(held.port) HTTP/1.1\r\n\r\n".utf8))
        #expect(eventually { world.told.calls.contains(.closedReadStream) })
        #expect(String(decoding: world.told.received, as: UTF8.self).hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
    }
}
