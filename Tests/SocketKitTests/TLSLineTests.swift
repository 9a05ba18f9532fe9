import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// TLS over lines that dribble, stall and break; on the move; and awaited.
@Suite(.enabled(if: Certificates.problem == nil, "no certificates: is openssl there?"), .timeLimit(.minutes(10)))
struct TLSLineTests {
    private func turns(_ engine: SocketEngine) -> UInt64 { engine.snapshot().counters.turns }

    @Test func aPeerThatDribblesByteByByteIsUnderstood() throws {
        let pair = try TLSPair()
        for line in [pair.up, pair.down] { line.set { $0.piece = 1 } }
        let before = turns(pair.engine)
        try pair.startTLS()
        pair.server.read(ReadRequest(.length(1_000), tag: 1))
        pair.client.write([UInt8](repeating: 5, count: 1_000), tag: 1)
        #expect(eventually { pair.serverSide.received.count == 1_000 })
        #expect(pair.clientSide.calls == [.connected, .secured, .wrote(tag: 1)])
        // Every turn has its cause: a byte that came, or something that was asked here.
        let bytes = UInt64(pair.up.copy.count + pair.down.copy.count)
        #expect(turns(pair.engine) - before < 2 * bytes + 200)
        pair.client.disconnect(.afterWriting)
        #expect(eventually { pair.serverSide.isDisconnected && pair.clientSide.isDisconnected })
        #expect(pair.serverSide.lastError?.reason == .closedByPeer && pair.clientSide.lastError == nil)
    }

    @Test func aPeerThatStallsInTheHandshakeTimesOutWithoutATurnInBetween() throws {
        let time = ManualTime()
        let pair = try TLSPair(engine: SocketEngine.with(time: time))
        pair.up.set { $0.most = 60 }
        try pair.startTLS()
        #expect(eventually { pair.engine.picture(of: pair.server.session)?.received == 60 })
        pair.engine.fence()
        let before = turns(pair.engine)
        time.pass(.seconds(9))
        pair.engine.fence()
        #expect(turns(pair.engine) - before < 10)
        #expect(pair.server.tls?.phase == .handshaking && pair.client.tls?.phase == .handshaking)
        time.pass(.seconds(1))
        for told in [pair.clientSide, pair.serverSide] {
            #expect(eventually { told.isDisconnected })
            #expect(!told.calls.contains(.secured))
        }
        #expect(
            pair.clientSide.lastError?.reason == .tls(.handshakeTimeout)
                || pair.serverSide.lastError?.reason == .tls(.handshakeTimeout))
    }

    @Test func aPeerThatStallsInARecordKeepsItsReadWaitingUntilItsTimeout() throws {
        let time = ManualTime()
        let pair = try TLSPair(
            engine: SocketEngine.with(time: time), serverSide: Recorder(verdict: { _ in .extend(by: .seconds(5)) }))
        try pair.startTLS()
        #expect(pair.isSecured)
        pair.engine.fence()
        let passed = pair.up.copy.count
        pair.up.set { $0.most = passed + 100 }
        pair.server.read(ReadRequest(.length(500), timeout: .seconds(5), tag: 1))
        pair.client.write([UInt8](repeating: 9, count: 500), tag: 1)
        #expect(
            eventually { pair.engine.picture(of: pair.server.session).map { Int($0.received) == passed + 100 } == true }
        )
        let before = turns(pair.engine)
        time.pass(.seconds(5))
        pair.engine.fence()
        // Half a record is nothing that a read could have.
        #expect(pair.serverSide.timeouts.map(\.done) == [0] && turns(pair.engine) - before < 12)
        pair.up.set { $0.most = .max }
        #expect(eventually { pair.serverSide.received.count == 500 })
    }

    @Test func aStallAtTheCloseLingersAndACutTailIsNoOrderlyEnd() throws {
        let time = ManualTime()
        let pair = try TLSPair(engine: SocketEngine.with(time: time))
        try pair.startTLS()
        #expect(pair.isSecured)
        pair.server.read(ReadRequest(.length(2), tag: 1))
        pair.client.write(Array("hi".utf8), tag: 1)
        #expect(eventually { pair.serverSide.received.count == 2 })
        let passed = pair.up.copy.count
        pair.up.set { $0.most = passed + 5 }
        pair.client.disconnect(.afterWriting)
        #expect(eventually { pair.engine.picture(of: pair.client.session)?.phase == .lingering })
        #expect(pair.server.isConnected)
        time.pass(.seconds(2))
        #expect(eventually { pair.clientSide.isDisconnected } && pair.clientSide.lastError == nil)
        pair.up.cut()
        #expect(eventually { pair.serverSide.isDisconnected })
        #expect(pair.serverSide.lastError?.reason == .tls(.closedAbort))
    }

    @Test func halfClosingSaysCloseNotifyAndTheOtherDirectionGoesOn() throws {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true
        let pair = try TLSPair(configuration: configuration)
        try pair.startTLS()
        #expect(pair.isSecured)
        pair.client.write(Array("all".utf8), tag: 1)
        pair.client.halfClose()
        pair.server.read(ReadRequest(.length(3), tag: 1))
        #expect(eventually { pair.serverSide.calls.contains(.closedReadStream) })
        #expect(pair.server.tls?.hasReceivedCloseNotify == true && pair.client.tls?.hasSentCloseNotify == true)
        pair.client.read(ReadRequest(.length(5), tag: 2))
        pair.server.write(Array("right".utf8), tag: 2)
        #expect(eventually { pair.clientSide.calls.contains(.text("right", tag: 2)) })
        #expect(pair.serverSide.received == Array("all".utf8))
    }

    @Test func aCancelledWriteOfWhichRecordsAreOnTheirWayGoesOnAndOthersLeave() throws {
        let pair = try TLSPair()
        try pair.startTLS()
        #expect(pair.isSecured)
        _ = pair.client.withDescriptor { LinuxKernel().set(.sendBuffer(32_768), on: $0) }
        let passed = pair.up.copy.count
        pair.up.set { $0.most = passed }
        let bytes = (0..<4 << 20).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        pair.client.write(bytes, tag: 1)
        pair.client.write([1, 2, 3], tag: 2)
        #expect(eventually { pair.engine.picture(of: pair.client.session)?.writing.current?.done ?? 0 > 0 })
        pair.client.cancel(.writes)
        pair.client.write(Array("end".utf8), tag: 3)
        pair.engine.fence()
        #expect(pair.clientSide.failures.map(\.tag) == [2])
        pair.up.set { $0.most = .max }
        pair.server.read(ReadRequest(.length(bytes.count + 3), tag: 1))
        #expect(eventually { pair.serverSide.received.count == bytes.count + 3 })
        #expect(pair.serverSide.received == bytes + Array("end".utf8))
    }

    @Test func aConnectionMovesToAnotherEngineInTheHandshakeAndAfterIt() throws {
        let pair = try TLSPair()
        pair.up.set { $0.most = 60 }
        try pair.startTLS()
        #expect(eventually { pair.engine.picture(of: pair.server.session)?.received == 60 })
        let other = SocketEngine()
        try pair.server.move(to: other)
        pair.up.set { $0.most = .max }
        #expect(pair.isSecured)
        try pair.client.move(to: other)
        pair.server.read(ReadRequest(.length(4), tag: 1))
        pair.client.write(Array("here".utf8), tag: 1)
        #expect(eventually { pair.serverSide.received == Array("here".utf8) })
        #expect(pair.client.isSecure && pair.client.tls?.plaintextSent == 4)
    }

    @Test func bytesAreLentUnderTLSToo() throws {
        let pair = try TLSPair()
        try pair.startTLS()
        #expect(pair.isSecured)
        let borrower = Borrower()
        pair.server.delegate = borrower
        pair.server.read(.borrowing())
        pair.client.write([UInt8](repeating: 4, count: 200_000), tag: 1)
        #expect(eventually { borrower.count == 200_000 })
    }

    @Test func tlsCanBeAwaited() async throws {
        let settings = TLSSettings.testServer()
        let reception = try TLSReception(
            settings,
            onAccept: { socket in
                Task { for try await line in socket.lines() { try await socket.send(line) } }
            })
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: reception.port)
        let socket = try await AsyncSocket.connect(to: endpoint, on: reception.engine, tls: .testClient(nil))
        try await socket.send(Array("over and back\r\n".utf8))
        #expect(try await socket.read(ReadRequest(.length(15))) == Array("over and back\r\n".utf8))
        let error = await #expect(throws: SocketError.self) {
            try await AsyncSocket.connect(to: endpoint, on: reception.engine, tls: .testClient("elsewhere.example"))
        }
        guard case .tls(.untrusted)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        let plain = try Reception(
            accepting: Recorder(onAccept: { socket in
                Task { try await socket.secure(settings) }
            }))
        let second = try await AsyncSocket.connect(
            to: .tcp(host: "127.0.0.1", port: plain.port), on: plain.engine)
        try await second.secure(.testClient(nil))
        #expect(second.isSecure)
    }
}

/// Counts what it is lent.
private final class Borrower: AsyncSocketDelegate {
    private let total = Lock(0)
    var count: Int { total.withLock { $0 } }

    func socket(_ socket: AsyncSocket, didBorrow bytes: RawSpan, tag: Int) {
        let count = bytes.byteCount
        total.withLock { $0 += count }
    }
}
