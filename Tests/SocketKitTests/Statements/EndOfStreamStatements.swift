import SocketKit
import SocketTestSupport
import Testing

/// Statements 52 to 55: what reads and delegates learn of the end of the stream.
@Suite(.timeLimit(.minutes(10))) struct EndOfStreamStatements {
    /// How a peer goes.
    enum Ending: CaseIterable, CustomTestStringConvertible {
        case tcpFIN, unixClose, tcpReset

        var testDescription: String { "\(self)" }
        var family: ConnectedPair.Family { self == .unixClose ? .unix : .tcp }
        var reason: SocketError.Reason { self == .tcpReset ? .system(errno: 104) : .closedByPeer }
    }

    @Test func statement052_anIdlePeerThatClosesIsNoticedWithoutARead() throws {
        let pair = try ConnectedPair()
        pair.closePeer()
        #expect(eventually { pair.recorder.calls == [.connected, .disconnected(.closedByPeer)] })
        #expect(pair.recorder.lastError?.code == 7)
    }

    @Test(arguments: Ending.allCases)
    func statement053_thePeersEndWaitsBehindUnreadBytesAndFollowsThem(_ ending: Ending) throws {
        let pair = try ConnectedPair(ending.family)
        try pair.peerSends("abc")
        #expect(eventually { pair.picture?.flags.contains(.readSourceSuspended) == true })
        pair.closePeer(reset: ending == .tcpReset)
        pair.engine.fence()
        #expect(pair.recorder.calls == [.connected])
        // Whatever the kernel reports of the end, it must not make the engine run for nothing: each picture is a turn.
        let turns = { pair.engine.snapshot().counters.turns }
        #expect(eventually { turns() + 1 == turns() })
        #expect(pair.recorder.calls == [.connected])
        pair.socket.read(ReadRequest(.length(3), tag: 1))
        #expect(eventually { pair.recorder.isDisconnected }, "without a further read")
        #expect(pair.recorder.calls == [.connected, .text("abc", tag: 1), .disconnected(ending.reason)])
    }

    @Test func statement054_aReadThatThePeersEndCutsShortFailsWithTheBytesItHad() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(100), tag: 4))
        try pair.peerSends([UInt8](repeating: 1, count: 40))
        #expect(eventually { pair.recorder.calls == [.connected, .readPartial(40, tag: 4)] })
        pair.closePeer()
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(
            pair.recorder.calls == [
                .connected, .readPartial(40, tag: 4), .failed(tag: 4, .closedByPeer, done: 40),
                .disconnected(.closedByPeer),
            ])
        #expect(pair.recorder.failures.first?.bytes == [UInt8](repeating: 1, count: 40))
    }

    @Test func statement055_linesReadAheadAreDeliveredAfterThePeersEnd() throws {
        let pair = try ConnectedPair(.unix)
        let line = ReadRequest.Kind.delimiter([10], limit: nil)
        pair.socket.read(ReadRequest(line, tag: 1))
        try pair.peerSends("l1\nl2\nl3\n")
        #expect(eventually { pair.recorder.calls == [.connected, .text("l1\n", tag: 1)] })
        pair.closePeer()
        #expect(eventually { pair.picture?.flags.contains(.socketHasReadEOF) == true })
        #expect(pair.picture?.prebuffered == 6 && pair.socket.isConnected)
        for tag in 2...3 { pair.socket.read(ReadRequest(line, tag: tag)) }
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(
            pair.recorder.calls == [
                .connected, .text("l1\n", tag: 1), .text("l2\n", tag: 2), .text("l3\n", tag: 3),
                .disconnected(.closedByPeer),
            ])
    }
}
