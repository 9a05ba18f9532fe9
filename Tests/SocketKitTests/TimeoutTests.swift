import SocketKit
import SocketTestSupport
import Testing

@Suite struct TimeoutTests {
    @Test func aReadThatNobodyExtendsFailsAndCloses() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(4), timeout: .milliseconds(50), tag: 1))
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(
            pair.recorder.calls == [
                .connected, .timedOut(tag: 1, done: 0), .failed(tag: 1, .readTimeout, done: 0),
                .disconnected(.readTimeout),
            ])
    }

    @Test func anExtendedReadIsAskedAgainWithAllTheTimeItHad() throws {
        let recorder = Recorder(verdict: { $0.elapsed < .milliseconds(50) ? .extend(by: .milliseconds(60)) : .close })
        let pair = try ConnectedPair(recorder: recorder)
        pair.socket.read(ReadRequest(.length(4), timeout: .milliseconds(40), tag: 1))
        try pair.peerSends("ab")
        #expect(eventually { recorder.isDisconnected })
        #expect(recorder.timeouts.map(\.elapsed) == [.milliseconds(40), .milliseconds(100)])
        #expect(recorder.failures.first?.bytes == Array("ab".utf8))
    }

    @Test func aPersonMayAnswerLaterAndKeepTheConnection() throws {
        let recorder = Recorder(verdict: { _ in .later })
        let pair = try ConnectedPair(recorder: recorder)
        pair.socket.read(ReadRequest(.length(4), timeout: .milliseconds(20), tag: 1))
        #expect(eventually { !recorder.timeouts.isEmpty })
        try pair.peerSends("abcd")
        let asking = try #require(pair.engine.snapshot().sockets.first)
        #expect(asking.flags.contains(.readsPaused) && asking.reading.current?.isAsking == true)
        #expect(recorder.received.isEmpty)
        let operation = try #require(recorder.timeouts.first?.operation)
        pair.engine.post(.answerTimeout(asking.id, operation, .failOperation))
        pair.socket.read(ReadRequest(.length(4), tag: 2))
        #expect(eventually { recorder.received == Array("abcd".utf8) })
        #expect(recorder.calls.contains(.failed(tag: 1, .readTimeout, done: 0)))
        // The same verdict once more hits nothing.
        pair.engine.post(.answerTimeout(asking.id, operation, .close))
        #expect(pair.socket.isConnected)
    }

    @Test func aWriteToAStalledPeerTimesOutWithWhatWentOut() throws {
        let pair = try ConnectedPair(.unix)
        let bytes = [UInt8](repeating: 1, count: 8_000_000)
        pair.socket.write(bytes, timeout: .milliseconds(50), tag: 3)
        #expect(eventually { pair.recorder.isDisconnected })
        let failed = try #require(pair.recorder.failures.first)
        #expect(failed.done > 0 && failed.done < bytes.count && failed.total == bytes.count)
        #expect(pair.recorder.lastError?.reason == .writeTimeout)
    }

    @Test func theClockOfASecondReadStartsWhenTheFirstIsDone() throws {
        let clock = ManualClock()
        let engine = SocketEngine(
            EngineConfiguration(), kernel: LinuxKernel(), clock: clock, reactor: EpollReactor(),
            resolver: SystemResolver())
        let pair = try ConnectedPair(engine: engine)
        pair.socket.read(ReadRequest(.length(1), timeout: .seconds(30), tag: 1))
        pair.socket.read(ReadRequest(.length(1), timeout: .seconds(30), tag: 2))
        let begun = try #require(engine.snapshot().sockets.first?.reading.current?.deadline)
        #expect(begun == clock.now + .seconds(30))
        clock.advance(by: .seconds(25))
        try pair.peerSends("a")
        #expect(eventually { pair.recorder.received.count == 1 })
        #expect(engine.snapshot().sockets.first?.reading.current?.deadline == clock.now + .seconds(30))
    }
}
