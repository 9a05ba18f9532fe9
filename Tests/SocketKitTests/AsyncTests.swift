import SocketKit
import SocketTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct AsyncTests {
    @Test func anAwaitedConversationReadsLikeOne() async throws {
        let pair = try ConnectedPair()
        try pair.peerSends("l1\r\nl2\r\nabcde")
        let line = ReadRequest(.delimiter([13, 10], limit: 64))
        #expect(try await pair.socket.read(line) == Array("l1\r\n".utf8))
        #expect(try await pair.socket.read(line) == Array("l2\r\n".utf8))
        #expect(try await pair.socket.read(ReadRequest(.length(5))) == Array("abcde".utf8))
        try await pair.socket.send(Array("thanks".utf8))
        #expect(try pair.peerReceives(6) == Array("thanks".utf8))
        #expect(pair.recorder.calls == [.connected], "completions belong to the one who awaits them")
    }

    @Test func awaitedAndDelegatedReadsShareOneQueue() async throws {
        let pair = try ConnectedPair()
        let socket = pair.socket
        func readForDelegate(tag: Int) { socket.read(ReadRequest(.length(1), tag: tag)) }
        readForDelegate(tag: 1)
        async let second = socket.read(ReadRequest(.length(1), tag: 2))
        #expect(await eventually { pair.engine.snapshot().sockets.first?.reading.pendingCount == 1 })
        readForDelegate(tag: 3)
        try pair.peerSends("abc")
        #expect(try await second == [98])
        #expect(await eventually { pair.recorder.calls == [.connected, .read([97], tag: 1), .read([99], tag: 3)] })
    }

    @Test func aCancelledReadLeavesNothingBehindAndLosesNothing() async throws {
        let pair = try ConnectedPair()
        let socket = pair.socket
        let task = Task { try await socket.read(ReadRequest(.length(10))) }
        try pair.peerSends("abc")
        #expect(await eventually { pair.engine.snapshot().sockets.first?.received == 3 })
        task.cancel()
        let result = await task.result
        #expect(throws: SocketError.self) { try result.get() }
        #expect(pair.engine.snapshot().sockets.first?.reading.current == nil)
        #expect(try await socket.read(ReadRequest(.length(3))) == Array("abc".utf8))
    }

    @Test func linesEndWithTheStreamAndTheLastMayBeUnfinished() async throws {
        let pair = try ConnectedPair()
        try pair.peerSends("one\r\ntwo\r\nthr")
        pair.closePeer()
        var lines: [String] = []
        for try await line in pair.socket.lines() { lines.append(String(decoding: line, as: UTF8.self)) }
        #expect(lines == ["one\r\n", "two\r\n", "thr"])
    }

    @Test func withoutATakerChunksStayInTheKernel() async throws {
        let pair = try ConnectedPair()
        try pair.peerSends("abcdef")
        let chunks = pair.socket.chunks(limit: 4).makeAsyncIterator()
        var iterator = chunks
        #expect(try await iterator.next() == Array("abcd".utf8))
        let request = SnapshotRequest(kernel: .all)
        #expect(await eventually { pair.engine.snapshot(request).sockets.first?.kernel?.receiveQueue == 2 })
        #expect(try await iterator.next() == Array("ef".utf8))
    }

    @Test func anAwaitedConnectSaysWhyItFailed() async throws {
        let engine = SocketEngine()
        let listener = SocketListener(engine: engine)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: try #require(listener.localAddress?.port))
        let recorder = Recorder()
        listener.delegate = recorder
        let socket = try await AsyncSocket.connect(to: endpoint, on: engine)
        #expect(socket.isConnected)
        listener.stop()
        let error = await #expect(throws: SocketError.self) {
            try await AsyncSocket.connect(to: endpoint, on: engine)
        }
        #expect(error?.reason == .system(errno: 111))
    }

    @Test func anAwaitedReadOfADisconnectedSocketFailsAtOnce() async throws {
        let socket = AsyncSocket(engine: SocketEngine())
        let error = await #expect(throws: SocketError.self) { try await socket.read(ReadRequest(.length(1))) }
        #expect(error?.reason == .notConnected)
    }
}
