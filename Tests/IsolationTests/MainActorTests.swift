import Dispatch
import SocketKit
import Testing

// Everything here is on the main actor unless it says otherwise: the target's default isolation.

/// A delegate with plain state, as a program with a user interface has one. A type that conforms to a protocol of Sendable
/// types is not on the main actor by default, so it says so. Its callbacks come on the main queue, so they assume what is
/// true there.
@MainActor final class Screen: AsyncSocketDelegate {
    var lines: [String] = []
    var hasEnded = false

    nonisolated func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        MainActor.assumeIsolated { lines.append(String(decoding: bytes, as: UTF8.self)) }
    }

    nonisolated func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        MainActor.assumeIsolated { hasEnded = true }
    }
}

/// An actor that is told by a delegate of its own; the order of callbacks is that of the stream.
actor Session {
    private(set) var received: [UInt8] = []

    func run(_ socket: AsyncSocket) async throws {
        for try await chunk in socket.chunks() { received += chunk }
    }
}

@Suite("Main-actor programs", .timeLimit(.minutes(10)))
struct MainActorTests {
    private func connected(_ engine: SocketEngine) async throws -> (client: AsyncSocket, server: AsyncSocket) {
        let listener = SocketListener(engine: engine)
        let connections = listener.connections
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let port = listener.localAddress?.port ?? 0
        let client = try await AsyncSocket.connect(to: .tcp(host: "127.0.0.1", port: port), on: engine)
        var iterator = connections.makeAsyncIterator()
        let server = try #require(try await iterator.next())
        return (client, server)
    }

    @Test("a main-actor delegate on the main queue keeps its state without locks")
    func delegate() async throws {
        let (client, server) = try await connected(SocketEngine())
        let screen = Screen()
        client.delegateQueue = .main
        client.delegate = screen
        func readForDelegate() { client.read(ReadRequest(.delimiter([10], limit: 100))) }
        readForDelegate()
        try await server.send(Array("hello\n".utf8))
        while screen.lines.isEmpty { await Task.yield() }
        #expect(screen.lines == ["hello\n"])
        server.disconnect()
        while !screen.hasEnded { await Task.yield() }
    }

    @Test("awaiting on the main actor comes back to it, and values that are not Sendable stay usable")
    func awaiting() async throws {
        final class Counter { var count = 0 }
        let counter = Counter()
        let (client, server) = try await connected(SocketEngine())
        server.write([1, 2, 3])
        server.disconnect(.afterWriting)
        for try await chunk in client.chunks() {
            MainActor.assertIsolated()
            counter.count += chunk.count
        }
        #expect(counter.count == 3)
    }

    @Test("an actor iterates what comes")
    func actors() async throws {
        let (client, server) = try await connected(SocketEngine())
        let session = Session()
        server.write([4, 5])
        server.disconnect(.afterWriting)
        try await session.run(client)
        #expect(await session.received == [4, 5])
    }

    @Test("a scope's body runs where its caller runs")
    func scopes() async throws {
        let engine = SocketEngine()
        let listener = SocketListener(engine: engine)
        let connections = listener.connections
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: listener.localAddress?.port ?? 0)
        var state = 0
        try await AsyncSocket.withConnection(to: endpoint, on: engine) { socket in
            MainActor.assertIsolated()
            try await socket.send([1])
            state += 1
        }
        #expect(state == 1)
        withExtendedLifetime(connections) {}
    }
}
