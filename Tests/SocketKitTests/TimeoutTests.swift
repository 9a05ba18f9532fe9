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
}
