import SocketKit
import SocketTestSupport
import Testing

/// The proxy of the article, between a client and a server that both are the test's.
@Suite("Forwarder", .timeLimit(.minutes(10))) struct ForwarderTests {
    /// Runs `body` with both ends of a connection that a forwarder on `proxyEngine` forwards.
    private func forwarding(
        on proxyEngine: SocketEngine = SocketEngine(),
        _ body: (_ client: AsyncSocket, _ server: AsyncSocket) async throws -> Void
    ) async throws {
        let engine = SocketEngine()
        let target = SocketListener(engine: engine, configuration: small)
        var arrivals = target.connections.makeAsyncIterator()
        try target.listen(on: .tcp(host: "localhost", port: 0))
        let endpoint = Endpoint.tcp(host: "localhost", port: target.localAddress?.port ?? 0)
        let serve: @Sendable (SocketConnections) async throws -> Void = { connections in
            try await Forwarder.serve(connections, target: endpoint)
        }
        var configuration = Forwarder.configuration
        configuration.options.receiveBuffer = 65_536
        try await beside(configuration, on: proxyEngine, serving: serve) { proxy in
            let client = try await AsyncSocket.connect(to: proxy, on: engine, configuration: small)
            let server = try #require(try await arrivals.next())
            try await body(client, server)
        }
    }

    /// The settings of both ends: the kernel holds little for them.
    private var small: SocketConfiguration {
        var configuration = halfOpen
        configuration.options.receiveBuffer = 65_536
        configuration.options.sendBuffer = 65_536
        return configuration
    }

    private func rest(of socket: AsyncSocket) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in socket.chunks() { bytes += chunk }
        return bytes
    }

    @Test("each direction goes on after the FIN of the other", arguments: [true, false])
    func halfClose(clientIsFirst: Bool) async throws {
        try await forwarding { client, server in
            let (first, second) = clientIsFirst ? (client, server) : (server, client)
            try await first.send([1, 2, 3])
            first.halfClose()
            #expect(try await rest(of: second) == [1, 2, 3])
            try await second.send([4])
            #expect(try await first.read(ReadRequest(.length(1))) == [4])
            try await second.send([5, 6])
            second.halfClose()
            #expect(try await rest(of: first) == [5, 6])
        }
    }

    @Test("an end that does not read holds up the other; the forwarder keeps one piece, and nothing is lost")
    func backPressure() async throws {
        let proxy = SocketEngine()
        try await forwarding(on: proxy) { client, server in
            let piece = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let count = 256  // 16 MiB, more than the kernel's buffers of both connections
            let sending = Task {
                for _ in 0..<count { try await client.send(piece) }
                client.halfClose()
            }
            var legs: [SocketSnapshot] { proxy.snapshot(SnapshotRequest()).sockets.filter { $0.role != .listener } }
            // Both are held up: the client by the forwarder, which does not read while it has something to write.
            #expect(
                await eventually {
                    client.snapshot()?.writing.current != nil && legs.contains { $0.writing.current != nil }
                        && legs.allSatisfy { $0.parent == nil || $0.reading.current == nil }
                })
            var received = 0
            let twice = piece + piece
            for try await chunk in server.chunks(limit: piece.count) {
                let start = received % piece.count
                #expect(chunk == Array(twice[start..<start + chunk.count]))
                received += chunk.count
                #expect(legs.allSatisfy { $0.writing.pendingBytes <= 65_536 })
            }
            try await sending.value
            #expect(received == count * piece.count)
        }
    }

    @Test("a reset of one end resets the other, and is not its FIN", arguments: [true, false])
    func reset(ofClient: Bool) async throws {
        try await forwarding { client, server in
            let (broken, other) = ofClient ? (client, server) : (server, client)
            try await broken.send([1])
            #expect(try await other.read(ReadRequest(.length(1))) == [1])
            broken.disconnect(.reset)
            await #expect(throws: SocketError.self) { try await rest(of: other) }
        }
    }

    @Test("a client whose target refuses is reset")
    func refused() async throws {
        let held = try HeldPort()
        let target = Endpoint.tcp(host: "127.0.0.1", port: held.port)
        let serve: @Sendable (SocketConnections) async throws -> Void = { connections in
            try await Forwarder.serve(connections, target: target)
        }
        try await beside(Forwarder.configuration, serving: serve) { proxy in
            let client = try await AsyncSocket.connect(to: proxy, on: SocketEngine(), configuration: halfOpen)
            await #expect(throws: SocketError.self) { try await rest(of: client) }
        }
    }
}
