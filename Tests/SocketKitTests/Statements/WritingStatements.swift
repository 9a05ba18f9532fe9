import SocketKit
import SocketTestSupport
import Testing

/// Statements 67 to 70: what writes tell, and what becomes of them.
@Suite(.timeLimit(.minutes(10))) struct WritingStatements {
    @Test func statement067_writesArriveInOrderAndEachCompletesOnce() throws {
        let pair = try ConnectedPair()
        let parts = (1...100).map { [UInt8](repeating: UInt8($0), count: $0) }
        for (index, part) in parts.enumerated() { pair.socket.write(part, tag: index + 1) }
        #expect(try pair.peerReceives(5_050) == parts.flatMap(\.self))
        #expect(eventually { pair.recorder.calls.count == 101 })
        #expect(pair.recorder.calls == [.connected] + (1...100).map { .wrote(tag: $0) })
    }

    @Test func statement068_aLongWriteReportsItsPartsAndTheyAddUp() throws {
        var configuration = SocketConfiguration()
        configuration.options.sendBuffer = 8_192
        let pair = try ConnectedPair(.unix, configuration: configuration)
        let bytes = (0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        pair.socket.write(bytes, tag: 3)
        #expect(eventually { pair.picture?.flags.contains(.socketCanAcceptBytes) == false })
        var progress: [Int] = []
        var received: [UInt8] = []
        while received.count < bytes.count {
            if let picture = pair.picture, let current = picture.writing.current {
                progress.append(current.done)
                #expect(current.total == bytes.count && current.done == Int(picture.sent))
                #expect(picture.writing.pendingBytes == bytes.count - current.done)
            }
            received += try pair.peerReceives(1_000_000)
        }
        #expect(received == bytes)
        #expect(progress.count > 1 && progress == progress.sorted() && progress.allSatisfy { $0 < bytes.count })
        #expect(eventually { pair.recorder.calls.last == .wrote(tag: 3) })
        let parts = pair.recorder.calls.dropFirst().dropLast()
        let sum = parts.reduce(0) { if case .wrotePartial(let count, 3) = $1 { $0 + count } else { -bytes.count } }
        #expect(sum > 0 && sum < bytes.count, "the rest is what the completion stands for")
    }

    @Test func statement069_aDelegateThatAlwaysWritesStarvesNeitherReadsNorTheQueue() throws {
        let recorder = Recorder(onCall: { socket, call in
            if case .wrote = call { socket.write([UInt8](repeating: 1, count: 1_000)) }
        })
        let pair = try ConnectedPair(.unix, recorder: recorder)
        let ran = Lock(false)
        pair.socket.read(ReadRequest(.length(1), tag: 1))
        // Two writes are always under way, and the peer takes what comes.
        for _ in 0..<2 { pair.socket.write([UInt8](repeating: 1, count: 1_000)) }
        _ = try pair.peerReceives(100_000)
        pair.engine.queue.async { ran.withLock { $0 = true } }
        try pair.peerSends("x")
        #expect(
            try eventually {
                _ = try pair.peerReceives(10_000)
                return recorder.calls.contains(.text("x", tag: 1)) && ran.withLock { $0 }
            })
        pair.socket.disconnect()
    }

    @Test func statement070_aWriteAfterAResetEndsInAnErrorAndNotInASignal() throws {
        let pair = try ConnectedPair()
        try pair.peerSends("unread, so that the reset is not noticed by reading")
        #expect(eventually { pair.picture?.flags.contains(.readSourceSuspended) == true })
        pair.closePeer(reset: true)
        pair.socket.write([1], tag: 1)
        #expect(eventually { pair.recorder.isDisconnected })
        let reason = try #require(pair.recorder.lastError?.reason)
        #expect([.system(errno: 32), .system(errno: 104)].contains(reason))
        #expect(pair.recorder.calls == [.connected, .failed(tag: 1, reason, done: 0), .disconnected(reason)])
    }
}
