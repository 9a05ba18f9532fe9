import Dispatch
import Glibc
import SocketTestSupport
import Testing

@testable import SocketKit

/// Tasks that run on an engine.
@Suite("The engine as an executor", .timeLimit(.minutes(10))) struct ExecutorTests {
    /// Echoes what comes. Returns whether every step ran on the engine.
    private static func echo(_ socket: AsyncSocket, on engine: SocketEngine) async throws -> Bool {
        var isThere = engine.isOnQueue
        for try await chunk in socket.chunks() {
            isThere = isThere && engine.isOnQueue
            try await socket.send(chunk)
            isThere = isThere && engine.isOnQueue
        }
        return isThere
    }

    private static func talk(over pair: ConnectedPair) throws {
        for number in UInt8(0)..<100 {
            try pair.peerSends([number])
            #expect(try pair.peerReceives(1) == [number])
        }
        pair.closePeer()
    }

    @Test("a task goes on within the engine's turns, on a queue of its own or the caller's", arguments: [true, false])
    func conversation(isOwn: Bool) async throws {
        var configuration = EngineConfiguration()
        if !isOwn { configuration.queue = DispatchQueue(label: "the caller's") }
        let pair = try ConnectedPair(engine: SocketEngine(configuration))
        let (socket, engine) = (pair.socket, pair.engine)
        let echo = Task(executorPreference: engine) { try await Self.echo(socket, on: engine) }
        try Self.talk(over: pair)
        #expect(try await echo.value)
    }

    @Test("a request from a task is carried out at once, and one turn reads, sends and reads again")
    func turns() async throws {
        let pair = try ConnectedPair()
        let (socket, engine) = (pair.socket, pair.engine)
        let echo = Task(executorPreference: engine) { try await Self.echo(socket, on: engine) }
        #expect(await eventually { pair.picture?.reading.current != nil })
        engine.fence()
        let before = engine.snapshot().counters
        for number in UInt8(0)..<50 {
            try pair.peerSends([number])
            #expect(try pair.peerReceives(1) == [number])
        }
        engine.fence()
        let after = engine.snapshot().counters
        // Two each: snapshots and fences take some as well.
        #expect(after.turns - before.turns < 80)
        pair.closePeer()
        #expect(try await echo.value)
    }

    @Test("after a move, a task stays on its own engine")
    func moving() async throws {
        let pair = try ConnectedPair()
        let (socket, engine, other) = (pair.socket, pair.engine, SocketEngine())
        let echo = Task(executorPreference: engine) { try await Self.echo(socket, on: engine) }
        try pair.peerSends([1])
        #expect(try pair.peerReceives(1) == [1])
        try socket.move(to: other)
        try Self.talk(over: pair)
        #expect(try await echo.value)
    }

    @Test("a cancelled task is answered, and the stream keeps its bytes")
    func cancelling() async throws {
        let pair = try ConnectedPair()
        let socket = pair.socket
        let task = Task(executorPreference: pair.engine) { try await socket.read(ReadRequest(.length(10))) }
        try pair.peerSends("abc")
        #expect(await eventually { pair.picture?.received == 3 })
        task.cancel()
        let error = await #expect(throws: SocketError.self) { try await task.value }
        #expect(error?.reason == .cancelled)
        #expect(try await socket.read(ReadRequest(.length(3))) == Array("abc".utf8))
    }

    @Test("a task may release the last reference to the socket and to the engine that it runs on")
    func lastReference() async throws {
        weak var left: SocketEngine?
        let (ours, theirs) = try ConnectedPair.tcpPair()
        defer { close(theirs) }
        let task: Task<[UInt8], any Error>
        do {
            let engine = SocketEngine()
            left = engine
            let socket = AsyncSocket(engine: engine)
            try socket.adopt(descriptor: ours)
            task = Task(executorPreference: engine) { [socket] in
                let bytes = try await socket.read(ReadRequest(.length(1)))
                try await socket.send(bytes)
                return bytes
            }
        }
        var byte: UInt8 = 9
        #expect(send(theirs, &byte, 1, 0) == 1)
        #expect(try await task.value == [9])
        #expect(await eventually { left == nil })
    }

    private final class Order: Sendable {
        let numbers = Lock<[Int]>([])
    }

    @Test("tasks on the engine keep the order in which they were begun")
    func order() async throws {
        let engine = SocketEngine()
        let order = Order()
        let tasks = (0..<100).map { number in
            Task(executorPreference: engine) { order.numbers.withLock { $0.append(number) } }
        }
        for task in tasks { await task.value }
        #expect(order.numbers.withLock { $0 } == Array(0..<100))
    }
}
