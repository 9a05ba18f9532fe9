import Glibc
import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite(
    "The relay with TLS", .enabled(if: Certificates.problem == nil, "no certificates: is openssl there?"),
    .timeLimit(.minutes(10)))
struct RelayTLSTests {
    /// Which of a relay's sides have TLS.
    enum Sides: String, CaseIterable { case listener, target, both }

    /// A relay, its target, and a client through it, all on one engine.
    private final class World {
        let engine = SocketEngine()
        let served = Recorder()
        let accepting: Recorder
        let relay: Relay
        let client: AsyncSocket
        let told = Recorder()
        private let target: SocketListener

        init(
            _ sides: Sides, choices: TLSChoices = World.choices(), server: TLSSettings = .testServer(),
            trust: TLSSettings = .testClient(nil)
        ) throws {
            var configuration = SocketConfiguration()
            configuration.allowsHalfOpen = true
            accepting = Recorder(onAccept: { [served] in $0.delegate = served })
            target = SocketListener(engine: engine, delegate: accepting, configuration: configuration)
            try target.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: sides == .listener ? nil : server)
            let port = target.localAddress?.port ?? 0
            relay = Relay(
                engine: engine,
                request: try RelayRequest.parse(
                    (sides == .target ? "" : "tls://") + "127.0.0.1:0",
                    to: (sides == .listener ? "" : "tls://") + "127.0.0.1:\(port)", choices))
            try relay.start()
            client = AsyncSocket(engine: engine, delegate: told, configuration: configuration)
            let listener = engine.picture(of: relay.session)
            let here = Endpoint.tcp(host: "127.0.0.1", port: try #require(listener?.local?.port))
            if sides == .target {
                try client.connect(to: here)
            } else {
                try client.connect(to: here, tls: trust)
            }
        }

        static func choices(_ change: (inout TLSChoices) -> Void = { _ in }) -> TLSChoices {
            var choices = TLSChoices()
            choices.certificate = Certificates.path("server.pem")
            choices.authority = Certificates.path("ca.crt")
            change(&choices)
            return choices
        }

        var accepted: AsyncSocket? { accepting.sockets.first }

        /// What became of the leg to the target.
        var targetEnd: CloseRecord? {
            engine.snapshot().sockets.first { $0.role == .client && $0.linked != nil }?.closed
        }

        /// Bytes pass both ways.
        func talk() throws {
            try #require(eventually { accepted != nil })
            accepted?.read(RelayTLSTests.any)
            client.read(RelayTLSTests.any)
            client.write(Array("there".utf8))
            accepted?.write(Array("back".utf8))
            #expect(eventually { served.received == Array("there".utf8) && told.received == Array("back".utf8) })
        }
    }

    private static let any = ReadRequest(.available(limit: nil), isStanding: true)

    private static func choices(_ sides: Sides) -> TLSChoices {
        World.choices {
            // Where only one side has TLS, all that is said is about that one.
            if sides == .listener { $0.authority = "" }
            if sides == .target { $0.certificate = "" }
        }
    }

    @Test("bytes pass both ways, and each half-close by itself", arguments: Sides.allCases)
    func passing(_ sides: Sides) throws {
        let world = try World(sides, choices: Self.choices(sides))
        try world.talk()
        #expect(world.accepted?.isSecure == (sides != .listener) && world.client.isSecure == (sides != .target))
        world.client.halfClose()
        #expect(eventually { world.served.calls.contains(.closedReadStream) })
        world.accepted?.write(Array(", later".utf8))
        #expect(eventually { world.told.received == Array("back, later".utf8) })
        world.accepted?.halfClose()
        #expect(eventually { world.told.isDisconnected && world.served.isDisconnected })
        #expect(world.told.lastError?.reason == .closedByPeer && world.served.lastError?.reason == .closedByPeer)
        #expect(eventually { world.targetEnd != nil })
    }

    @Test("a target whose stream is cut off without close_notify is cut off for the client, without TLS a reset")
    func truncated() throws {
        for sides in [Sides.target, .both] {
            let world = try World(sides, choices: Self.choices(sides))
            try world.talk()
            _ = world.accepted?.withDescriptor { shutdown($0, Int32(SHUT_WR)) }
            #expect(eventually { world.told.isDisconnected })
            #expect(
                world.told.lastError?.reason == (sides == .both ? .tls(.closedAbort) : .system(errno: ECONNRESET)))
            #expect(eventually { world.targetEnd?.error?.reason == .tls(.closedAbort) })
        }
    }

    @Test("a client whose stream is cut off is a reset for the target")
    func truncatedClient() throws {
        let world = try World(.listener, choices: Self.choices(.listener))
        try world.talk()
        _ = world.client.withDescriptor { shutdown($0, Int32(SHUT_WR)) }
        #expect(eventually { world.served.isDisconnected })
        #expect(world.served.lastError?.reason == .system(errno: ECONNRESET))
    }

    @Test("a target's alert after its handshake is a reset for the client, with TLS a stream that is cut off")
    func alert() throws {
        for sides in [Sides.target, .both] { try alert(sides) }
    }

    private func alert(_ sides: Sides) throws {
        let world = try World(
            sides, choices: Self.choices(sides),
            server: .testServer().with {
                $0.trust = .file(Certificates.path("ca.crt"))
                $0.clientCertificate = .required
            })
        world.client.read(Self.any)
        #expect(eventually { world.told.isDisconnected })
        #expect(world.told.lastError?.reason == (sides == .both ? .tls(.closedAbort) : .system(errno: ECONNRESET)))
        guard case .tls(.alert(let number, _))? = world.targetEnd?.error?.reason else {
            Issue.record("\(String(describing: world.targetEnd))")
            return
        }
        #expect(number == 116)
    }

    @Test("a target with a certificate that is not trusted is asked about; refused, it is a reset for the client")
    func untrusted() throws {
        let world = try World(.target, choices: Self.choices(.target), server: .testServer("foreign"))
        world.client.read(Self.any)
        func leg() -> SocketSnapshot? {
            world.engine.snapshot().sockets.first { $0.role == .client && $0.tls?.question != nil }
        }
        #expect(eventually { leg() != nil })
        let (id, question) = try #require(leg().flatMap { leg in leg.tls?.question.map { (leg.id, $0.question) } })
        world.engine.post(.answerTrust(id, question, .refuse))
        #expect(eventually { world.told.isDisconnected })
        #expect(world.told.lastError?.reason == .system(errno: ECONNRESET))
        #expect(world.targetEnd?.error?.reason == .tls(.refused))
    }

    @Test("a client that does not finish its handshake reaches no target")
    func strangers() throws {
        let world = try World(
            .listener, choices: Self.choices(.listener),
            trust: .testClient(nil, trust: .file(Certificates.path("other.crt"))))
        #expect(eventually { world.told.isDisconnected })
        guard case .tls(.untrusted)? = world.told.lastError?.reason else {
            Issue.record("\(String(describing: world.told.lastError))")
            return
        }
        world.engine.fence()
        #expect(eventually { world.engine.snapshot().sockets.allSatisfy { $0.role == .listener || !$0.isLive } })
        #expect(world.accepting.sockets.isEmpty)
    }

    @Test("a reader that stops holds the writer back through TLS on both sides, and memory stays bounded")
    func backPressure() throws {
        let world = try World(.both, choices: Self.choices(.both))
        try #require(eventually { world.accepted != nil })
        for _ in 0..<32 { world.client.write([UInt8](repeating: 7, count: 1 << 20)) }
        func legs() -> [SocketSnapshot] { world.engine.snapshot().sockets.filter { $0.linked != nil } }
        // One snapshot shows both: the leg that is held back, and what is queued for the other one.
        func queuedWhileHeldBack() -> Int? {
            let legs = legs()
            guard legs.contains(where: { $0.isHeldBack && $0.role == .accepted }) else { return nil }
            return legs.map(\.writing.pendingBytes).max()
        }
        #expect(eventually { queuedWhileHeldBack().map { $0 > 0 } ?? false })
        #expect(queuedWhileHeldBack() ?? 0 <= Relay.highWatermark + (17 << 16))
        world.accepted?.read(Self.any)
        #expect(eventually { world.served.receivedCount == 32 << 20 })
        #expect(eventually { !legs().contains { $0.isHeldBack } })
    }
}
