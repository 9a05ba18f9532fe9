import SocketKit
import SocketTestSupport
import Testing

@Suite struct ReadingTests {
    @Test func aReadQueuedByHandGoesBeforeTheStandingOneAndLosesNoByte() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.available(limit: nil), tag: 0, isStanding: true))
        try pair.peerSends("first")
        #expect(eventually { pair.recorder.received == Array("first".utf8) })
        pair.socket.read(ReadRequest(.delimiter([10], limit: nil), tag: 5))
        try pair.peerSends("second\nthird")
        #expect(eventually { pair.recorder.received == Array("firstsecond\nthird".utf8) })
        #expect(pair.recorder.calls.contains(.read(Array("second\n".utf8), tag: 5)))
    }

    @Test func aPauseByHandLeavesBytesInTheKernelUntilItEnds() throws {
        let pair = try ConnectedPair()
        pair.socket.isReadingPaused = true
        pair.socket.read(ReadRequest(.available(limit: nil), tag: 1))
        try pair.peerSends("held")
        #expect(eventually { pair.engine.snapshot(SnapshotRequest(kernel: .all)).sockets[0].kernel?.receiveQueue == 4 })
        #expect(pair.recorder.received.isEmpty)
        pair.socket.isReadingPaused = false
        #expect(eventually { pair.recorder.received == Array("held".utf8) })
    }
}
