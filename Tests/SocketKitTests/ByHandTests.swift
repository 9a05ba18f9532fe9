import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// What a person at a screen does to a connection or a listener that lives.
@Suite(.timeLimit(.minutes(10))) struct ByHandTests {
    private func picture(_ engine: SocketEngine) -> SocketSnapshot? { engine.snapshot().sockets.first }

    @Test func aReadWithoutATimeoutIsGivenOneThatIsUpAlreadyAndTimesOut() throws {
        let pair = try ConnectedPair(recorder: Recorder(verdict: { _ in .failOperation }))
        let read = pair.socket.read(ReadRequest(.length(4), tag: 7))
        #expect(picture(pair.engine)?.reading.current?.deadline == nil)
        pair.socket.setTimeout(.milliseconds(1), of: read)
        #expect(eventually { pair.recorder.failures.map(\.tag) == [7] })
        #expect(pair.recorder.failures.first?.error.reason == .readTimeout)
        #expect(pair.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.contains { $0.kind == .timeoutChanged })
    }

    @Test func aTimeoutIsTakenAwayInHandAndWhileWaiting() throws {
        let pair = try ConnectedPair()
        let first = pair.socket.read(ReadRequest(.length(4), timeout: .seconds(3_600), tag: 1))
        let second = pair.socket.read(ReadRequest(.length(4), timeout: .seconds(3_600), tag: 2))
        pair.socket.setTimeout(nil, of: first)
        pair.socket.setTimeout(.seconds(5), of: second)
        let reading = try #require(picture(pair.engine)).reading
        #expect(reading.current?.timeout == nil && reading.current?.deadline == nil)
        #expect(reading.pending.map(\.timeout) == [.seconds(5)])
    }

    @Test func aWriteThatWaitsIsGivenATimeout() throws {
        let pair = try ConnectedPair(.unix, recorder: Recorder(verdict: { _ in .later }))
        pair.socket.write([UInt8](repeating: 1, count: 4_000_000), tag: 1)
        let second = pair.socket.write([2], tag: 2)
        pair.socket.setTimeout(.seconds(9), of: second)
        #expect(picture(pair.engine)?.writing.pending.map(\.timeout) == [.seconds(9)])
    }

    @Test func anOperationThatAsksKeepsItsTime() throws {
        let pair = try ConnectedPair(recorder: Recorder(verdict: { _ in .later }))
        let read = pair.socket.read(ReadRequest(.length(4), timeout: .milliseconds(5)))
        #expect(eventually { pair.recorder.timeouts.count == 1 })
        pair.socket.setTimeout(.seconds(60), of: read)
        let current = try #require(picture(pair.engine)?.reading.current)
        #expect(current.isAsking && current.timeout == .milliseconds(5))
    }

    @Test func aHoldingListenerTakesOneRefusesOneAndThenTakesTheRest() throws {
        var configuration = SocketConfiguration()
        configuration.startsWithAcceptingPaused = true
        let engine = SocketEngine()
        let accepting = Recorder()
        let listener = SocketListener(engine: engine, delegate: accepting, configuration: configuration)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let id = try #require(listener.session)
        let recorders = (0..<3).map { _ in Recorder() }
        var clients: [AsyncSocket] = []
        for recorder in recorders {
            let client = AsyncSocket(engine: SocketEngine(), delegate: recorder)
            try client.connect(toHost: "127.0.0.1", port: try #require(listener.localAddress?.port))
            client.read(ReadRequest(.length(1)))
            clients.append(client)
            #expect(eventually { recorder.calls == [.connected] })
        }
        func waiting() -> Int? {
            engine.snapshot(SnapshotRequest(kernel: .all)).sockets.first { $0.id == id }?.kernel?.receiveQueue
        }
        #expect(eventually { waiting() == 3 })
        #expect(accepting.calls.isEmpty && picture(engine)?.isReadingPaused == true)
        engine.post(.answerConnection(id, .accept))
        #expect(eventually { accepting.calls == [.accepted] && waiting() == 2 })
        engine.post(.answerConnection(id, .refuse))
        #expect(eventually { recorders[1].calls.last == .disconnected(.system(errno: ECONNRESET)) })
        #expect(waiting() == 1 && picture(engine)?.accepted == 1)
        #expect(engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.contains { $0.kind == .connectionRefused })
        engine.post(.pauseReading(id, false))
        #expect(eventually { accepting.calls == [.accepted, .accepted] })
        engine.post(.answerConnection(id, .accept))
        engine.fence()
        #expect(picture(engine)?.accepted == 2, "nobody waits, so nothing happens")
    }

    @Test func marksAreSetOnAConnectionThatLives() throws {
        let pair = try ConnectedPair(.unix)
        let id = try #require(pair.socket.session)
        let bytes = [UInt8](repeating: 1, count: 2_000_000)
        pair.socket.write(bytes)
        #expect(picture(pair.engine)?.watermarks == nil)
        pair.engine.post(.setWatermarks(id, Watermarks(low: 1_000, high: 100_000)))
        #expect(picture(pair.engine)?.isAboveHighMark == true)
        #expect(try pair.peerReceives(bytes.count).count == bytes.count)
        #expect(eventually { picture(pair.engine)?.isAboveHighMark == false })
        let kinds = pair.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.map(\.kind)
        #expect(kinds.filter { $0 == .aboveHighMark || $0 == .belowLowMark } == [.aboveHighMark, .belowLowMark])
    }

    @Test func aConnectionIsFoundByItsName() throws {
        let pair = try ConnectedPair()
        let id = try #require(pair.socket.session)
        #expect(pair.engine.socket(for: id) === pair.socket)
        pair.socket.disconnect()
        #expect(pair.engine.socket(for: id) == nil)
    }
}
