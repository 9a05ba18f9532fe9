import SocketKit
import SocketTestSupport
import Testing

/// Statements 99 to 102 and 104: bytes, ends and time under TLS.
@Suite(.enabled(if: Certificates.problem == nil, "no certificates: is openssl there?"), .timeLimit(.minutes(10)))
struct TLSBytesStatements {
    private func securedPair(_ configuration: SocketConfiguration = SocketConfiguration()) throws -> TLSPair {
        let pair = try TLSPair(configuration: configuration)
        try pair.startTLS()
        try #require(pair.isSecured)
        return pair
    }

    @Test func statement099_twoWritesFillOneLongReadWithinItsTimeout() throws {
        let time = ManualTime()
        let pair = try TLSPair(engine: SocketEngine.with(time: time))
        try pair.startTLS()
        #expect(pair.isSecured)
        let half = (0..<51_200).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        pair.server.read(ReadRequest(.length(102_400), timeout: .milliseconds(100), tag: 1))
        pair.client.write(half, tag: 1)
        pair.client.write(half, tag: 2)
        #expect(eventually { pair.serverSide.received.count == 102_400 })
        #expect(pair.serverSide.received == half + half)
        time.pass(.seconds(1))
        #expect(pair.serverSide.timeouts.isEmpty && pair.serverSide.failures.isEmpty && pair.server.isSecure)
    }

    @Test func statement100_anOrderlyEndIsToldFromACutOne() throws {
        let orderly = try securedPair()
        orderly.server.disconnect()
        #expect(eventually { orderly.clientSide.isDisconnected })
        #expect(orderly.clientSide.lastError?.reason == .closedByPeer && orderly.clientSide.lastError?.code == 7)

        let cut = try securedPair()
        cut.client.read(ReadRequest(.length(10), tag: 1))
        cut.server.write(Array("abc".utf8))
        #expect(eventually { cut.client.tls?.plaintextReceived == 3 })
        cut.down.cut()
        #expect(eventually { cut.clientSide.isDisconnected })
        #expect(cut.clientSide.lastError?.reason == .tls(.closedAbort) && cut.clientSide.lastError?.code == -9806)
        #expect(cut.clientSide.failures.first?.bytes == Array("abc".utf8))
        #expect(cut.clientSide.lastError?.detail.contains("without close_notify") == true)
    }

    @Test func aCutAfterAHalfCloseIsStillACut() throws {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true
        let cut = try securedPair(configuration)
        cut.client.read(ReadRequest(.length(10), tag: 1))
        cut.client.halfClose()
        cut.server.write(Array("abc".utf8))
        #expect(eventually { cut.client.tls?.plaintextReceived == 3 && cut.client.tls?.hasSentCloseNotify == true })
        cut.down.cut()
        #expect(eventually { cut.clientSide.isDisconnected })
        #expect(cut.clientSide.lastError?.reason == .tls(.closedAbort))
        #expect(cut.clientSide.failures.first?.bytes == Array("abc".utf8))
    }

    @Test func afterOurCloseNothingIsReadAndSoNothingIsCut() throws {
        let pair = try securedPair()
        pair.client.disconnect(.afterWriting)
        #expect(eventually { pair.engine.picture(of: pair.client.session)?.phase == .lingering })
        pair.down.cut()
        #expect(eventually { pair.clientSide.isDisconnected })
        #expect(pair.clientSide.lastError == nil)
    }

    @Test func statement101_onlyABoundedAmountIsReadAheadAndARegularReadIsServedFromIt() throws {
        let pair = try securedPair()
        let bytes = (0..<4 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        pair.server.write(bytes, tag: 1)
        #expect(eventually { pair.engine.picture(of: pair.client.session)?.prebuffered ?? 0 > 0 })
        #expect(
            eventually {
                pair.engine.picture(of: pair.client.session)?.flags.contains(.readSourceSuspended) == true
            })
        let ahead = try #require(pair.engine.picture(of: pair.client.session))
        #expect((1...16_384).contains(ahead.prebuffered))
        #expect(ahead.received < 256 << 10)
        pair.client.read(ReadRequest(.length(5), tag: 1))
        pair.engine.fence()
        #expect(pair.clientSide.received == Array(bytes[..<5]))
        // Some is left, so nothing more is read ahead.
        let after = try #require(pair.engine.picture(of: pair.client.session))
        #expect(after.prebuffered == ahead.prebuffered - 5 && after.received == ahead.received)
        pair.client.read(ReadRequest(.length(bytes.count - 5), tag: 2))
        #expect(eventually { pair.clientSide.received.count == bytes.count })
        #expect(pair.clientSide.received == bytes)
    }

    @Test func statement102_aWriteCountsWhatTheKernelHasAndCompletesWhenThePeerGoesOn() throws {
        let pair = try securedPair()
        // Small, so that the kernel refuses soon and in the middle of a record.
        _ = pair.client.withDescriptor { LinuxKernel().set(.sendBuffer(32_768), on: $0) }
        let passed = pair.up.copy.count
        let bytes = [UInt8](repeating: 3, count: 32 << 20)
        pair.up.set { $0.most = passed }
        pair.client.write(bytes, tag: 1)
        #expect(
            eventually { pair.engine.picture(of: pair.client.session)?.flags.contains(.socketCanAcceptBytes) == false })
        let picture = try #require(pair.engine.picture(of: pair.client.session))
        let done = picture.writing.current?.done ?? 0
        let tls = try #require(picture.tls)
        #expect(done > 0 && done < bytes.count && tls.plaintextSent == UInt64(done))
        // What is encrypted but not with the kernel is not counted, and bounded.
        #expect(tls.pendingWireBytes > 0 && tls.pendingWireBytes < 80 << 10)
        #expect(Int(picture.sent) >= done)
        pair.server.read(ReadRequest(.length(bytes.count), tag: 1))
        pair.up.set { $0.most = .max }
        #expect(eventually { pair.clientSide.calls.contains(.wrote(tag: 1)) })
        #expect(eventually { pair.serverSide.received.count == bytes.count })
        let increments = pair.clientSide.calls.compactMap { call -> Int? in
            if case .wrotePartial(let count, tag: 1) = call { count } else { nil }
        }
        #expect(!increments.isEmpty && increments.reduce(0, +) < bytes.count)
    }

    @Test func statement104_aHandshakeThatIsNeverAnsweredTimesOut() throws {
        let time = ManualTime()
        let pair = try ConnectedPair(engine: SocketEngine.with(time: time))
        try pair.socket.startTLS(.testClient())
        pair.socket.read(ReadRequest(.length(1), tag: 1))
        #expect(try pair.peerReceives(3) == [22, 3, 1])
        time.pass(.milliseconds(9_999))
        pair.engine.fence()
        #expect(pair.socket.tls?.phase == .handshaking)
        time.pass(.milliseconds(1))
        #expect(pair.recorder.isDisconnected)
        #expect(pair.recorder.lastError?.reason == .tls(.handshakeTimeout))
        #expect(pair.recorder.failures.map(\.tag) == [1])
        let eternity = ManualTime()
        let patient = try ConnectedPair(engine: SocketEngine.with(time: eternity))
        try patient.socket.startTLS(.testClient().with { $0.handshakeTimeout = nil })
        eternity.pass(.seconds(3_600))
        #expect(patient.socket.tls?.phase == .handshaking)
    }
}
