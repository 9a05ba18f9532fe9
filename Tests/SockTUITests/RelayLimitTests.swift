import InspectorCore
import SocketKit
import SocketTestSupport
import SocketWorkshop
import Testing

@testable import InspectorShell
@testable import SockTUI

/// What a client of the relay cannot do to it, or to others.
@Suite("The relay's limits", .timeLimit(.minutes(10)))
struct RelayLimitTests {
    private static func relay(
        _ target: RelayRequest.Target, patience: Duration = .seconds(30)
    ) throws -> (relay: Relay, engine: SocketEngine, port: UInt16) {
        let engine = SocketEngine()
        let relay = Relay(
            engine: engine, request: RelayRequest(listen: .tcp(host: "127.0.0.1", port: 0), target: target),
            patience: patience)
        try relay.start()
        return (relay, engine, engine.picture(of: relay.session)?.local?.port ?? 0)
    }

    @Test("a proxy's client that goes on saying a little is given up like a silent one", arguments: ProxyKind.allCases)
    func dribbling(_ kind: ProxyKind) throws {
        let (relay, _, port) = try Self.relay(.proxy(kind), patience: .milliseconds(300))
        let silent = try RawPeer(port: port)
        let dribbler = try RawPeer(port: port)
        try dribbler.send(kind == .http ? Array("CONNECT ".utf8) : [5, 255])
        // Each byte comes well before the time of one read alone would be over.
        var last = ContinuousClock.now
        #expect(
            eventually {
                guard last.duration(to: .now) > .milliseconds(50) else { return false }
                last = .now
                return (try? dribbler.send([0x61])) == nil || dribbler.peek() == 0
            })
        #expect(eventually { silent.peek() == 0 })
        withExtendedLifetime(relay) {}
    }

    /// A message of a client that inflates to so many zeros, as a frame that builds on nothing before it.
    private static func bomb(_ count: Int, _ parameters: PerMessageDeflateParameters) throws -> [UInt8] {
        var machine = WebSocketMachine(
            role: .client, deflate: parameters, settings: WebSocketSettings(compressionThreshold: 0), now: .zero)
        var events: [WebSocketEvent] = []
        try machine.send(.binary, [UInt8](repeating: 0, count: count))
        var frame: [UInt8] = []
        while case let bytes = machine.takeOutgoing(
            most: 1 << 20, now: .zero, maskKey: { 0x0102_0304 }, into: &events), !bytes.isEmpty
        {
            frame += bytes
            machine.didWrite(bytes.count, now: .zero, into: &events)
        }
        return frame
    }

    @Test("messages that inflate a thousandfold cost no turn more than its share, pass, and are counted")
    func bombs() throws {
        let parameters = PerMessageDeflateParameters(clientNoContextTakeover: true)
        let listener = try RawListener()
        let (relay, engine, port) = try Self.relay(.endpoint(.tcp(host: "127.0.0.1", port: listener.port)))
        let terms = "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover\r\n"
        let head =
            "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\(terms)\r\n"
        // Each read of 64 KiB would inflate to 60 MB.
        let flood = try (0..<60).flatMap { _ in try Self.bomb(1_000_000, parameters) }
        var pairs: [(RawPeer, RawPeer)] = []
        for _ in 0..<3 {
            let client = try RawPeer(port: port)
            try client.send(head)
            let server = try listener.acceptWebSocket(adding: terms).peer
            _ = client.receiveHead()
            pairs.append((client, server))
        }
        for (client, _) in pairs { try client.send(flood) }
        for (_, server) in pairs { #expect(server.receive(flood.count) == flood) }
        // A frame more may tell that there is more.
        let most = engine.inflation.mostInTurn
        #expect(most > 500_000 && most <= (4 << 20) + 100)
        let legs = engine.snapshot().sockets.filter { $0.linked != nil }
        #expect(legs.count == 6)
        for leg in legs {
            let facts = try #require(leg.webSocket)
            let observed = try #require(facts.observation)
            let messages = leg.role == .accepted ? facts.traffic?.received.messages : facts.traffic?.sent.messages
            #expect(messages == 60 && observed.receivedFailure == nil && observed.sentFailure == nil)
            #expect(observed.receivedSkipped + observed.sentSkipped > 40)
        }
        withExtendedLifetime(relay) {}
    }
}
