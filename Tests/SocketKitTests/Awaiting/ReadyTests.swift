import SocketTestSupport
import Testing

@testable import SocketKit

/// Elements that have arrived are taken without the engine: no operation is begun for them.
@Suite("Ready elements", .timeLimit(.minutes(10))) struct ReadyTests {
    private static let count = 10

    private let operations = OperationCounter()
    private let engine: SocketEngine

    init() {
        engine = SocketEngine(
            EngineConfiguration(), kernel: LinuxKernel(), clock: SystemClock(), reactor: EpollReactor(),
            resolver: SystemResolver(), names: Names(operations: operations))
    }

    /// Returns how many operations `body` began on this engine.
    private func operations(of body: () async throws -> Void) async throws -> UInt64 {
        let before = operations.next().number
        try await body()
        return operations.next().number - before - 1
    }

    @Test func datagrams() async throws {
        let end = try DatagramEnd.bound(engine: engine, isReceiving: false)
        var datagrams = try end.socket.datagrams().makeAsyncIterator()
        let sender = DatagramEnd()
        for number in 0..<Self.count { sender.socket.send([UInt8(number)], to: end.place, tag: 1) }
        #expect(await eventually { end.picture?.datagrams?.counters.received == UInt64(Self.count) })
        let begun = try await operations { () async throws in
            for number in 0..<Self.count { #expect(try await datagrams.next()?.bytes == [UInt8(number)]) }
        }
        #expect(begun == 0)
        end.socket.close()
        #expect(try await datagrams.next() == nil)
    }

    @Test func connections() async throws {
        let listener = SocketListener(engine: engine)
        var connections = listener.connections.makeAsyncIterator()
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.localAddress?.port)
        let peers = try (0..<Self.count).map { _ in try RawPeer(port: port) }
        #expect(await eventually { engine.snapshot().sockets.count == 1 + Self.count })
        engine.fence()
        let begun = try await operations { () async throws in
            for _ in peers { #expect(try await connections.next() != nil) }
        }
        #expect(begun == 0)
        listener.stop()
        #expect(try await connections.next() == nil)
    }

    @Test func messages() async throws {
        let listener = try RawListener()
        let url = "ws://127.0.0.1:\(listener.port)/"
        let engine = engine
        async let opening = WebSocket.connect(to: url, on: engine)
        let (peer, _) = try listener.acceptWebSocket()
        let webSocket = try await opening
        var messages = webSocket.messages.makeAsyncIterator()
        try peer.send((0...Self.count).flatMap { RawPeer.frame(2, [UInt8($0)]) })
        #expect(await eventually { webSocket.picture?.traffic?.received.messages == UInt64(Self.count + 1) })
        engine.fence()
        // From the first one on, messages are the task's.
        #expect(try await messages.next() == .binary([0]))
        let begun = try await operations { () async throws in
            for number in 1...Self.count { #expect(try await messages.next() == .binary([UInt8(number)])) }
        }
        #expect(begun == 0)
        #expect(webSocket.backPressure.weight == 0)
    }

    @Test("a cancelled task takes nothing, and what is ready stays for the next one")
    func cancelled() async throws {
        let end = try DatagramEnd.bound(engine: engine, isReceiving: false)
        let datagrams = try end.socket.datagrams()
        DatagramEnd().socket.send([7], to: end.place, tag: 1)
        #expect(await eventually { end.picture?.datagrams?.counters.received == 1 })
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var iterator = datagrams.makeAsyncIterator()
            return try await iterator.next()
        }
        #expect(try await task.value == nil)
        var iterator = datagrams.makeAsyncIterator()
        #expect(try await iterator.next()?.bytes == [7])
    }
}
