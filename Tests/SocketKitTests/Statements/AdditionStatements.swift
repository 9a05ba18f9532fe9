import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Statements 123 to 126 and 128: order across threads, and what outlives whom.
@Suite(.timeLimit(.minutes(10))) struct AdditionStatements {
    @Test(arguments: [false, true])
    func statement123_aWriteIsTriedBeforeTheDisconnectBehindIt(_ isOnQueue: Bool) throws {
        let pair = try ConnectedPair()
        pair.engine.fence()
        let socket = pair.socket
        let both = {
            socket.write(Array("bye".utf8), tag: 1)
            socket.disconnect()
        }
        if isOnQueue { pair.engine.queue.sync(execute: both) } else { both() }
        #expect(socket.isDisconnected)
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.calls == [.connected, .wrote(tag: 1), .disconnected(nil)])
        #expect(try pair.peerReceives(10) == Array("bye".utf8))
    }

    @Test func aWriteIsTriedBeforeTheReadThatFindsTheEnd() throws {
        let pair = try ConnectedPair()
        let (socket, line) = (pair.socket, ReadRequest(.delimiter([10], limit: 100)))
        socket.read(line)
        try pair.peerSends("a\nb\n")
        pair.peerShutsWrite()
        #expect(
            eventually {
                pair.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.contains { $0.kind == .peerClosed }
            })
        pair.engine.queue.sync {
            socket.write(Array("reply".utf8), tag: 1)
            socket.read(line)
        }
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.received == Array("a\nb\n".utf8) && pair.recorder.calls.contains(.wrote(tag: 1)))
        #expect(try pair.peerReceives(10) == Array("reply".utf8))
    }

    /// The second time the delegate is still busy with another connection.
    @Test(arguments: [false, true])
    func statement124_theEndOfAShortConnectionIsToldBehindItsBeginning(_ isBusy: Bool) throws {
        let (goOn, queue) = (DispatchSemaphore(value: 0), DispatchQueue(label: "delegate"))
        let words = Words()
        let children = Recorder(onCall: { _, call in words.append("\(call)") })
        let accepting = Recorder(onAccept: { socket in
            words.append("accepted")
            socket.delegate = children
            goOn.wait()
        })
        let reception = try Reception(accepting: accepting, delegateQueue: queue)
        if isBusy {
            try reception.connect()
            #expect(eventually { words.all == ["accepted"] })
        } else {
            queue.suspend()
        }
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let failure = LinuxKernel().connect(client, to: reception.address)
        close(client)
        // Both are decided before either is told.
        let isOver = eventually { reception.engine.snapshot().counters.closed == 1 }
        if !isBusy { queue.resume() }
        for _ in 0..<2 { goOn.signal() }
        #expect(failure == 0 && isOver)
        let round = ["accepted", "\(Recorder.Call.disconnected(.closedByPeer))"]
        #expect(eventually { words.all == (isBusy ? ["accepted"] : []) + round })
    }

    @Test func statement125_callsFromEightThreadsKeepEachThreadsOrderAndNoneIsLost() async throws {
        let pair = try ConnectedPair(.unix)
        let socket = pair.socket
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for index in 0..<100 {
                        socket.write([UInt8(thread), UInt8(index)], tag: thread * 100 + index)
                        socket.read(ReadRequest(.length(1), tag: thread * 100 + index))
                    }
                }
            }
        }
        let bytes = try pair.peerReceives(1_600)
        let sent = (0..<800).map { UInt8(truncatingIfNeeded: $0) }
        try pair.peerSends(sent)
        #expect(await eventually { pair.recorder.calls.count == 1_601 })
        #expect(pair.recorder.received == sent)
        let reads = pair.recorder.calls.compactMap { if case .read(_, let tag) = $0 { tag } else { nil } }
        let writes = pair.recorder.calls.compactMap { if case .wrote(let tag) = $0 { tag } else { nil } }
        for thread in 0..<8 {
            let own = Array(thread * 100..<thread * 100 + 100)
            #expect(reads.filter { $0 / 100 == thread } == own)
            #expect(writes.filter { $0 / 100 == thread } == own)
            let arrived = stride(from: 0, to: bytes.count, by: 2).filter { bytes[$0] == thread }.map { bytes[$0 + 1] }
            #expect(arrived == (0..<100).map { UInt8($0) })
        }
    }

    @Test func statement126_noDescriptorOfTheEngineReachesAChild() throws {
        let reception = try Reception(.tcp(host: "", port: 0))
        let recorder = Recorder()
        try reception.connect(recorder)
        #expect(eventually { recorder.calls == [.connected] && reception.accepting.sockets.count == 1 })
        let descriptors = reception.engine.snapshot().sockets.compactMap(\.descriptor)
        #expect(descriptors.count == 3)
        #expect(descriptors.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
        let own = descriptors.map { descriptor in
            var status = stat()
            fstat(descriptor, &status)
            return "socket:[\(status.st_ino)]"
        }
        let listing = try ChildProcess.run(["ls", "-l", "/proc/self/fd"])
        #expect(listing.output.contains("->"))
        // Nor the reactor's own: its epoll set, its timer, and what ends it.
        for name in own + ["eventpoll", "timerfd", "eventfd"] {
            #expect(!listing.output.contains(name), "\(name)")
        }
    }

    /// The callbacks hold the engine up until the port is free, so nothing that the engine does later can free it. It is
    /// so at once, save where a child of another test holds the descriptor between its fork and its exec.
    @Test func statement128_thePortIsFreeInsideDidStopAndInsideDidDisconnect() throws {
        let engine = SocketEngine()
        let again = Again()
        let listener = SocketListener(engine: engine, delegate: again)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let address = try #require(listener.localAddress)
        again.endpoint.withLock { $0 = .tcp(host: "127.0.0.1", port: address.port ?? 0) }
        listener.stop()
        #expect(eventually { again.outcome.withLock { $0 } == "listening again" })
        #expect(listener.localAddress == address)
        // Our own end of a connection, too: the socket's port can be bound as soon as its end is told.
        let port = try Peer.freePort()
        let bound = Lock<Bool?>(nil)
        var configuration = SocketConfiguration()
        configuration.interface = "127.0.0.1:\(port)"
        let recorder = Recorder(onCall: { _, call in
            guard case .disconnected = call else { return }
            let isFree = eventually { (try? HeldPort(.v4(host: "127.0.0.1", port: port))) != nil }
            bound.withLock { $0 = isFree }
        })
        let reception = try Reception(engine: engine)
        let socket = try reception.connect(recorder, configuration: configuration)
        #expect(eventually { recorder.calls == [.connected] })
        socket.disconnect(.reset)
        #expect(eventually { bound.withLock { $0 } == true })
    }
}

/// Words in the order in which they were said.
private final class Words: Sendable {
    private let state = Lock<[String]>([])
    var all: [String] { state.withLock { $0 } }

    func append(_ word: String) {
        state.withLock { $0.append(word) }
    }
}

/// A listener's delegate that listens again as soon as it is told of the end.
private final class Again: SocketListenerDelegate {
    let endpoint = Lock<Endpoint?>(nil)
    let outcome = Lock("")

    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {}

    func listener(_ listener: SocketListener, didStop error: SocketError?) {
        guard let endpoint = endpoint.withLock({ $0 }) else { return }
        let isListening = eventually { (try? listener.listen(on: endpoint)) != nil }
        outcome.withLock { $0 = isListening ? "listening again" : "refused" }
    }
}
