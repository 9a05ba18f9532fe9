import SocketKit
import SocketTestSupport
import Testing

/// Statements 41 to 51: which bytes a read completes with.
@Suite(.timeLimit(.minutes(10))) struct ReadingStatements {
    private static let line = ReadRequest.Kind.delimiter([13, 10], limit: 64)

    @Test func statement041_anAvailableReadTakesWhatIsThereAndTheStreamStaysWhole() throws {
        let pair = try ConnectedPair()
        try pair.peerSends("abc")
        try pair.peerSends("def")
        #expect(pair.leavesInTheKernel(6))
        pair.socket.read(ReadRequest(.available(limit: nil), tag: 0))
        #expect(eventually { pair.recorder.calls.count == 2 })
        #expect((1...6).contains(pair.recorder.received.count))
        for tag in 1...6 { pair.socket.read(ReadRequest(.available(limit: nil), tag: tag)) }
        #expect(eventually { pair.recorder.received.count == 6 })
        #expect(pair.recorder.received == Array("abcdef".utf8))
    }

    @Test func statement042_theLimitOfAnAvailableReadHolds() throws {
        let pair = try ConnectedPair()
        try pair.peerSends("0123456789")
        #expect(pair.leavesInTheKernel(10))
        for tag in 1...3 { pair.socket.read(ReadRequest(.available(limit: 4), tag: tag)) }
        #expect(eventually { pair.recorder.received.count == 10 })
        #expect(
            pair.recorder.calls == [.connected, .text("0123", tag: 1), .text("4567", tag: 2), .text("89", tag: 3)])
    }

    @Test func statement043_aLengthReadReportsPartsAndCompletesWithAllOfThem() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(5), tag: 7))
        try pair.peerSends("ab")
        #expect(eventually { pair.recorder.calls == [.connected, .readPartial(2, tag: 7)] })
        try pair.peerSends("cde")
        #expect(eventually { pair.recorder.calls.count == 3 })
        #expect(pair.recorder.calls == [.connected, .readPartial(2, tag: 7), .text("abcde", tag: 7)])
    }

    @Test func statement044_aDelimiterIsFoundAcrossTwoArrivals() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(Self.line, tag: 1))
        pair.socket.read(ReadRequest(.available(limit: nil), tag: 2))
        try pair.peerSends("a\r")
        #expect(eventually { pair.recorder.calls == [.connected, .readPartial(2, tag: 1)] })
        try pair.peerSends("\nb")
        #expect(eventually { pair.recorder.calls.count == 4 })
        #expect(
            pair.recorder.calls == [.connected, .readPartial(2, tag: 1), .text("a\r\n", tag: 1), .text("b", tag: 2)])
    }

    @Test func statement045_oneArrivalIsCutIntoTheReadsThatWaitForIt() throws {
        let pair = try ConnectedPair(.unix)
        for tag in 1...2 { pair.socket.read(ReadRequest(Self.line, tag: tag)) }
        pair.socket.read(ReadRequest(.length(2), tag: 3))
        try pair.peerSends("l1\r\nl2\r\nl3")
        #expect(eventually { pair.recorder.calls.count == 4 })
        #expect(
            pair.recorder.calls == [.connected, .text("l1\r\n", tag: 1), .text("l2\r\n", tag: 2), .text("l3", tag: 3)])
    }

    @Test func statement046_aDelimiterThatOverlapsItselfEndsTheReadInTheRightPlace() throws {
        let pair = try ConnectedPair()
        let delimiter = ReadRequest.Kind.delimiter(Array("aab".utf8), limit: nil)
        pair.socket.read(ReadRequest(delimiter, tag: 1))
        pair.socket.read(ReadRequest(.length(1), tag: 2))
        for piece in ["a", "a"] { try pair.peerSends(piece) }
        #expect(eventually { pair.picture?.reading.current?.done == 2 })
        try pair.peerSends("abc")
        #expect(eventually { pair.recorder.calls.count >= 3 && pair.recorder.received.count == 5 })
        #expect(pair.recorder.calls.suffix(2) == [.text("aaab", tag: 1), .text("c", tag: 2)])
    }

    @Test func statement047_aDelimiterBeyondTheLimitEndsTheConnectionAndOneThatEndsThereDoesNot() throws {
        let pair = try ConnectedPair(.unix)
        pair.socket.read(ReadRequest(.delimiter([10], limit: 5), tag: 1))
        try pair.peerSends("abcde\n")
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(
            pair.recorder.calls == [
                .connected, .readPartial(5, tag: 1), .failed(tag: 1, .readMaxedOut, done: 5),
                .disconnected(.readMaxedOut),
            ])
        #expect(pair.recorder.lastError?.code == 6)
        #expect(pair.recorder.failures.first?.bytes == Array("abcde".utf8))
        let exact = try ConnectedPair(.unix)
        exact.socket.read(ReadRequest(.delimiter([10], limit: 6), tag: 1))
        try exact.peerSends("abcde\n")
        #expect(eventually { exact.recorder.calls == [.connected, .text("abcde\n", tag: 1)] })
        #expect(exact.socket.isConnected)
    }

    @Test func statement048_aDelimiterWithinTheLimitLeavesTheRestForTheNextRead() throws {
        let pair = try ConnectedPair(.unix)
        pair.socket.read(ReadRequest(.delimiter([10], limit: 5), tag: 1))
        try pair.peerSends("ab\nrest of it")
        #expect(eventually { pair.recorder.calls == [.connected, .text("ab\n", tag: 1)] })
        pair.socket.read(ReadRequest(.length(10), tag: 2))
        #expect(eventually { pair.recorder.calls.last == .text("rest of it", tag: 2) })
        #expect(pair.recorder.failures.isEmpty && pair.socket.isConnected)
    }

    /// Reads hand over arrays of their own, so what a caller's buffer held before and after has no counterpart.
    @Test func statement049_aLengthReadHandsOverExactlyItsBytes() throws {
        let pair = try ConnectedPair()
        let bytes = (0..<30).map { UInt8($0) }
        try pair.peerSends(bytes)
        #expect(pair.leavesInTheKernel(30))
        pair.socket.read(ReadRequest(.length(20), tag: 1))
        #expect(eventually { pair.recorder.calls.count == 2 })
        #expect(pair.recorder.calls.last == .read(Array(bytes[..<20]), tag: 1))
        #expect(pair.picture?.prebuffered == 0 && pair.picture?.kernel?.receiveQueue == 10, "no byte too many is taken")
        pair.socket.read(ReadRequest(.length(10), tag: 2))
        #expect(eventually { pair.recorder.calls.last == .read(Array(bytes[20...]), tag: 2) })
    }

    @Test func statement050_whatFollowsADelimiterIsServedToTheNextRead() throws {
        let pair = try ConnectedPair(.unix)
        pair.socket.read(ReadRequest(.delimiter([10], limit: nil), tag: 1))
        try pair.peerSends("line\noverflow")
        #expect(eventually { pair.recorder.calls == [.connected, .text("line\n", tag: 1)] })
        #expect(pair.picture?.prebuffered == 8 && pair.picture?.kernel?.receiveQueue == 0)
        pair.socket.read(ReadRequest(.available(limit: nil), tag: 2))
        #expect(eventually { pair.recorder.calls.count == 3 })
        #expect(pair.recorder.calls.last == .text("overflow", tag: 2))
        #expect(pair.picture?.prebuffered == 0)
    }

    @Test func statement051_readsOfEveryKindCompleteInTheOrderInWhichTheyWereQueued() throws {
        let pair = try ConnectedPair(.unix)
        pair.socket.read(ReadRequest(.length(3), tag: 31))
        pair.socket.read(ReadRequest(Self.line, tag: 32))
        pair.socket.read(ReadRequest(.available(limit: 2), tag: 33))
        pair.socket.read(ReadRequest(.length(1), tag: 34))
        try pair.peerSends("abcd\r\nefg")
        #expect(eventually { pair.recorder.calls.count == 5 })
        #expect(
            pair.recorder.calls == [
                .connected, .text("abc", tag: 31), .text("d\r\n", tag: 32), .text("ef", tag: 33), .text("g", tag: 34),
            ])
    }
}
