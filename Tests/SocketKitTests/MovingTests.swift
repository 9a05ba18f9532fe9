import SocketKit
import SocketTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct MovingTests {
    @Test func aMovedConnectionKeepsItsQueuesBytesAndOrder() throws {
        let other = SocketEngine()
        let pair = try ConnectedPair()
        let former = try #require(pair.socket.session)
        pair.socket.read(ReadRequest(.length(6), tag: 1))
        pair.socket.read(ReadRequest(.length(2), tag: 2))
        try pair.peerSends("abc")
        #expect(eventually { pair.recorder.calls.contains(.readPartial(3, tag: 1)) })
        pair.socket.write([1], tag: 3)
        try pair.socket.move(to: other)
        pair.socket.write([2], tag: 4)
        try pair.peerSends("defgh")
        #expect(eventually { pair.recorder.received == Array("abcdefgh".utf8) })
        #expect(try pair.peerReceives(2) == [1, 2])
        #expect(pair.socket.engine === other && pair.socket.isConnected)
        #expect(pair.engine.snapshot().sockets.allSatisfy { $0.id != former })
        #expect(other.snapshot().sockets.first?.received == 8)
        pair.closePeer()
        #expect(eventually { pair.recorder.calls.last == .disconnected(.closedByPeer) })
    }

    @Test func aMovedConnectionIsCalledBackOnItsNewEngine() throws {
        let other = SocketEngine()
        let recorder = Recorder(onCall: { socket, call in
            guard case .read = call else { return }
            socket.userData = other.isOnQueue
        })
        let pair = try ConnectedPair(recorder: recorder)
        try pair.socket.move(to: other)
        pair.socket.read(ReadRequest(.length(1)))
        try pair.peerSends("x")
        #expect(eventually { pair.socket.userData as? Bool == true })
    }

    @Test func onlyAConnectedSocketMoves() {
        let socket = AsyncSocket(engine: SocketEngine())
        #expect(throws: SocketError.self) { try socket.move(to: SocketEngine()) }
    }

    @Test func acceptedConnectionsAreATasksSequence() async throws {
        let engine = SocketEngine()
        let listener = SocketListener(engine: engine)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let connections = listener.connections
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: try #require(listener.localAddress?.port))
        var clients: [AsyncSocket] = []
        for _ in 0..<3 { clients.append(try await AsyncSocket.connect(to: endpoint, on: engine)) }
        let expected = clients.map { $0.localAddress?.port }
        var ports: [UInt16?] = []
        for try await socket in connections {
            ports.append(socket.peerAddress?.port)
            if ports.count == 3 { listener.stop() }
        }
        #expect(ports == expected)
    }

    @Test func connectionsThatNobodyFetchesStayInTheKernelsBacklog() async throws {
        let engine = SocketEngine()
        let listener = SocketListener(engine: engine)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let connections = listener.connections
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: try #require(listener.localAddress?.port))
        var clients: [AsyncSocket] = []
        for _ in 0..<200 {
            let client = AsyncSocket(engine: engine)
            try client.connect(to: endpoint)
            clients.append(client)
        }
        let id = try #require(listener.session)
        #expect(await eventually { engine.snapshot().sockets.first { $0.id == id }?.isHeldBack == true })
        #expect(engine.snapshot(SnapshotRequest(kernel: .all)).sockets.filter { $0.role == .accepted }.count < 200)
        var taken: [AsyncSocket] = []
        for try await socket in connections {
            taken.append(socket)
            if taken.count == 200 { break }
        }
        #expect(Set(taken.compactMap { $0.peerAddress?.port }).count == 200)
    }

    @Test func waitingForAConnectionEndsWithTheTask() async throws {
        let listener = SocketListener(engine: SocketEngine())
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let connections = listener.connections
        let task = Task {
            var count = 0
            for try await _ in connections { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value == 0)
    }
}
