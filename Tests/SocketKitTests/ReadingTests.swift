import SocketKit
import SocketTestSupport
import Testing

@Suite struct ReadingTests {
    @Test func anAvailableReadTakesWhatIsThereAndItsLimitHolds() throws {
        let pair = try ConnectedPair()
        try pair.peerSends("0123456789")
        for tag in 1...3 { pair.socket.read(ReadRequest(.available(limit: 4), tag: tag)) }
        #expect(eventually { pair.recorder.received.count == 10 })
        #expect(
            pair.recorder.calls == [
                .connected, .read(Array("0123".utf8), tag: 1), .read(Array("4567".utf8), tag: 2),
                .read(Array("89".utf8), tag: 3),
            ])
    }

    @Test func aLengthReadReportsPartsAndCompletesWithAllOfThem() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(5), tag: 7))
        try pair.peerSends("ab")
        #expect(eventually { pair.recorder.calls.contains(.readPartial(2, tag: 7)) })
        try pair.peerSends("cde")
        #expect(eventually { pair.recorder.calls.last == .read(Array("abcde".utf8), tag: 7) })
        #expect(pair.recorder.calls == [.connected, .readPartial(2, tag: 7), .read(Array("abcde".utf8), tag: 7)])
    }

    @Test func readsOfEachKindShareOneSegmentInTheOrderInWhichTheyWereQueued() throws {
        let pair = try ConnectedPair(.unix)
        let line = ReadRequest.Kind.delimiter([13, 10], limit: 64)
        pair.socket.read(ReadRequest(line, tag: 1))
        pair.socket.read(ReadRequest(line, tag: 2))
        pair.socket.read(ReadRequest(.length(2), tag: 3))
        try pair.peerSends("l1\r\nl2\r\nl3")
        #expect(eventually { pair.recorder.received.count == 10 })
        #expect(
            pair.recorder.calls == [
                .connected, .read(Array("l1\r\n".utf8), tag: 1), .read(Array("l2\r\n".utf8), tag: 2),
                .read(Array("l3".utf8), tag: 3),
            ])
    }

    @Test func aDelimiterReadOverItsLimitClosesWithWhatItHad() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.delimiter([10], limit: 5), tag: 1))
        try pair.peerSends("abcde\n")
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(
            pair.recorder.calls == [
                .connected, .readPartial(5, tag: 1), .failed(tag: 1, .readMaxedOut, done: 5),
                .disconnected(.readMaxedOut),
            ])
        #expect(pair.recorder.failures.first?.bytes == Array("abcde".utf8))
    }

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

    @Test func withoutAReadTheKernelKeepsTheBytesAndTheEngineRests() throws {
        let pair = try ConnectedPair()
        try pair.peerSends("waiting")
        let id = try #require(pair.socket.session)
        let request = SnapshotRequest(kernel: .all)
        #expect(
            eventually { pair.engine.snapshot(request).sockets.first?.flags.contains(.readSourceSuspended) == true })
        let picture = try #require(pair.engine.snapshot(request).sockets.first { $0.id == id })
        #expect(picture.kernel?.receiveQueue == 7)
        #expect(picture.received == 0)
        // Each snapshot is one turn; anything beyond that would be spinning.
        let before = pair.engine.snapshot().counters.turns
        #expect(pair.engine.snapshot().counters.turns == before + 1)
        pair.socket.read(ReadRequest(.length(7)))
        #expect(eventually { pair.recorder.received == Array("waiting".utf8) })
    }

    @Test(arguments: ConnectedPair.Family.allCases)
    func aPeerThatClosesBehindUnreadBytesIsReportedOnceTheyAreRead(_ family: ConnectedPair.Family) throws {
        let pair = try ConnectedPair(family)
        try pair.peerSends("abc")
        pair.closePeer()
        // The getter runs on the queue behind whatever the engine was told meanwhile.
        #expect(eventually { pair.engine.snapshot().sockets.first?.flags.contains(.readSourceSuspended) == true })
        #expect(!pair.recorder.isDisconnected)
        pair.socket.read(ReadRequest(.length(3), tag: 1))
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(
            pair.recorder.calls == [.connected, .read(Array("abc".utf8), tag: 1), .disconnected(.closedByPeer)])
    }

    @Test func bytesBeforeAResetAreStillDelivered() throws {
        let pair = try ConnectedPair()
        try pair.peerSends("abc")
        #expect(eventually { pair.engine.snapshot().sockets.first?.flags.contains(.readSourceSuspended) == true })
        pair.closePeer(reset: true)
        pair.socket.read(ReadRequest(.length(3), tag: 1))
        pair.socket.read(ReadRequest(.length(1), tag: 2))
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.received == Array("abc".utf8))
        #expect(pair.recorder.lastError?.reason == .system(errno: 104))
    }

    @Test func anIdlePeerThatClosesIsNoticedWithoutARead() throws {
        let pair = try ConnectedPair()
        pair.closePeer()
        #expect(eventually { pair.recorder.calls == [.connected, .disconnected(.closedByPeer)] })
    }

    @Test func aReadThatThePeersEndCutsShortFailsWithTheBytesItHad() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(100), tag: 4))
        try pair.peerSends([UInt8](repeating: 1, count: 40))
        #expect(eventually { pair.recorder.calls.contains(.readPartial(40, tag: 4)) })
        pair.closePeer()
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(
            pair.recorder.calls.suffix(2) == [
                .failed(tag: 4, .closedByPeer, done: 40), .disconnected(.closedByPeer),
            ])
        #expect(pair.recorder.failures.first?.bytes.count == 40)
    }

    @Test func refusedReadsSayWhichArgumentIsWrongAndTheNextOneWorks() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(0), tag: 1))
        pair.socket.read(ReadRequest(.delimiter([], limit: nil), tag: 2))
        pair.socket.read(ReadRequest(.delimiter([13, 10], limit: 1), tag: 3))
        pair.socket.read(ReadRequest(.length(2), tag: 4))
        try pair.peerSends("ok")
        #expect(eventually { pair.recorder.received == Array("ok".utf8) })
        #expect(pair.recorder.failures.map(\.tag) == [1, 2, 3])
        #expect(pair.recorder.failures.allSatisfy { $0.error.reason == .badParameter })
        #expect(pair.recorder.failures[2].error.detail.contains("limit 1"))
    }

    @Test func aPauseByHandLeavesBytesInTheKernelUntilItEnds() throws {
        let pair = try ConnectedPair()
        pair.socket.pauseReading(true)
        pair.socket.read(ReadRequest(.available(limit: nil), tag: 1))
        try pair.peerSends("held")
        #expect(eventually { pair.engine.snapshot(SnapshotRequest(kernel: .all)).sockets[0].kernel?.receiveQueue == 4 })
        #expect(pair.recorder.received.isEmpty)
        pair.socket.pauseReading(false)
        #expect(eventually { pair.recorder.received == Array("held".utf8) })
    }

    @Test func aHundredThousandReadsAgainstBufferedBytesAllComplete() throws {
        let pair = try ConnectedPair(.unix)
        let reads = 100_000
        for _ in 0..<reads { pair.socket.read(ReadRequest(.delimiter([10], limit: 8))) }
        try pair.peerSends([UInt8](repeating: 10, count: reads))
        #expect(eventually { pair.recorder.received.count == reads })
    }
}
