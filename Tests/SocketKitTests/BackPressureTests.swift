import Dispatch
import SocketKit
import SocketTestSupport
import Testing

/// What waits for a delegate's queue is bounded by the memory that it takes up, however small its pieces are.
@Suite(.timeLimit(.minutes(10))) struct BackPressureTests {
    /// A queue that does nothing until it is opened.
    private final class Gate: Sendable {
        let queue = DispatchQueue(label: "delegate")
        private let semaphore = DispatchSemaphore(value: 0)
        init() { queue.async { [semaphore] in semaphore.wait() } }
        func open() { semaphore.signal() }
    }

    private static let limit = 1 << 20

    @Test("lines of one byte are held back by what they take up", arguments: [true, false])
    func smallLines(closes: Bool) throws {
        let pair = try ConnectedPair()
        let gate = Gate()
        pair.socket.delegateQueue = gate.queue
        pair.socket.read(ReadRequest(.delimiter([10], limit: nil), isStanding: true))
        let count = 100_000
        try pair.peerSends([UInt8](repeating: 10, count: count))
        if closes { pair.peerShutsWrite() }
        #expect(eventually { pair.picture?.isHeldBack == true })
        let waiting = try #require(pair.picture?.callbacks?.undelivered)
        #expect(waiting > Self.limit && waiting < Self.limit + 1_000)
        #expect(pair.recorder.received.isEmpty)
        gate.open()
        #expect(eventually { pair.recorder.received.count == count })
        if closes { #expect(eventually { pair.recorder.isDisconnected }) }
    }

    @Test func aReadThatIsCompleteButHeldBackDoesNotStopTheEngineWhenItsTimeComes() throws {
        let pair = try ConnectedPair()
        let gate = Gate()
        pair.socket.delegateQueue = gate.queue
        pair.socket.read(
            ReadRequest(.delimiter([10], limit: nil), timeout: .milliseconds(20), isStanding: true))
        let count = 100_000
        try pair.peerSends([UInt8](repeating: 10, count: count))
        #expect(eventually { pair.picture?.isHeldBack == true })
        let completed = try #require(pair.picture?.reading.completed)
        #expect(eventually { pair.picture.map { $0.reading.completed > completed } ?? false })
        gate.open()
        #expect(eventually { pair.recorder.received.count == count })
    }

    @Test func partialReportsOfALongReadAreHeldBackToo() throws {
        let kernel = FaultyKernel()
        let pair = try ConnectedPair(engine: SocketEngine.with(kernel: kernel))
        let gate = Gate()
        pair.socket.delegateQueue = gate.queue
        let count = 20_000
        pair.socket.read(ReadRequest(.length(count)))
        kernel.limitReceives(to: 1)
        try pair.peerSends([UInt8](repeating: 1, count: count))
        #expect(eventually { pair.picture?.isHeldBack == true })
        let picture = try #require(pair.picture)
        #expect(picture.received < 12_000)
        gate.open()
        #expect(eventually { pair.recorder.received.count == count })
    }

    @Test func withoutADelegateQueueNothingIsHeldBackAndAllComesInOrder() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.delimiter([10], limit: nil), isStanding: true))
        try pair.peerSends([UInt8](repeating: 10, count: 60_000))
        #expect(eventually { pair.recorder.received.count == 60_000 })
        #expect(pair.picture?.isHeldBack == false && pair.picture?.callbacks?.undelivered == 0)
    }

    @Test func connectionsWaitInTheKernelWhileTheDelegatesQueueIsBlocked() throws {
        let engine = SocketEngine()
        let gate = Gate()
        let accepting = Recorder()
        let listener = SocketListener(engine: engine, delegate: accepting, delegateQueue: gate.queue)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.localAddress?.port)
        let count = 500
        let clients = SocketEngine()
        let sockets = (0..<count).map { _ in AsyncSocket(engine: clients) }
        for socket in sockets { try socket.connect(toHost: "127.0.0.1", port: port) }
        #expect(eventually { engine.picture(of: listener.session)?.isHeldBack == true })
        #expect(eventually { sockets.allSatisfy(\.isConnected) })
        let picture = try #require(engine.picture(of: listener.session))
        #expect(picture.accepted < 400 && !picture.isReadingPaused)
        #expect(picture.kernel?.receiveQueue ?? 0 > 0)
        gate.open()
        #expect(eventually { accepting.sockets.count == count })
        #expect(eventually { engine.picture(of: listener.session)?.isHeldBack == false })
    }

    @Test func aPauseByHandOutlivesBeingHeldBack() async throws {
        let engine = SocketEngine()
        let listener = SocketListener(engine: engine)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.localAddress?.port)
        let id = try #require(listener.session)
        var iterator = listener.connections.makeAsyncIterator()
        let clients = (0..<40).map { _ in AsyncSocket(engine: engine) }
        for client in clients { try client.connect(toHost: "127.0.0.1", port: port) }
        #expect(await eventually { engine.picture(of: id)?.isHeldBack == true })
        engine.post(.pauseReading(id, true))
        let accepted = try #require(engine.picture(of: id)?.accepted)
        for _ in 0..<accepted { _ = try await iterator.next() }
        let picture = try #require(engine.picture(of: id))
        #expect(picture.isReadingPaused && !picture.isHeldBack && picture.accepted == accepted)
        engine.post(.pauseReading(id, false))
        for _ in accepted..<40 { _ = try await iterator.next() }
    }
}
