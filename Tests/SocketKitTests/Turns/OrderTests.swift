import Dispatch
import SocketKit
import SocketTestSupport
import Testing

/// The order of what is asked for, whatever user code runs in between.
@Suite(.timeLimit(.minutes(10))) struct OrderTests {
    @Test func whatIsWrittenWhileASocketMovesStaysInOrder() throws {
        let (one, other) = (SocketEngine(), SocketEngine())
        let pair = try ConnectedPair(engine: one)
        let socket = pair.socket
        // Another thread writes when all that was asked for is carried out, and the move has not happened yet.
        one.interleave { socket.write([2], tag: 2) }
        socket.write([1], tag: 1)
        try socket.move(to: other)
        one.interleave(nil)
        for byte in UInt8(3)...9 { socket.write([byte], tag: Int(byte)) }
        #expect(try pair.peerReceives(9) == Array(1...9))
        #expect(eventually { pair.recorder.calls.suffix(9) == (1...9).map { .wrote(tag: $0) } })
    }

    @Test func numbersOfOneThreadStayInOrderHoweverOftenTheSocketMoves() throws {
        let engines = [SocketEngine(), SocketEngine()]
        let pair = try ConnectedPair(engine: engines[0])
        let (socket, count) = (pair.socket, 20_000)
        let isDone = Lock(false)
        let moves = Lock(0)
        let (mover, writer) = (DispatchQueue(label: "moves"), DispatchQueue(label: "writes"))
        mover.async {
            while !isDone.withLock({ $0 }) {
                try? socket.move(to: engines[(moves.withLock { $0 } + 1) % 2])
                moves.withLock { $0 += 1 }
            }
        }
        writer.async {
            for number in 0..<count {
                socket.write([UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)])
            }
        }
        let bytes = try pair.peerReceives(2 * count)
        isDone.withLock { $0 = true }
        writer.sync {}
        mover.sync {}
        #expect(moves.withLock { $0 } > 0)
        let numbers = (0..<count).map { UInt16(truncatingIfNeeded: $0) }
        let received = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
        #expect(received == numbers)
        #expect(pair.recorder.failures.isEmpty)
    }

    @Test func operationsOfTwoEnginesNeverShareAName() {
        let sockets = [AsyncSocket(engine: SocketEngine()), AsyncSocket(engine: SocketEngine())]
        let names = (0..<20).map { sockets[$0 % 2].write([1]) }
        #expect(Set(names).count == 20)
    }

    @Test func workRunsAsCallbacksDoBehindWhatWasPostedBefore() throws {
        let pair = try ConnectedPair(engine: SocketEngine())
        let (engine, socket) = (pair.engine, pair.socket)
        let seen = Lock<[String]>([])
        engine.queue.sync {
            socket.write([1], tag: 1)
            engine.post { seen.withLock { $0.append("\(engine.isOnQueue), \(socket.pendingWriteBytes)") } }
            engine.requestSnapshot(SnapshotRequest()) { _ in seen.withLock { $0.append("snapshot") } }
            engine.post {
                socket.write([3])
                engine.post { seen.withLock { $0.append("later") } }
                // What waits is not run within a call.
                _ = socket.isConnected
                seen.withLock { $0.append("more") }
            }
            socket.write([2])
        }
        #expect(try pair.peerReceives(3) == [1, 2, 3])
        #expect(eventually { seen.withLock { $0.count } == 4 })
        #expect(seen.withLock { $0 } == ["true, 0", "snapshot", "more", "later"])
    }

    @Test func userCodeThatPreparesADescriptorOvertakesNothing() throws {
        let engine = SocketEngine()
        let reception = try Reception(engine: engine, accepting: Recorder())
        let pair = try ConnectedPair(engine: engine)
        let writer = pair.socket
        var configuration = SocketConfiguration()
        configuration.prepareDescriptor = { _, _ in
            writer.write([2])
            _ = writer.isConnected
        }
        let client = AsyncSocket(engine: engine, delegate: Recorder(), configuration: configuration)
        try engine.queue.sync {
            try client.connect(toHost: "127.0.0.1", port: reception.port)
            writer.write([1])
        }
        #expect(try pair.peerReceives(2) == [1, 2])
    }

    @Test func nothingIsAcceptedAfterUserCodeHasStoppedTheListener() throws {
        let engine = SocketEngine()
        let recorder = Recorder()
        let stopping = Lock<SocketListener?>(nil)
        var configuration = SocketConfiguration()
        configuration.prepareDescriptor = { _, _ in stopping.withLock { $0 }?.stop() }
        let listener = SocketListener(engine: engine, delegate: recorder, configuration: configuration)
        stopping.withLock { $0 = listener }
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.localAddress?.port)
        let (elsewhere, connecting) = (SocketEngine(), Recorder())
        let clients = (0..<5).map { _ in AsyncSocket(engine: elsewhere, delegate: connecting) }
        // All of them wait in the backlog when the listener looks there.
        try engine.queue.sync {
            for client in clients { try client.connect(toHost: "127.0.0.1", port: port) }
            #expect(eventually { connecting.calls.filter { $0 == .connected }.count == 5 })
        }
        #expect(eventually { recorder.calls.contains(.stopped) })
        engine.fence()
        #expect(recorder.calls == [.stopped])
        let counters = engine.snapshot().counters
        #expect(counters.opened == counters.closed)
        withExtendedLifetime(clients) {}
        stopping.withLock { $0 = nil }
    }

    @Test func aConnectThatUserCodeEndsLeavesNoDescriptor() throws {
        let kernel = FaultyKernel()
        let engine = SocketEngine.with(kernel: kernel)
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        socket.configuration.prepareDescriptor = { [weak socket] _, _ in socket?.disconnect() }
        try socket.connect(toHost: "127.0.0.1", port: 9)
        #expect(eventually { recorder.calls == [.disconnected(nil)] })
        engine.fence()
        #expect(kernel.openDescriptors.isEmpty)
    }

    @Test func callbacksMayUseQueuesOfTheirOwnBySync() throws {
        let engine = SocketEngine()
        let mine = DispatchQueue(label: "mine")
        let isConnected = Lock<[Bool]>([])
        let ask: @Sendable (AsyncSocket) -> Void = { socket in
            let answer = mine.sync { engine.isOnQueue && socket.isConnected }
            isConnected.withLock { $0.append(answer) }
        }
        let pair = try ConnectedPair(
            engine: engine,
            recorder: Recorder(onCall: { socket, call in
                if case .read = call { ask(socket) }
            }))
        pair.socket.read(ReadRequest(.length(1)))
        try pair.peerSends("x")
        #expect(eventually { isConnected.withLock { $0 } == [true] })
        _ = pair.socket.withDescriptor { _ in ask(pair.socket) }
        #expect(isConnected.withLock { $0 } == [true, true])
    }

    @Test func filtersMayUseQueuesOfTheirOwnBySync() throws {
        let engine = SocketEngine()
        let mine = DispatchQueue(label: "mine")
        let recorder = DatagramRecorder()
        let socket = DatagramSocket(engine: engine, delegate: recorder)
        socket.configuration.prepareDescriptor = { [weak socket] _ in _ = mine.sync { socket?.pendingCount } }
        try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        let own = try #require(socket.localAddress?.port)
        let asked = Lock(0)
        socket.sendFilter = DatagramSendFilter { [weak socket] _, _, _ in
            let pending = mine.sync { socket?.pendingCount ?? 0 }
            asked.withLock { $0 += pending }
            return true
        }
        socket.receiveFilter = DatagramReceiveFilter { [weak socket] _ in
            _ = mine.sync { socket?.isClosed }
            return .pass(context: nil)
        }
        try socket.beginReceiving()
        socket.send([1], to: .udp(host: "127.0.0.1", port: own))
        socket.send([2], to: .udp(host: "127.0.0.1", port: own))
        #expect(eventually { recorder.datagrams.map(\.bytes) == [[1], [2]] })
        #expect(asked.withLock { $0 } >= 2)
    }

    @Test func closeAfterSendingCountsWhatWasSentBefore() throws {
        let recorder = DatagramRecorder()
        let target = DatagramSocket(engine: SocketEngine())
        try target.bind(to: .udp(host: "127.0.0.1", port: 0))
        let port = try #require(target.localAddress?.port)
        let socket = DatagramSocket(engine: SocketEngine(), delegate: recorder)
        // Its session begins with the first datagram, which the engine has not seen yet.
        socket.send([1], to: .udp(host: "127.0.0.1", port: port))
        socket.closeAfterSending()
        #expect(eventually { socket.session == nil && recorder.calls.contains(.closed(nil)) })
    }
}
