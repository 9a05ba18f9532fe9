import SocketTestSupport
import Testing

@testable import SocketKit

/// Chunks that are received while the task does something else: bounded, and none is lost, repeated or out of order.
@Suite("Chunks ahead", .timeLimit(.minutes(10))) struct ReadAheadTests {
    private static func next(_ iterator: inout SocketChunks.Iterator) async throws(SocketError) -> String? {
        try await iterator.next().map { String(decoding: $0, as: UTF8.self) }
    }

    /// A pair and an iterator that has taken "a", after which `text` has been received ahead.
    private static func pair(
        ahead text: String, limit: Int = 65_536, configuration: SocketConfiguration = SocketConfiguration()
    ) async throws -> (ConnectedPair, SocketChunks.Iterator) {
        let pair = try ConnectedPair(configuration: configuration)
        var iterator = pair.socket.chunks(limit: limit, readAhead: 65_536).makeAsyncIterator()
        try pair.peerSends("a")
        #expect(try await next(&iterator) == "a")
        try pair.peerSends(text)
        #expect(await eventually { pair.picture?.prebuffered == text.utf8.count })
        #expect(pair.picture?.kernel?.receiveQueue == 0)
        return (pair, iterator)
    }

    @Test("what was received ahead takes no read, and what follows waits behind it")
    func ahead() async throws {
        var (pair, iterator) = try await Self.pair(ahead: "b")
        #expect(pair.picture?.reading.completed == 1)
        try pair.peerSends("cd")
        #expect(await eventually { pair.picture?.prebuffered == 3 })
        #expect(try await Self.next(&iterator) == "b")
        #expect(pair.picture?.reading.completed == 2 && pair.picture?.prebuffered == 2)
        #expect(pair.picture?.reading.current == nil)
        #expect(try await Self.next(&iterator) == "cd")
        #expect(pair.picture?.reading.completed == 3)
    }

    @Test("a task fetches while the engine's queue is busy")
    func withoutTheEngine() async throws {
        let (pair, iterator) = try await Self.pair(ahead: "b")
        let fetched = pair.engine.perform { iterator.socket.takeAhead(of: iterator.request) }
        #expect(fetched == [98])
    }

    @Test func statement131_chunksAreReceivedAheadUpToALimitAndGoBackBeforeAnotherRead() async throws {
        var (pair, iterator) = try await Self.pair(ahead: "bcd")
        #expect(try await pair.socket.read(ReadRequest(.length(2))) == Array("bc".utf8))
        #expect(try await Self.next(&iterator) == "d")
        try pair.peerSends([UInt8](repeating: 7, count: 100_000))
        #expect(await eventually { pair.picture?.prebuffered == 65_536 })
        #expect(pair.leavesInTheKernel(100_000 - 65_536))
        var count = 0
        while count < 100_000, let chunk = try await iterator.next() { count += chunk.count }
        #expect(count == 100_000)

        var none = pair.socket.chunks().makeAsyncIterator()
        try pair.peerSends("x")
        #expect(try await Self.next(&none) == "x")
        try pair.peerSends("yz")
        #expect(pair.leavesInTheKernel(2))
        #expect(pair.picture?.prebuffered == 0)
        #expect(try await Self.next(&none) == "yz")
    }

    @Test("pieces have the limit of their iterator, and another one does not get them")
    func limits() async throws {
        var (pair, iterator) = try await Self.pair(ahead: "bcdef", limit: 2)
        #expect(try await Self.next(&iterator) == "bc")
        var other = pair.socket.chunks(limit: 1).makeAsyncIterator()
        #expect(try await Self.next(&other) == "d")
        #expect(try await Self.next(&iterator) == "ef")
    }

    @Test("bytes before the peer's FIN are taken first, then the connection ends without a read")
    func end() async throws {
        var (pair, iterator) = try await Self.pair(ahead: "b")
        pair.closePeer()
        #expect(await eventually { pair.picture?.flags.contains(.socketHasReadEOF) == true })
        #expect(pair.socket.session != nil)
        #expect(try await Self.next(&iterator) == "b")
        #expect(await eventually { pair.recorder.isDisconnected })
        #expect(try await Self.next(&iterator) == nil)
        #expect(pair.socket.closeRecord?.error?.reason == .closedByPeer)
    }

    @Test("bytes before the peer's reset are taken first, then the connection ends without a read")
    func reset() async throws {
        var (pair, iterator) = try await Self.pair(ahead: "b")
        pair.closePeer(reset: true)
        #expect(await eventually { pair.picture?.flags.contains(.socketHasReadEOF) == true })
        #expect(try await Self.next(&iterator) == "b")
        #expect(await eventually { pair.recorder.isDisconnected })
        let error = await #expect(throws: SocketError.self) { try await iterator.next() }
        #expect(error?.reason == .system(errno: 104))
    }

    @Test("what was received ahead is unread when this side closes")
    func closing() async throws {
        var (pair, iterator) = try await Self.pair(ahead: "bc")
        pair.socket.disconnect()
        #expect(pair.socket.closeRecord?.unreadBytes == 2)
        #expect(try await Self.next(&iterator) == nil)
    }

    @Test("chunks move along to another engine")
    func moving() async throws {
        var (pair, iterator) = try await Self.pair(ahead: "b")
        let other = SocketEngine()
        try pair.socket.move(to: other)
        try pair.peerSends("c")
        #expect(await eventually { other.picture(of: pair.socket.session)?.kernel?.receiveQueue == 1 })
        #expect(try await Self.next(&iterator) == "b")
        #expect(try await Self.next(&iterator) == "c")
    }

    @Test("while reading is paused nothing is received ahead")
    func paused() async throws {
        var (pair, iterator) = try await Self.pair(ahead: "b")
        #expect(try await Self.next(&iterator) == "b")
        pair.socket.isReadingPaused = true
        try pair.peerSends("c")
        #expect(pair.leavesInTheKernel(1))
        pair.socket.isReadingPaused = false
        #expect(try await Self.next(&iterator) == "c")
    }

    @Test("a stream stays whole while chunks, other reads and cancelled ones take turns")
    func mixing() async throws {
        let pair = try ConnectedPair()
        let (socket, count) = (pair.socket, 400_000)
        let stream = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        let reading = Task { try await Self.read(count, from: socket) }
        for start in stride(from: 0, to: count, by: 1_000) {
            try pair.peerSends(Array(stream[start..<start + 1_000]))
            if start.isMultiple(of: 7_000) { await Task.yield() }
        }
        #expect(try await reading.value == stream)
    }

    private static func read(_ count: Int, from socket: AsyncSocket) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        let sequence = socket.chunks(limit: 700, readAhead: 5_000)
        var chunks = sequence.makeAsyncIterator()
        for step in 1... where bytes.count < count {
            if step.isMultiple(of: 11) {
                bytes += try await socket.read(ReadRequest(.length(min(13, count - bytes.count))))
            } else if step.isMultiple(of: 17) {
                let cancelled = Task { () -> [UInt8]? in
                    var iterator = sequence.makeAsyncIterator()
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await iterator.next()
                }
                await #expect(throws: SocketError.self) { try await cancelled.value }
            } else if let chunk = try await chunks.next() {
                bytes += chunk
            }
            if bytes.count >= count { break }
        }
        return bytes
    }
}
