import SocketKit
import SocketTestSupport
import Testing

@Suite struct WritingTests {
    @Test func writesArriveInOrderAndEachCompletesOnce() throws {
        let pair = try ConnectedPair()
        let parts = (1...100).map { [UInt8](repeating: UInt8($0), count: $0) }
        for (index, part) in parts.enumerated() { pair.socket.write(part, tag: index + 1) }
        #expect(try pair.peerReceives(5_050) == parts.flatMap(\.self))
        #expect(eventually { pair.recorder.calls.count == 101 })
        #expect(pair.recorder.calls == [.connected] + (1...100).map { .wrote(tag: $0) })
    }

    @Test func aWriteLargerThanTheKernelTakesReportsItsPartsAndTheyAddUp() throws {
        var configuration = SocketConfiguration()
        configuration.options.sendBuffer = 8_192
        let pair = try ConnectedPair(.unix, configuration: configuration)
        let bytes = (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        pair.socket.write(bytes, tag: 3)
        #expect(eventually { pair.recorder.calls.contains { if case .wrotePartial = $0 { true } else { false } } })
        let picture = try #require(pair.engine.snapshot().sockets.first)
        #expect(!picture.flags.contains(.socketCanAcceptBytes))
        #expect(picture.writing.current?.total == bytes.count)
        #expect(picture.writing.pendingBytes == bytes.count - Int(picture.sent))
        #expect(try pair.peerReceives(bytes.count) == bytes)
        #expect(eventually { pair.recorder.calls.last == .wrote(tag: 3) })
        let parts = pair.recorder.calls.reduce(0) { if case .wrotePartial(let n, _) = $1 { $0 + n } else { $0 } }
        #expect(parts > 0 && parts < bytes.count)
    }

    @Test func aWriteQueuedBeforeDisconnectIsTriedFirst() throws {
        let pair = try ConnectedPair()
        pair.socket.write(Array("bye".utf8), tag: 1)
        pair.socket.disconnect()
        #expect(pair.socket.isDisconnected)
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.calls == [.connected, .wrote(tag: 1), .disconnected(nil)])
        #expect(try pair.peerReceives(10) == Array("bye".utf8))
    }

    @Test func closingAfterWritingDeliversEveryByteThoughInputLiesUnread() throws {
        let pair = try ConnectedPair()
        try pair.peerSends("nobody reads this")
        let bytes = [UInt8](repeating: 7, count: 3_000_000)
        pair.socket.write(bytes, tag: 1)
        pair.socket.disconnect(.afterWriting)
        pair.socket.write([1], tag: 2)
        #expect(try pair.peerReceives(bytes.count + 1).count == bytes.count)
        pair.closePeer()
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.calls.last == .disconnected(nil))
        #expect(pair.recorder.failures.map(\.tag) == [2])
    }

    @Test func aHalfCloseSendsFINBehindTheWritesAndReadingGoesOn() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(5), tag: 9))
        pair.socket.write(Array("ask".utf8), tag: 1)
        pair.socket.closeWrite()
        #expect(try pair.peerReceives(100) == Array("ask".utf8))
        try pair.peerSends("reply")
        #expect(eventually { pair.recorder.received == Array("reply".utf8) })
        pair.socket.write([1], tag: 2)
        #expect(eventually { pair.recorder.failures.map(\.tag) == [2] })
        #expect(pair.engine.snapshot().sockets.first?.isWriteShut == true)
    }

    @Test func aWriteAfterAResetEndsInAnErrorAndNotInASignal() throws {
        let pair = try ConnectedPair()
        pair.closePeer(reset: true)
        pair.socket.write([1], tag: 1)
        #expect(eventually { pair.recorder.isDisconnected })
        #expect([32, 104].contains(pair.recorder.lastError?.code))
    }

    @Test func aPeerThatHalfClosesCanStillBeAnswered() throws {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true
        let pair = try ConnectedPair(configuration: configuration)
        pair.socket.read(ReadRequest(.available(limit: nil), tag: 1))
        try pair.peerSends("question")
        pair.peerShutsWrite()
        #expect(eventually { pair.recorder.calls.contains(.closedReadStream) })
        #expect(pair.socket.isConnected)
        pair.socket.write(Array("answer".utf8), tag: 2)
        #expect(try pair.peerReceives(6) == Array("answer".utf8))
        let picture = try #require(pair.engine.snapshot().sockets.first)
        #expect(picture.flags.isSuperset(of: [.socketHasReadEOF, .readStreamClosed]))
        #expect(pair.recorder.calls.filter { $0 == .closedReadStream }.count == 1)
    }

    @Test func aResetReachesThePeerAsOne() throws {
        let pair = try ConnectedPair()
        pair.socket.disconnect(.reset)
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(throws: PeerFailure.self) { try pair.peerReceives(1) }
    }

    @Test func writesFromEightThreadsKeepEachThreadsOrder() async throws {
        let pair = try ConnectedPair(.unix)
        let socket = pair.socket
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask { for index in 0..<100 { socket.write([UInt8(thread), UInt8(index)]) } }
            }
        }
        let bytes = try pair.peerReceives(1_600)
        for thread in 0..<8 {
            let own = stride(from: 0, to: bytes.count, by: 2).filter { bytes[$0] == thread }.map { bytes[$0 + 1] }
            #expect(own == (0..<100).map { UInt8($0) })
        }
    }
}
