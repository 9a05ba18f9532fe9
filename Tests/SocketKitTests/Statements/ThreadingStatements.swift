import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Statements 105 to 109: queues, threads, and how long things live.
@Suite(.timeLimit(.minutes(10))) struct ThreadingStatements {
    /// Asks all that can be asked of a connected socket.
    @Sendable private static func answers(_ socket: AsyncSocket) -> Bool {
        let description = socket.description
        socket.userData = socket.configuration.name
        return socket.isConnected && !socket.isDisconnected && socket.session != nil && socket.peerAddress != nil
            && socket.localAddress != nil && socket.pendingWriteBytes >= 0 && description.contains("connected")
            && socket.delegate != nil && socket.withDescriptor { $0 >= 0 } == true
            && socket.engine.snapshot().sockets.contains { $0.id == socket.session }
    }

    @Test func statement105_callbacksComeOnTheDelegateQueueAndGettersAnswerEverywhere() async throws {
        let (queue, key) = (DispatchQueue(label: "delegate"), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        let places = Lock<[Bool]>([])
        let recorder = Recorder(onCall: { socket, _ in
            let isRight = DispatchQueue.getSpecific(key: key) == true && Self.answers(socket)
            places.withLock { $0.append(isRight) }
        })
        let reception = try Reception(accepting: Recorder(onAccept: { $0.write([1, 2]) }))
        let socket = AsyncSocket(engine: reception.engine, delegate: recorder, delegateQueue: queue)
        try socket.connect(toHost: "127.0.0.1", port: reception.port)
        func read(tag: Int) { socket.read(ReadRequest(.length(1), tag: tag)) }
        (1...2).forEach(read)
        socket.write([1], tag: 3)
        #expect(await eventually { places.withLock { $0 } == [true, true, true, true] })
        #expect(recorder.calls.first == .connected)
        let (engine, target) = (reception.engine, DispatchQueue(label: "targets", target: reception.engine.queue))
        let fromQueues = [
            engine.queue.sync { engine.isOnQueue && Self.answers(socket) },
            target.sync { engine.isOnQueue && Self.answers(socket) }, queue.sync { Self.answers(socket) },
        ]
        #expect(fromQueues == [true, true, true])
        #expect(await MainActor.run { Self.answers(socket) })
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { (0..<100).allSatisfy { _ in Self.answers(socket) } } }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test func statement106_twoSocketsOfOneEngineTalkToEachOther() throws {
        let engine = SocketEngine()
        let rounds = 1_000
        // Each returns what it gets, one higher, until the number is reached.
        let play: @Sendable (AsyncSocket, Recorder.Call) -> Void = { socket, call in
            guard case .read(_, let tag) = call, tag < rounds else { return }
            socket.write([UInt8(truncatingIfNeeded: tag)])
            socket.read(ReadRequest(.length(1), tag: tag + 1))
        }
        let (one, other) = (Recorder(onCall: play), Recorder(onCall: play))
        let accepting = Recorder(onAccept: { socket in
            socket.delegate = other
            socket.read(ReadRequest(.length(1), tag: 1))
        })
        let reception = try Reception(engine: engine, accepting: accepting)
        let socket = try reception.connect(one)
        socket.write([0])
        socket.read(ReadRequest(.length(1), tag: 1))
        let expected = (0..<rounds).map { UInt8(truncatingIfNeeded: $0) }
        #expect(eventually { other.received.count == rounds })
        #expect(other.received == expected)
        #expect(one.received == Array(expected.dropFirst()))
        #expect(engine.snapshot().sockets.allSatisfy { $0.phase != .closed })
    }

    @Test(arguments: ConnectedPair.Family.allCases)
    func statement107_theDescriptorIsLentOnTheEnginesQueue(_ family: ConnectedPair.Family) throws {
        let pair = try ConnectedPair(family)
        let engine = pair.engine
        let found = pair.socket.withDescriptor { descriptor -> (Int32, Bool) in
            var (domain, length) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
            getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length)
            return (domain, engine.isOnQueue)
        }
        #expect(found?.0 == (family == .tcp ? AF_INET : AF_UNIX) && found?.1 == true)
        let fromTheQueue = engine.queue.sync { pair.socket.withDescriptor { $0 } }
        #expect(fromTheQueue == pair.picture?.descriptor)
        #expect(throws: Stray.self) {
            try pair.socket.withDescriptor { descriptor throws(Stray) in throw Stray(descriptor: descriptor) }
        }
        pair.socket.disconnect()
        let (ended, idle) = (pair.socket, AsyncSocket(engine: engine))
        let descriptors = [ended, idle].map { $0.withDescriptor { $0 } }
        #expect(descriptors == [nil, nil])
    }

    /// Stricter than the original: what was sent but has not begun does not reach the former delegate either, but the
    /// one that is there when it begins.
    @Test func statement108_aDelegateThatWasTakenAwayHearsNothingThatHasNotBegun() throws {
        let pair = try ConnectedPair()
        pair.engine.fence()
        let queue = DispatchQueue(label: "delegate")
        pair.socket.delegateQueue = queue
        queue.suspend()
        pair.socket.write([1], tag: 1)
        pair.engine.fence()
        pair.socket.delegate = nil
        pair.socket.write([2], tag: 2)
        pair.engine.fence()
        let second = Recorder()
        pair.socket.delegate = second
        pair.socket.disconnect()
        pair.engine.fence()
        queue.resume()
        queue.sync {}
        #expect(pair.recorder.calls == [.connected])
        #expect(second.calls == [.wrote(tag: 1), .wrote(tag: 2), .disconnected(nil)])
    }

    @Test func statement109_releasingTheLastReferenceClosesTheConnectionAndLeavesNothing() throws {
        let (kernel, time) = (FaultyKernel(), ManualTime())
        let engine = SocketEngine.with(kernel: kernel, time: time)
        let child = Recorder()
        let reception = try Reception(accepting: Recorder(onAccept: { $0.delegate = child }))
        let recorder = Recorder()
        var socket: AsyncSocket? = AsyncSocket(engine: engine, delegate: recorder)
        weak let observed = socket
        try socket?.connect(toHost: "127.0.0.1", port: reception.port)
        socket?.read(ReadRequest(.length(1), timeout: .seconds(1), tag: 1))
        #expect(eventually { recorder.calls == [.connected] && reception.accepting.sockets.count == 1 })
        socket = nil
        #expect(eventually { child.calls == [.disconnected(.closedByPeer)] })
        #expect(observed == nil)
        #expect(kernel.openDescriptors.isEmpty)
        time.pass(.seconds(3_600))
        #expect(recorder.calls == [.connected], "nobody is left to be told")
        #expect(engine.snapshot().sockets.allSatisfy { $0.phase == .closed })
    }
}

/// Thrown from within a loan.
private struct Stray: Error {
    let descriptor: Int32
}
