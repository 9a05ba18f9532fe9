import SocketKit
import SocketTestSupport
import Testing

/// Connections that end with a scope, and engines that end in order.
@Suite("Scopes and shutdown", .timeLimit(.minutes(10))) struct ScopeTests {
    private func endpoint(_ listener: RawListener) -> Endpoint { .tcp(host: "127.0.0.1", port: listener.port) }

    @Test("a scope's connection is closed after its writes when the body returns")
    func returning() async throws {
        let listener = try RawListener()
        let engine = SocketEngine()
        let result = try await AsyncSocket.withConnection(to: endpoint(listener), on: engine) { socket in
            socket.write([1, 2, 3])
            return 7
        }
        #expect(result == 7)
        #expect(engine.snapshot().sockets.allSatisfy { $0.phase == .closed })
        #expect(try listener.accept().receiveAll() == [1, 2, 3])
    }

    @Test("a scope's connection is closed at once when the body throws, and the error is the body's")
    func throwing() async throws {
        struct Mine: Error {}
        let listener = try RawListener()
        let engine = SocketEngine()
        await #expect(throws: Mine.self) {
            try await AsyncSocket.withConnection(to: endpoint(listener), on: engine) { _ in throw Mine() }
        }
        #expect(await eventually { engine.snapshot().sockets.allSatisfy { $0.phase == .closed } })
    }

    @Test("a refused connect throws a SocketError out of the scope, and a cancelled task a CancellationError")
    func errors() async throws {
        let held = try HeldPort()
        let gone = Endpoint.tcp(host: "127.0.0.1", port: held.port)
        let error = await #expect(throws: SocketError.self) {
            try await AsyncSocket.withConnection(to: gone, on: SocketEngine()) { _ in }
        }
        #expect(error?.reason == .system(errno: 111))
        withExtendedLifetime(held) {}
        let listener = try RawListener()
        let (endpoint, engine) = (endpoint(listener), SocketEngine())
        let task = Task {
            try await AsyncSocket.withConnection(to: endpoint, on: engine) { socket in
                try await socket.read(ReadRequest(.length(1)))
            }
        }
        #expect(await eventually { engine.snapshot().sockets.first?.reading.current != nil })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("the end is awaited whoever closes, and without a session at once")
    func endings() async throws {
        let pair = try ConnectedPair()
        let socket = pair.socket
        let waiting = Task { try await socket.waitUntilClosed() }
        #expect(socket.closeRecord == nil)
        pair.closePeer()
        try await waiting.value
        #expect(socket.closeRecord?.error?.reason == .closedByPeer)
        try await socket.waitUntilClosed()
    }

    @Test("chunks and lines time out for each step, and go on where the timeout leaves the connection")
    func timeouts() async throws {
        var configuration = SocketConfiguration()
        configuration.timeoutVerdict = .failOperation
        let pair = try ConnectedPair(.unix, configuration: configuration)
        pair.socket.delegate = nil
        var lines = pair.socket.lines(timeout: .milliseconds(30)).makeAsyncIterator()
        try pair.peerSends([97])
        let error = await #expect(throws: SocketError.self) { try await lines.next() }
        #expect(error?.reason == .readTimeout)
        try pair.peerSends([98, 13, 10])
        #expect(try await lines.next() == [97, 98, 13, 10])

        let closing = try ConnectedPair(.unix)
        closing.socket.delegate = nil
        var chunks = closing.socket.chunks(timeout: .milliseconds(30)).makeAsyncIterator()
        await #expect(throws: SocketError.self) { try await chunks.next() }
        #expect(try await chunks.next() == nil, "the verdict was to close")
    }

    @Test("shutdown stops listeners, lets writes go out, says Close, and returns when nothing is left")
    func shutdown() async throws {
        let pair = try WebSocketPair()
        let engine = pair.engine
        let reception = SocketListener(engine: engine)
        try reception.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let connected = try ConnectedPair(.unix, engine: engine)
        let large = [UInt8](repeating: 5, count: 1_000_000)
        connected.socket.write(large)
        let datagrams = DatagramSocket(engine: engine)
        try datagrams.bind(to: .udp(host: "127.0.0.1", port: 0))
        let ending = Task { await engine.shutdown(within: .seconds(60)) }
        #expect(await eventually { reception.session == nil && datagrams.session == nil })
        #expect(try connected.peerReceives(large.count) == large)
        await ending.value
        #expect(engine.snapshot().sockets.allSatisfy { $0.phase == .closed })
        #expect(pair.clientSide.report?.wasClean == true)
        await engine.shutdown()
    }

    @Test("what does not end in time is closed at once, and the engine can be used again")
    func impatient() async throws {
        let engine = SocketEngine()
        let pair = try ConnectedPair(.unix, engine: engine)
        pair.socket.write([UInt8](repeating: 5, count: 10_000_000))
        await engine.shutdown(within: .milliseconds(20))
        #expect(pair.socket.session == nil)
        let next = try ConnectedPair(.unix, engine: engine)
        next.socket.write([1])
        #expect(try next.peerReceives(1) == [1])
    }
}
