import Dispatch
import SocketKit
import SocketTestSupport
import Testing

/// Statements 59 to 66: what becomes of operations whose time is up. Time passes only when it is told to.
@Suite(.timeLimit(.minutes(10))) struct TimeoutStatements {
    private let time = ManualTime()

    private func makePair(
        _ family: ConnectedPair.Family = .tcp, _ recorder: Recorder = Recorder()
    ) throws -> ConnectedPair {
        let pair = try ConnectedPair(family, engine: SocketEngine.with(time: time), recorder: recorder)
        pair.engine.fence()
        return pair
    }

    @Test func statement059_withoutAHookATimeoutFailsTheReadAndCloses() throws {
        let pair = try makePair()
        let plain = Plain()
        pair.socket.delegate = plain
        pair.socket.read(ReadRequest(.length(4), timeout: .milliseconds(200), tag: 1))
        pair.engine.fence()
        time.pass(.milliseconds(199))
        #expect(plain.words == [])
        time.pass(.milliseconds(1))
        #expect(plain.words == ["failed 4", "disconnected 4"])
    }

    @Test func statement060_anExtendedReadIsAskedAgainWithAllTheTimeItHad() throws {
        let verdicts = Lock<[Duration]>([.milliseconds(300), .zero])
        let recorder = Recorder(verdict: { _ in .extend(by: verdicts.withLock { $0.removeFirst() }) })
        let pair = try makePair(.tcp, recorder)
        pair.socket.read(ReadRequest(.length(4), timeout: .milliseconds(200), tag: 1))
        try pair.peerSends("ab")
        #expect(eventually { recorder.calls == [.connected, .readPartial(2, tag: 1)] })
        time.pass(.milliseconds(200))
        #expect(recorder.timeouts.map(\.elapsed) == [.milliseconds(200)])
        time.pass(.milliseconds(299))
        #expect(recorder.timeouts.count == 1)
        time.pass(.milliseconds(1))
        #expect(recorder.timeouts.map(\.elapsed) == [.milliseconds(200), .milliseconds(500)])
        #expect(
            recorder.calls == [
                .connected, .readPartial(2, tag: 1), .timedOut(tag: 1, done: 2), .timedOut(tag: 1, done: 2),
                .failed(tag: 1, .readTimeout, done: 2), .disconnected(.readTimeout),
            ])
        #expect(recorder.failures.first?.bytes == Array("ab".utf8))
    }

    @Test func statement061_bytesThatCameWhileTheVerdictWasAwaitedCompleteTheExtendedRead() throws {
        let recorder = Recorder(verdict: { _ in .later })
        let pair = try makePair(.tcp, recorder)
        let operation = pair.socket.read(ReadRequest(.length(4), timeout: .milliseconds(200), tag: 1))
        pair.engine.fence()
        time.pass(.milliseconds(200))
        try pair.peerSends("abcd")
        #expect(pair.leavesInTheKernel(4))
        #expect(pair.picture?.flags.contains(.readsPaused) == true)
        #expect(recorder.calls == [.connected, .timedOut(tag: 1, done: 0)])
        pair.socket.answerTimeout(of: operation, .extend(by: .milliseconds(1)))
        #expect(eventually { recorder.calls.count == 3 })
        #expect(recorder.calls.last == .text("abcd", tag: 1))
        // The same verdict once more hits nothing.
        pair.socket.answerTimeout(of: operation, .close)
        #expect(pair.socket.isConnected)
    }

    @Test func statement062_theClockOfTheSecondReadStartsWhenTheFirstIsDone() throws {
        let pair = try makePair()
        for tag in 1...2 {
            pair.socket.read(ReadRequest(.length(1), timeout: .milliseconds(300), tag: tag))
        }
        pair.engine.fence()
        time.pass(.milliseconds(250))
        try pair.peerSends("a")
        #expect(eventually { pair.recorder.calls == [.connected, .text("a", tag: 1)] })
        time.pass(.milliseconds(299))
        #expect(pair.recorder.calls.count == 2)
        time.pass(.milliseconds(1))
        #expect(pair.recorder.timeouts.map(\.tag) == [2])
        #expect(pair.recorder.timeouts.map(\.elapsed) == [.milliseconds(300)])
    }

    @Test func statement063_noTimeIsEnoughForBytesThatAreThereAndForNoOthers() throws {
        let pair = try makePair(.unix)
        let line = ReadRequest.Kind.delimiter([10], limit: nil)
        pair.socket.read(ReadRequest(line, tag: 1))
        try pair.peerSends("l1\nl2\n")
        #expect(eventually { pair.recorder.calls == [.connected, .text("l1\n", tag: 1)] })
        pair.socket.read(ReadRequest(line, timeout: .zero, tag: 2))
        pair.engine.fence()
        time.pass(.zero)
        #expect(pair.recorder.calls == [.connected, .text("l1\n", tag: 1), .text("l2\n", tag: 2)])
        pair.socket.read(ReadRequest(line, timeout: .zero, tag: 3))
        pair.engine.fence()
        time.pass(.zero)
        #expect(
            pair.recorder.calls.dropFirst(3) == [
                .timedOut(tag: 3, done: 0), .failed(tag: 3, .readTimeout, done: 0), .disconnected(.readTimeout),
            ])
    }

    @Test func statement064_theTimeOfACompletedReadNeverComesUp() throws {
        let pair = try makePair()
        pair.socket.read(ReadRequest(.length(1), timeout: .milliseconds(200), tag: 1))
        try pair.peerSends("a")
        #expect(eventually { pair.recorder.calls == [.connected, .text("a", tag: 1)] })
        time.pass(.seconds(3_600))
        #expect(pair.recorder.calls.count == 2)
        #expect(pair.socket.isConnected)
    }

    @Test func statement065_aWriteToAStalledPeerTimesOutWithWhatWentOut() throws {
        let pair = try makePair(.unix)
        let bytes = [UInt8](repeating: 1, count: 8_000_000)
        pair.socket.write(bytes, timeout: .milliseconds(200), tag: 3)
        #expect(eventually { pair.picture?.flags.contains(.socketCanAcceptBytes) == false })
        pair.engine.fence()
        let done = try #require(pair.picture?.writing.current?.done)
        #expect(done > 0 && done < bytes.count)
        time.pass(.milliseconds(200))
        let parts = pair.recorder.calls.dropFirst().prefix { if case .wrotePartial = $0 { true } else { false } }
        #expect(parts.reduce(0) { if case .wrotePartial(let count, 3) = $1 { $0 + count } else { $0 } } == done)
        #expect(
            pair.recorder.calls.dropFirst(1 + parts.count) == [
                .timedOut(tag: 3, done: done), .failed(tag: 3, .writeTimeout, done: done),
                .disconnected(.writeTimeout),
            ])
        #expect(pair.recorder.lastError?.code == 5)
    }

    @Test func statement066_aVerdictOnAnOperationOfTheFormerSessionDoesNotTouchTheNext() throws {
        let goOn = DispatchSemaphore(value: 0)
        let recorder = Recorder(verdict: { _ in
            goOn.wait()
            return .close
        })
        let engine = SocketEngine.with(time: time)
        let reception = try Reception(engine: engine)
        let socket = AsyncSocket(
            engine: engine, delegate: recorder, delegateQueue: DispatchQueue(label: "delegate"))
        try socket.connect(toHost: "127.0.0.1", port: reception.port)
        let operation = socket.read(ReadRequest(.length(1), timeout: .seconds(1), tag: 1))
        #expect(eventually { recorder.calls == [.connected] })
        // The read is in hand for certain, so that its clock runs.
        engine.fence()
        time.pass(.seconds(1))
        #expect(eventually { recorder.timeouts.count == 1 })
        socket.disconnect()
        try socket.connect(toHost: "127.0.0.1", port: reception.port)
        socket.read(ReadRequest(.length(1), timeout: .seconds(10), tag: 2))
        goOn.signal()
        #expect(eventually { recorder.calls.last == .connected && reception.accepting.sockets.count == 2 })
        socket.answerTimeout(of: operation, .close)
        reception.accepting.sockets.last?.write([7])
        #expect(eventually { recorder.calls.last == .read([7], tag: 2) })
        #expect(
            recorder.calls == [
                .connected, .timedOut(tag: 1, done: 0), .failed(tag: 1, .disconnected, done: 0), .disconnected(nil),
                .connected, .read([7], tag: 2),
            ])
    }
}

/// A delegate that has no say in timeouts.
private final class Plain: AsyncSocketDelegate {
    private let state = Lock<[String]>([])
    var words: [String] { state.withLock { $0 } }

    func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) {
        state.withLock { $0.append("failed \(operation.error.code)") }
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        state.withLock { $0.append("disconnected \(error?.code ?? 0)") }
    }
}
