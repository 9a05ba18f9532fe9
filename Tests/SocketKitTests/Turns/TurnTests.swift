import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Reads again whenever it has read.
private final class Follower: AsyncSocketDelegate {
    let reads = Lock(0)

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        reads.withLock { $0 += 1 }
        socket.read(ReadRequest(.length(4_096)))
    }
}

/// What a turn carries out, and what makes one.
@Suite(.timeLimit(.minutes(10))) struct TurnTests {
    @Test func aTurnKeepsWithinItsBudget() throws {
        var budget = TurnBudget()
        (budget.jobs, budget.callbacks, budget.bytes) = (16, 8, 4_096)
        let engine = SocketEngine(
            EngineConfiguration(), kernel: LinuxKernel(), clock: SystemClock(), reactor: EpollReactor(),
            resolver: SystemResolver(), budget: budget)
        let (one, other) = (try ConnectedPair(engine: engine), try ConnectedPair(engine: engine))
        let count = 2_000
        for tag in 0..<count {
            one.socket.write([UInt8(truncatingIfNeeded: tag)], tag: tag)
            other.socket.read(ReadRequest(.length(1), tag: tag))
        }
        try other.peerSends((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        var turns: [TurnTally] = []
        #expect(
            eventually {
                turns.append(engine.lastTurn)
                return one.recorder.calls.count == count + 1 && other.recorder.calls.count == count + 1
            })
        #expect(turns.allSatisfy { $0.jobs <= 16 && $0.callbacks <= 8 }, "\(turns)")
        let reads = (0..<count).map { Recorder.Call.read([UInt8(truncatingIfNeeded: $0)], tag: $0) }
        #expect(Array(other.recorder.calls.dropFirst()) == reads)
        #expect(try one.peerReceives(count) == (0..<count).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test func readsThatFollowAFullOneNeedNoOtherReport() throws {
        let (pair, follower) = (try ConnectedPair(.unix), Follower())
        let engine = pair.engine
        pair.socket.delegate = follower
        pair.socket.read(ReadRequest(.length(4_096)))
        let before = engine.snapshot().counters.readinessEvents
        engine.queue.suspend()
        try pair.peerSends([UInt8](repeating: 7, count: 8 * 4_096))
        engine.queue.resume()
        #expect(eventually { follower.reads.withLock { $0 } == 8 })
        #expect(engine.snapshot().counters.readinessEvents == before + 1)
    }

    @Test func aTurnThatWasInterruptedByAHangUpGoesOn() throws {
        var budget = TurnBudget()
        budget.bytes = 1_024
        let engine = SocketEngine(
            EngineConfiguration(), kernel: LinuxKernel(), clock: SystemClock(), reactor: EpollReactor(),
            resolver: SystemResolver(), budget: budget)
        let pair = try ConnectedPair(.unix, engine: engine)
        let bytes = [UInt8](repeating: 7, count: 100_000)
        engine.queue.sync {
            try? pair.peerSends(bytes)
            pair.closePeer()
            pair.socket.read(ReadRequest(.length(bytes.count)))
        }
        #expect(eventually { pair.recorder.calls.last == .disconnected(.closedByPeer) })
        #expect(pair.recorder.received == bytes)
    }

    @Test func threadsThatPostWithoutPauseKeepNobodyFromTheEngine() throws {
        let engine = SocketEngine()
        let (pair, other) = (try ConnectedPair(engine: engine), try ConnectedPair(engine: engine))
        let busy = other.socket
        pair.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
        let isDone = Lock(false)
        let threads = (0..<2).map { DispatchQueue(label: "posts \($0)") }
        for thread in threads {
            thread.async {
                while !isDone.withLock({ $0 }) { busy.setTimeout(nil, of: OperationID(0)) }
            }
        }
        for number in 1...20 {
            try pair.peerSends([UInt8(number)])
            #expect(eventually { pair.recorder.received.count == number })
            #expect(pair.socket.isConnected)
        }
        isDone.withLock { $0 = true }
        for thread in threads { thread.sync {} }
    }

    @Test func anErrorQueueEndsNothing() throws {
        let pair = try ConnectedPair()
        // SO_TIMESTAMPING: TX_SOFTWARE, SOFTWARE and TX_ACK; the stamps come by the error queue.
        let status = pair.socket.withDescriptor { descriptor -> Int32 in
            var flags: UInt32 = 2 | 16 | 512
            return setsockopt(descriptor, SOL_SOCKET, 37, &flags, socklen_t(MemoryLayout<UInt32>.size))
        }
        try #require(status == 0)
        pair.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
        pair.socket.write([1, 2, 3])
        #expect(try pair.peerReceives(3) == [1, 2, 3])
        for count in 1...5 {
            try pair.peerSends([4])
            #expect(eventually { pair.recorder.received.count == count })
        }
        #expect(isQuiet(pair.engine))
        pair.closePeer()
        #expect(eventually { pair.recorder.calls.last == .disconnected(.closedByPeer) })
    }

    @Test func allBytesBeforeAnErrorGoToTheReadsThatWantThem() throws {
        let kernel = FaultyKernel()
        let pair = try ConnectedPair(engine: SocketEngine.with(kernel: kernel))
        let count = 100
        for tag in 0..<count { pair.socket.read(ReadRequest(.length(1), tag: tag)) }
        #expect(pair.socket.isConnected)
        try pair.engine.queue.sync {
            let sent = pair.socket.withDescriptor { descriptor -> Int in
                var flags: UInt32 = 2 | 16 | 512
                setsockopt(descriptor, SOL_SOCKET, 37, &flags, socklen_t(MemoryLayout<UInt32>.size))
                return send(descriptor, "x", 1, 0)
            }
            #expect(sent == 1)
            kernel.fail(.pendingError, with: [ECONNABORTED])
            try pair.peerSends([UInt8](repeating: 7, count: count))
        }
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.received.count == count)
        #expect(pair.recorder.lastError?.reason == .system(errno: ECONNABORTED))
    }

    @Test func anErrorQueueEndsNoDatagramSocket() throws {
        let (engine, recorder) = (SocketEngine(), DatagramRecorder())
        let socket = DatagramSocket(engine: engine, delegate: recorder)
        try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        try socket.beginReceiving()
        let own = try #require(socket.localAddress?.port)
        socket.withDescriptors { descriptors in
            for descriptor in descriptors {
                var flags: UInt32 = 2 | 16
                setsockopt(descriptor, SOL_SOCKET, 37, &flags, socklen_t(MemoryLayout<UInt32>.size))
            }
        }
        for count in 1...20 {
            socket.send([UInt8(count)], to: .udp(host: "127.0.0.1", port: own))
            #expect(eventually { recorder.datagrams.count == count })
        }
        #expect(!recorder.calls.contains { if case .closed = $0 { true } else { false } } && isQuiet(engine))
    }

    @Test func aDescriptorThatLivesOnElsewhereMakesNoTurns() throws {
        let reception = try Reception(accepting: Recorder())
        let peer = AsyncSocket(engine: SocketEngine(), delegate: Recorder())
        try peer.connect(toHost: "127.0.0.1", port: reception.port)
        #expect(eventually { reception.accepting.sockets.count == 1 })
        let socket = try #require(reception.accepting.sockets.first)
        let other = try #require(socket.withDescriptor { dup($0) })
        defer { close(other) }
        socket.disconnect()
        peer.write([1, 2, 3])
        #expect(isQuiet(reception.engine))
    }

    @Test func aDatagramDescriptorThatLivesOnElsewhereMakesNoTurns() throws {
        let engine = SocketEngine()
        let (socket, sender) = (DatagramSocket(engine: engine), DatagramSocket(engine: SocketEngine()))
        try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        try socket.beginReceiving()
        let port = try #require(socket.localAddress?.port)
        let other = try #require(socket.withDescriptors { $0.first.map { dup($0) } })
        defer { close(other) }
        socket.close()
        sender.send([1], to: .udp(host: "127.0.0.1", port: port))
        sender.engine.fence()
        #expect(isQuiet(engine))
    }

    /// Whether the engine makes no turns of itself.
    private func isQuiet(_ engine: SocketEngine) -> Bool {
        let before = engine.snapshot().counters.turns
        return !eventually(within: .milliseconds(200)) { engine.snapshot().counters.turns > before + 2_000 }
    }

    /// Goes a little behind the clock that the kernel's timers follow.
    private final class LaggingClock: EngineClock {
        private let clock = SystemClock()
        var now: MonotonicTime { clock.now + .milliseconds(-5) }
        var wallNanoseconds: Int64 { clock.wallNanoseconds }
    }

    @Test func aTimerThatComesBeforeTheClockSaysSoIsNotLost() throws {
        let engine = SocketEngine(
            EngineConfiguration(), kernel: LinuxKernel(), clock: LaggingClock(), reactor: EpollReactor(),
            resolver: SystemResolver())
        let pair = try ConnectedPair(engine: engine)
        pair.socket.read(ReadRequest(.length(1), timeout: .milliseconds(20), tag: 1))
        #expect(eventually { pair.recorder.calls.last == .disconnected(.readTimeout) })
    }
}
