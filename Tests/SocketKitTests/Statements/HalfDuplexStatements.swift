import SocketKit
import SocketTestSupport
import Testing

/// Statements 80 to 84: connections whose peer has ended its stream.
@Suite(.timeLimit(.minutes(10))) struct HalfDuplexStatements {
    private func makePair(_ family: ConnectedPair.Family = .tcp, time: ManualTime? = nil) throws -> ConnectedPair {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true
        return try ConnectedPair(family, engine: SocketEngine.with(time: time), configuration: configuration)
    }

    @Test func statement080_aPeerThatHalfClosesIsToldOnceAndCanStillBeAnswered() throws {
        let pair = try makePair()
        pair.socket.read(ReadRequest(.available(limit: nil), tag: 1))
        try pair.peerSends("question")
        pair.peerShutsWrite()
        #expect(eventually { pair.recorder.calls.count == 3 })
        #expect(pair.socket.isConnected)
        pair.socket.write(Array("answer".utf8), tag: 2)
        #expect(try pair.peerReceives(6) == Array("answer".utf8))
        #expect(pair.picture?.flags.isSuperset(of: [.socketHasReadEOF, .readStreamClosed]) == true)
        pair.engine.fence()
        #expect(pair.recorder.calls == [.connected, .text("question", tag: 1), .closedReadStream, .wrote(tag: 2)])
    }

    @Test func statement081_theEndIsToldBehindTheBytesThatLieBeforeIt() throws {
        let pair = try makePair(.unix)
        let line = ReadRequest.Kind.delimiter([10], limit: nil)
        pair.socket.read(ReadRequest(line, tag: 1))
        try pair.peerSends("l1\nl2\n")
        #expect(eventually { pair.recorder.calls == [.connected, .text("l1\n", tag: 1)] })
        pair.peerShutsWrite()
        #expect(eventually { pair.picture?.flags.contains(.socketHasReadEOF) == true })
        pair.engine.fence()
        #expect(pair.recorder.calls.count == 2)
        pair.socket.read(ReadRequest(line, tag: 2))
        #expect(eventually { pair.recorder.calls.count == 4 })
        #expect(pair.recorder.calls.suffix(2) == [.text("l2\n", tag: 2), .closedReadStream])
    }

    @Test func statement082_writingToAPeerThatIsGoneEndsTheHalfOpenConnection() throws {
        let pair = try makePair()
        pair.peerShutsWrite()
        #expect(eventually { pair.recorder.calls == [.connected, .closedReadStream] })
        pair.closePeer()
        // The first write may still be taken; what it is answered with ends the next one.
        #expect(
            eventually {
                pair.socket.write([1], tag: 1)
                return pair.recorder.isDisconnected
            })
        #expect(pair.recorder.lastError?.domain == "NSPOSIXErrorDomain")
        #expect([32, 104].contains(pair.recorder.lastError?.code))
        #expect(pair.recorder.calls.filter { $0 == .closedReadStream }.count == 1)
    }

    @Test func statement083_whereHalfOpenIsNotWantedThePeersEndEndsTheConnection() throws {
        let pair = try ConnectedPair()
        pair.peerShutsWrite()
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.calls == [.connected, .disconnected(.closedByPeer)])
        #expect(pair.recorder.lastError?.code == 7)
    }

    @Test func statement084_aReadOfAHalfOpenConnectionTimesOutAsAnyOther() throws {
        let time = ManualTime()
        let pair = try makePair(time: time)
        pair.peerShutsWrite()
        #expect(eventually { pair.recorder.calls == [.connected, .closedReadStream] })
        pair.socket.read(ReadRequest(.length(1), timeout: .milliseconds(200), tag: 1))
        pair.engine.fence()
        time.pass(.milliseconds(199))
        #expect(pair.recorder.calls.count == 2)
        time.pass(.milliseconds(1))
        #expect(
            pair.recorder.calls == [
                .connected, .closedReadStream, .timedOut(tag: 1, done: 0), .failed(tag: 1, .readTimeout, done: 0),
                .disconnected(.readTimeout),
            ])
    }
}
