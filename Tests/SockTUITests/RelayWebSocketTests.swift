import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("WebSockets through the relay", .timeLimit(.minutes(10)))
struct RelayWebSocketTests {
    /// A relay that keeps traffic, and its two legs.
    private final class Through {
        let engine: SocketEngine
        let relay: Relay

        init(_ request: RelayRequest) throws {
            var configuration = EngineConfiguration()
            configuration.capturesTraffic = true
            engine = SocketEngine(configuration)
            relay = Relay(engine: engine, request: request)
            try relay.start()
        }

        var port: UInt16 { engine.picture(of: relay.session)?.local?.port ?? 0 }

        private func leg(_ role: SocketRole) -> SocketSnapshot? {
            engine.snapshot().sockets.first { $0.linked != nil && $0.role == role }
        }

        /// The leg that a client came by, and that to the target.
        var accepted: SocketSnapshot? { leg(.accepted) }
        var target: SocketSnapshot? { leg(.client) }

        func traffic(_ leg: SocketSnapshot?) -> [TrafficItem] {
            guard let leg else { return [] }
            return engine.snapshot(SnapshotRequest(traffic: leg.id)).traffic?.items ?? []
        }

        /// What passed on a leg as messages and control frames, in order.
        func seen(_ leg: SocketSnapshot?) -> [String] {
            traffic(leg).compactMap { item in
                item.webSocket.map { "\(item.direction == .sent ? ">" : "<") \($0.kind) \(item.done)" }
            }
        }
    }

    private static let any = ReadRequest(.available(limit: nil), isStanding: true)
    private static let request =
        "GET /room HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

    /// A client and a server that are written by hand, joined through a relay; the handshake is over.
    private struct Line {
        let through: Through
        let client: RawPeer
        let server: RawPeer

        init() throws {
            let listener = try RawListener()
            through = try Through(
                RelayRequest(
                    listen: .tcp(host: "127.0.0.1", port: 0),
                    target: .endpoint(.tcp(host: "127.0.0.1", port: listener.port))))
            client = try RawPeer(port: through.port)
            try client.send(RelayWebSocketTests.request)
            let (server, request) = try listener.acceptWebSocket()
            self.server = server
            #expect(request == RelayWebSocketTests.request)
            #expect(client.receiveHead() == RawListener.answer(to: request))
        }

        /// Bytes of the client arrive as they were sent.
        func up(_ bytes: [UInt8]) throws {
            try client.send(bytes)
            #expect(server.receive(bytes.count) == bytes)
        }

        func down(_ bytes: [UInt8]) throws {
            try server.send(bytes)
            #expect(client.receive(bytes.count) == bytes)
        }
    }

    @Test("a message that a user injects is marked, and those of the two ends are not")
    func injected() throws {
        let line = try Line()
        let through = line.through
        try line.up(RawPeer.masked(1, Array("theirs".utf8)))
        let leg = try #require(through.target?.id)
        let frame = RawPeer.masked(1, Array("ours".utf8))
        through.engine.post(SocketCommand(leg, .write(WriteRequest(frame, tag: 1))))
        #expect(line.server.receive(frame.count) == frame)
        try line.up(RawPeer.masked(1, Array("again".utf8)))
        #expect(eventually { through.seen(through.target).count == 3 })
        let messages = through.traffic(through.target).filter { $0.webSocket != nil }
        #expect(messages.map { String(decoding: $0.bytes, as: UTF8.self) } == ["theirs", "ours", "again"])
        #expect(messages.map(\.isInjected) == [false, true, false])
        line.client.end()
        line.server.end()
    }

    /// The payload of a frame of a client with a short payload, unmasked.
    private static func unmasked(_ frame: [UInt8]) -> [UInt8] {
        frame.dropFirst(6).enumerated().map { $1 ^ frame[2 + $0 % 4] }
    }

    @Test("a message of a user is a frame of its own between the messages of the two, masked as that side must")
    func injectedBetween() throws {
        let line = try Line()
        let through = line.through
        let (target, accepted) = (try #require(through.target?.id), try #require(through.accepted?.id))
        let long = RawPeer.masked(2, [UInt8](repeating: 3, count: 5_000))
        try line.up(Array(long.prefix(1_008)))
        through.engine.post(.webSocket(target, .message(.text("one"))))
        through.engine.post(.webSocket(target, .message(.text("two"))))
        let (part, end) = (RawPeer.masked(1, [0x61], isFinal: false), RawPeer.masked(0, [0x62]))
        try line.client.send(Array(long.dropFirst(1_008)) + part)
        #expect(line.server.receive(long.count - 1_008) == Array(long.dropFirst(1_008)))
        for text in ["one", "two"] {
            let frame = line.server.receive(9)
            #expect(frame.prefix(2) == [0x81, 0x83] && Self.unmasked(frame) == Array(text.utf8))
        }
        #expect(line.server.receive(part.count) == part)
        // Not within a fragmented message either, though a control frame may be.
        through.engine.post(.webSocket(target, .message(.binary([7]))))
        let ping = RawPeer.masked(9, [1])
        try line.client.send(ping + end + ping)
        #expect(line.server.receive(ping.count + end.count) == ping + end)
        let binary = line.server.receive(7)
        #expect(binary.prefix(2) == [0x82, 0x81] && Self.unmasked(binary) == [7])
        #expect(line.server.receive(ping.count) == ping)
        through.engine.post(.webSocket(accepted, .message(.text("back"))))
        let back = RawPeer.frame(1, Array("back".utf8))
        #expect(line.client.receive(back.count) == back)
        #expect(eventually { through.seen(through.target).count == 7 })
        let ours = through.traffic(through.target).filter(\.isInjected)
        #expect(ours.map { String(decoding: $0.bytes, as: UTF8.self) } == ["one", "two", "\u{7}"])
        #expect(through.traffic(through.accepted).filter(\.isInjected).count == 1)
        #expect(through.target?.webSocket?.observation?.sentFailure == nil)
        line.client.end()
        line.server.end()
    }

    @Test("what waits when a Close goes out never goes out, and an event says so", arguments: [false, true])
    func injectedTooLate(isReset: Bool) throws {
        let line = try Line()
        let through = line.through
        let target = try #require(through.target?.id)
        try line.up(RawPeer.masked(1, [0x61], isFinal: false))
        through.engine.post(.webSocket(target, .message(.text("late"))))
        if isReset {
            line.client.end(reset: true)
        } else {
            let close = RawPeer.masked(8, [0x03, 0xE8])
            try line.up(close)
            through.engine.post(.webSocket(target, .message(.text("later"))))
            line.client.end()
            #expect(line.server.receiveAll().isEmpty)
        }
        #expect(
            eventually {
                let events = through.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events
                let failed = events.count { $0.socket == target && $0.kind == .writeFailed }
                return failed == (isReset ? 1 : 2) && !events.contains { $0.kind == .injected }
            })
        line.server.end()
    }

    @Test("what passes is seen on both legs, and passes as it was")
    func passing() throws {
        let line = try Line()
        try line.up(RawPeer.masked(1, Array("hel".utf8), isFinal: false) + RawPeer.masked(9, [1]))
        try line.up(RawPeer.masked(0, Array("lo".utf8)))
        try line.down(RawPeer.frame(10, [1]) + RawPeer.frame(2, [UInt8](repeating: 7, count: 60_000)))
        let through = line.through
        #expect(eventually { through.seen(through.accepted).count == 4 && through.seen(through.target).count == 4 })
        #expect(through.seen(through.accepted) == ["< ping 1", "< text 5", "> pong 1", "> binary 60000"])
        #expect(through.seen(through.target) == ["> ping 1", "> text 5", "< pong 1", "< binary 60000"])
        let pong = through.traffic(through.target).first { $0.webSocket?.kind == .pong }
        #expect(pong?.webSocket?.roundTrip != nil)
        for (leg, role) in [(through.accepted, WebSocketRole.server), (through.target, .client)] {
            let picture = try #require(leg?.webSocket)
            #expect(picture.role == role && picture.stage == .open && picture.target == "/room")
            #expect(picture.observation != nil && picture.problem == nil && picture.response != nil)
            let heads = through.traffic(leg).filter { $0.webSocket == nil }
            #expect(heads.count == 2 && heads.allSatisfy { $0.bytes.suffix(4) == [13, 10, 13, 10] })
        }
        try line.up(RawPeer.masked(8, [0x03, 0xE8]))
        try line.down(RawPeer.frame(8, [0x03, 0xE8]))
        line.server.end()
        #expect(line.client.receiveAll().isEmpty)
        line.client.end()
        #expect(eventually { through.accepted?.phase == .closed && through.target?.phase == .closed })
        let reports = [through.accepted, through.target].compactMap { $0?.webSocket?.report }
        #expect(reports.map(\.wasClean) == [true, true] && reports.map(\.origin) == [.peer, .local])
        #expect(through.target?.ending == "the client closed with 1000 normal")
        #expect(through.accepted?.ending == "the client closed with 1000 normal")
    }

    @Test("a frame that is half there is seen to be so on both legs")
    func halfAFrame() throws {
        let line = try Line()
        let frame = RawPeer.masked(2, [UInt8](repeating: 3, count: 50_000))
        try line.up(Array(frame.prefix(1_008)))
        let through = line.through
        #expect(
            eventually {
                through.accepted?.webSocket?.traffic?.awaiting == .payload(.binary, done: 1_000, total: 50_000)
            })
        #expect(eventually { through.target?.webSocket?.traffic?.sending?.done == 1_008 })
        #expect(through.target?.webSocket?.traffic?.sending?.total == 50_008)
        #expect(through.target?.webSocket?.observation?.sending?.bytes == 1_000)
        try line.up(Array(frame.dropFirst(1_008)))
        #expect(eventually { through.seen(through.target) == ["> binary 50000"] })
        line.client.end(reset: true)
        #expect(eventually { through.target?.webSocket?.report != nil && through.accepted?.webSocket?.report != nil })
        #expect(through.accepted?.webSocket?.report?.failure == .endedWithoutClose)
        #expect(through.target?.webSocket?.report?.origin == .local)
    }

    @Test("a breach is shown, and the relay goes on")
    func breach() throws {
        let line = try Line()
        try line.up(RawPeer.frame(1, Array("bare".utf8)))
        try line.up(Array("whatever".utf8))
        try line.down(RawPeer.frame(8, [0x03, 0xEA]))
        let through = line.through
        #expect(eventually { through.seen(through.target).contains("< close 2") })
        #expect(eventually { through.seen(through.accepted).contains("> close 2") })
        for leg in [through.accepted, through.target] {
            let items = through.traffic(leg).filter { $0.webSocket?.kind == .undecoded }
            #expect(items.compactMap { $0.webSocket?.problem } == ["a client's frame must be masked"])
            #expect(items.flatMap(\.bytes).suffix(8) == Array("whatever".utf8)[...])
        }
        #expect(through.accepted?.webSocket?.observation?.receivedFailure == .unmaskedFrame)
        #expect(through.target?.webSocket?.observation?.sentFailure == .unmaskedFrame)
    }

    @Test("of thousands at once the last are kept, and all are counted")
    func many() throws {
        let line = try Line()
        try line.up((0..<3_000).flatMap { RawPeer.masked(1, Array("\($0)".utf8)) })
        let through = line.through
        #expect(eventually { through.target?.webSocket?.traffic?.sent.messages == 3_000 })
        for leg in [through.accepted, through.target] {
            let id = try #require(leg?.id)
            let traffic = try #require(through.engine.snapshot(SnapshotRequest(traffic: id)).traffic)
            #expect(traffic.items.last?.bytes == Array("2999".utf8))
            #expect(traffic.items.count + Int(traffic.dropped) == 3_002, "two heads are among them")
        }
    }

    @Test("what a person adds on one leg is seen there, and the other leg is read as before")
    func byHand() throws {
        let line = try Line()
        try line.up(RawPeer.masked(1, [0x61]))
        let through = line.through
        let target = try #require(through.target?.id)
        through.engine.post(.write(target, WriteRequest(Array("by hand".utf8))))
        #expect(line.server.receive(7) == Array("by hand".utf8))
        #expect(eventually { through.target?.webSocket?.observation?.sentFailure == .reservedBits(6) })
        try line.up(RawPeer.masked(1, [0x62]))
        #expect(eventually { through.seen(through.accepted) == ["< text 1", "< text 1"] })
        #expect(through.accepted?.webSocket?.observation?.receivedFailure == nil)
        let shown = through.traffic(through.target).filter { $0.webSocket?.kind == .undecoded }.flatMap(\.bytes)
        #expect(shown == Array("by hand".utf8) + RawPeer.masked(1, [0x62]))
    }

    @Test("a refusal is told with its reason, and what is no upgrade is bytes as ever")
    func refused() throws {
        for (request, answer) in [
            (Self.request, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
            ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
        ] {
            let listener = try RawListener()
            let through = try Through(
                RelayRequest(
                    listen: .tcp(host: "127.0.0.1", port: 0),
                    target: .endpoint(.tcp(host: "127.0.0.1", port: listener.port))))
            let client = try RawPeer(port: through.port)
            try client.send(request)
            let server = try listener.accept()
            #expect(server.receiveHead() == request)
            try server.send(answer)
            #expect(client.receive(answer.utf8.count) == Array(answer.utf8))
            let isUpgrade = request == Self.request
            for role in [SocketRole.accepted, .client] {
                let leg = { role == .accepted ? through.accepted : through.target }
                #expect(eventually { through.traffic(leg()).map(\.done).reduce(0, +) == (request + answer).utf8.count })
                #expect(through.traffic(leg()).allSatisfy { $0.webSocket == nil })
                #expect(leg()?.webSocket?.stage == (isUpgrade ? .refused : nil))
                #expect(leg()?.webSocket?.problem == (isUpgrade ? "the server answered HTTP/1.1 403 Forbidden" : nil))
            }
            client.end()
            server.end()
        }
    }

    @Test("behind the handshake of a proxy, with what came ahead of its answer")
    func proxies() throws {
        for isSOCKS in [true, false] {
            let listener = try RawListener()
            let proxy = RelayRequest.Target.proxy(isSOCKS ? .socks5 : .http)
            let through = try Through(RelayRequest(listen: .tcp(host: "127.0.0.1", port: 0), target: proxy))
            let client = try RawPeer(port: through.port)
            let port = [UInt8(listener.port >> 8), UInt8(listener.port & 0xFF)]
            let connect = Array("CONNECT 127.0.0.1:\(listener.port) HTTP/1.1\r\n\r\n".utf8)
            let ask = isSOCKS ? [5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1] + port : connect
            try client.send(ask + Array(Self.request.utf8))
            let (server, request) = try listener.acceptWebSocket()
            #expect(request == Self.request)
            if isSOCKS { #expect(client.receive(12).count == 12) } else { _ = client.receiveHead() }
            #expect(client.receiveHead() == RawListener.answer(to: request))
            try client.send(RawPeer.masked(1, [0x61]))
            #expect(server.receive(7).count == 7)
            try server.send(RawPeer.frame(1, [0x62]))
            #expect(client.receive(3).count == 3)
            #expect(eventually { through.seen(through.accepted) == ["< text 1", "> text 1"] })
            #expect(eventually { through.seen(through.target) == ["> text 1", "< text 1"] })
        }
    }

    /// A WebSocket of each end, on an engine of their own, through a relay.
    private struct World {
        let through: Through
        let listener: WebSocketListener
        let accepting = WebSocketRecorder()
        let clientSide = WebSocketRecorder()
        let client: WebSocket
        private let folder: TemporaryFolder?

        /// `tls`: on both sides of the relay.
        init(tls: Bool = false, unix: TemporaryFolder? = nil, compression: Bool = true) throws {
            folder = unix
            let engine = SocketEngine()
            var serving = WebSocketConfiguration()
            serving.subprotocols = ["chat"]
            listener = WebSocketListener(engine: engine, delegate: accepting, configuration: serving)
            let place = unix.map { Endpoint.unix(path: $0.path + "/target") } ?? .tcp(host: "127.0.0.1", port: 0)
            try listener.listen(on: place, tls: tls ? .testServer() : nil)
            let port = listener.localAddress?.port ?? 0
            let target = unix == nil ? (tls ? "tls://localhost:\(port)" : "127.0.0.1:\(port)") : "\(place)"
            let front = unix.map { "unix:\($0.path)/front" } ?? (tls ? "tls://127.0.0.1:0" : "127.0.0.1:0")
            var choices = TLSChoices()
            if tls {
                choices.certificate = Certificates.path("server.pem")
                choices.authority = Certificates.path("ca.crt")
            }
            through = try Through(RelayRequest.parse(front, to: target, choices))
            var configuration = WebSocketConfiguration()
            configuration.tls = tls ? .testClient(nil) : nil
            configuration.opening.subprotocols = ["chat"]
            if !compression { configuration.compression = nil }
            client = WebSocket(engine: engine, delegate: clientSide, configuration: configuration)
            if let unix {
                try client.connect(to: "ws+unix:\(unix.path)/front:/room")
            } else {
                try client.connect(to: "\(tls ? "wss" : "ws")://localhost:\(through.port)/room")
            }
        }
    }

    @Test("through TLS on both sides, what passes in clear is seen", .enabled(if: Certificates.problem == nil))
    func secured() throws {
        try talk(World(tls: true))
    }

    @Test("through Unix-domain sockets on both sides")
    func unix() throws { try talk(World(unix: TemporaryFolder())) }
    @Test("without compression")
    func plain() throws { try talk(World(compression: false)) }

    /// A message each way, a ping, and a close by the client.
    private func talk(_ world: World) throws {
        try #require(eventually { world.accepting.webSockets.count == 1 && world.client.readyState == .open })
        let text = String(repeating: "all work and no play ", count: 200)
        world.client.write(text)
        world.client.writePing([1, 2])
        #expect(eventually { world.accepting.messages == [.text(text)] })
        world.accepting.webSockets[0].write(.binary([1, 2, 3]))
        #expect(eventually { world.clientSide.messages == [.binary([1, 2, 3])] })
        world.client.close(.goingAway, reason: "done")
        let through = world.through
        #expect(eventually { through.accepted?.webSocket?.report != nil && through.target?.webSocket?.report != nil })
        let isCompressed = world.client.agreement?.extensions.isEmpty == false
        for leg in [through.accepted, through.target] {
            let picture = try #require(leg?.webSocket)
            #expect(picture.subprotocol == "chat" && picture.extensions.isEmpty == !isCompressed)
            #expect(picture.report?.wasClean == true && picture.problem == nil && picture.traffic?.failure == nil)
            let items = through.traffic(leg)
            let message = try #require(items.first { $0.webSocket?.kind == .text })
            #expect(message.bytes == Array(text.utf8) && message.webSocket?.isCompressed == isCompressed)
            #expect(items.first { $0.webSocket?.kind == .binary }?.bytes == [1, 2, 3])
            #expect(items.filter { $0.webSocket?.kind == .ping }.map(\.bytes) == [[1, 2]])
            #expect(items.filter { $0.webSocket?.kind == .close }.count == 2)
            #expect(items.filter { $0.webSocket == nil }.count == 2, "the two heads")
        }
        #expect(through.target?.webSocket?.report?.sent == WebSocketCloseFrame(code: .goingAway, reason: "done"))
    }
}
