import Glibc
import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// Each way TLS can end, with TLS on both sides of the relay: the other side sees what it sees when both are connected
/// directly, which is tried too.
@Suite(
    "The relay is transparent for TLS",
    .enabled(if: Certificates.problem == nil, "no certificates: is openssl there?"), .serialized,
    .timeLimit(.minutes(10)))
struct RelayTLSTableTests {
    enum End: String, CaseIterable { case closeNotify, cutOff, reset }
    enum Load: String, CaseIterable { case idle, few, stalled }

    /// A client and a server with TLS, joined directly or by a relay.
    private final class Line {
        /// The peers' own, so that nothing of them is on the relay's.
        let engine = SocketEngine()
        let relaying = SocketEngine()
        let relay: Relay?
        let client: AsyncSocket
        let told = Recorder()
        let served = Recorder()
        private let accepting: Recorder
        private let listener: SocketListener

        /// `passesCuts`: the peers go on when the other one's stream was cut off.
        init(relayed: Bool, passesCuts: Bool = false) throws {
            var configuration = SocketConfiguration()
            configuration.allowsHalfOpen = true
            configuration.passesCuts = passesCuts
            accepting = Recorder(onAccept: { [served] in $0.delegate = served })
            listener = SocketListener(engine: engine, delegate: accepting, configuration: configuration)
            try listener.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: .testServer())
            var port = try #require(listener.localAddress?.port)
            var relay: Relay?
            if relayed {
                var choices = TLSChoices()
                choices.certificate = Certificates.path("server.pem")
                choices.authority = Certificates.path("ca.crt")
                let made = Relay(
                    engine: relaying,
                    request: try RelayRequest.parse("tls://127.0.0.1:0", to: "tls://127.0.0.1:\(port)", choices))
                try made.start()
                port = relaying.picture(of: made.session)?.local?.port ?? 0
                relay = made
            }
            self.relay = relay
            client = AsyncSocket(engine: engine, delegate: told, configuration: configuration)
            try client.connect(to: .tcp(host: "127.0.0.1", port: port), tls: .testClient(nil))
            try #require(eventually { told.calls.contains(.secured) && served.calls.contains(.secured) })
        }

        var server: AsyncSocket { accepting.sockets[0] }

        /// The relay's legs that are over.
        var endings: [CloseRecord] { relaying.snapshot().sockets.filter { $0.linked != nil }.compactMap(\.closed) }
    }

    private struct Sight: Equatable {
        /// The error; `nil`: FIN in order.
        var end: SocketError.Reason?
        var bytes: [UInt8]
    }

    private static let any = ReadRequest(.available(limit: nil), isStanding: true)

    private func sight(_ end: End, _ load: Load, clientEnds: Bool, relayed: Bool) throws -> Sight {
        let line = try Line(relayed: relayed)
        let (side, other) = clientEnds ? (line.client, line.server) : (line.server, line.client)
        let seen = clientEnds ? line.served : line.told
        switch load {
        case .idle: other.read(Self.any)
        case .few:
            other.read(Self.any)
            side.write([1, 2, 3])
            #expect(eventually { seen.received == [1, 2, 3] })
        case .stalled:
            for socket in [side, other] { socket.write([UInt8](repeating: 7, count: 16 << 20)) }
            guard relayed else { break }
            let relaying = line.relaying
            #expect(eventually { relaying.snapshot().sockets.count { $0.linked != nil && $0.isHeldBack } == 2 })
        }
        switch end {
        case .closeNotify: side.halfClose()
        case .cutOff: _ = side.withDescriptor { shutdown($0, Int32(SHUT_WR)) }
        case .reset: side.disconnect(.reset)
        }
        // A reset is told at once; what is in order comes after the bytes before it.
        if load == .stalled, end != .reset { other.read(Self.any) }
        #expect(eventually { seen.isDisconnected || seen.calls.contains(.closedReadStream) })
        return Sight(end: seen.lastError?.reason, bytes: end == .reset ? [] : seen.received)
    }

    @Test("the other side sees the same end", arguments: End.allCases, Load.allCases)
    func ends(_ end: End, _ load: Load) throws {
        // Bytes cannot be queued behind a stream that is cut off under TLS.
        guard end != .cutOff || load != .stalled else { return }
        for clientEnds in [true, false] {
            let direct = try sight(end, load, clientEnds: clientEnds, relayed: false)
            let relayed = try sight(end, load, clientEnds: clientEnds, relayed: true)
            #expect(relayed == direct, "\(end) of \(clientEnds ? "client" : "server") while \(load)")
            switch end {
            case .closeNotify: #expect(direct.end == nil)
            case .cutOff: #expect(direct.end == .tls(.closedAbort))
            case .reset: #expect(direct.end == .system(errno: ECONNRESET))
            }
        }
    }

    @Test("FIN alone in answer to close_notify is a stream that was cut off, for the client too")
    func bareFIN() throws {
        let line = try Line(relayed: true)
        line.server.read(Self.any)
        line.client.read(Self.any)
        line.client.write([1])
        line.client.halfClose()
        #expect(eventually { line.served.calls.contains(.closedReadStream) })
        _ = line.server.withDescriptor { shutdown($0, Int32(SHUT_WR)) }
        #expect(eventually { line.told.isDisconnected && line.endings.count == 2 })
        #expect(line.told.lastError?.reason == .tls(.closedAbort))
        #expect(line.endings.contains { $0.error?.reason == .tls(.closedAbort) })
    }

    @Test("a stream that was cut off in one direction goes on in the other")
    func oneDirection() throws {
        let line = try Line(relayed: true, passesCuts: true)
        line.client.read(Self.any)
        _ = line.client.withDescriptor { shutdown($0, Int32(SHUT_WR)) }
        #expect(eventually { line.served.calls.contains(.closedReadStream) })
        #expect(line.server.wasCutOff)
        line.server.write([1, 2])
        #expect(eventually { line.told.received == [1, 2] })
    }
}
