import Dispatch
import SocketTestSupport
import Testing

@testable import SocketKit

/// Pieces that an iterator fetches without the engine: none is lost, repeated or out of order, whatever else is asked of
/// the stream.
@Suite("Pieces ahead", .timeLimit(.minutes(10))) struct PiecesTests {
    /// A pair whose peer has sent this, all of which has arrived.
    private static func pair(
        sending text: String, configuration: SocketConfiguration = SocketConfiguration()
    ) async throws -> ConnectedPair {
        let pair = try ConnectedPair(configuration: configuration)
        try pair.peerSends(text)
        #expect(await eventually { pair.picture?.kernel?.receiveQueue == text.utf8.count })
        return pair
    }

    private static func next(_ iterator: inout SocketChunks.Iterator) async throws(SocketError) -> String? {
        try await iterator.next().map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("whole lines that arrived together take one read, and the last of them another")
    func batch() async throws {
        let pair = try await Self.pair(sending: "a\r\nb\r\nc\r\nd")
        var lines = pair.socket.lines().makeAsyncIterator()
        #expect(try await Self.next(&lines) == "a\r\n")
        #expect(lines.pieces?.ends.count == 2)
        #expect(pair.picture?.reading.completed == 1 && pair.picture?.prebuffered == 7)
        #expect(try await Self.next(&lines) == "b\r\n")
        #expect(pair.picture?.reading.completed == 2 && pair.picture?.prebuffered == 4)
        #expect(try await Self.next(&lines) == "c\r\n")
        #expect(pair.picture?.reading.completed == 3 && pair.picture?.prebuffered == 1)
        try pair.peerSends("\r\n")
        #expect(try await Self.next(&lines) == "d\r\n")
    }

    @Test func statement130_linesThatArrivedTogetherAreFetchedAheadAndGoBackBeforeAnotherRead() async throws {
        let pair = try await Self.pair(sending: "a\r\nb\r\nc\r\nd\r\ne\r\n")
        var lines = pair.socket.lines().makeAsyncIterator()
        #expect(try await Self.next(&lines) == "a\r\n")
        #expect(try await Self.next(&lines) == "b\r\n")
        #expect(try await pair.socket.read(ReadRequest(.length(4))) == Array("c\r\nd".utf8))
        #expect(try await Self.next(&lines) == "\r\n")
        func readForDelegate() { pair.socket.read(ReadRequest(.length(1), tag: 1)) }
        readForDelegate()
        pair.closePeer()
        #expect(try await Self.next(&lines) == "\r\n")
        #expect(try await Self.next(&lines) == nil)
        #expect(pair.recorder.calls.contains(.read([101], tag: 1)))
    }

    @Test("another iterator goes on where the first one was left")
    func leaving() async throws {
        let pair = try await Self.pair(sending: "a\nb\nc\n\nbody")
        for try await line in pair.socket.lines(delimiter: [10]) where line == [98, 10] { break }
        var words = pair.socket.lines(delimiter: Array("\n\n".utf8)).makeAsyncIterator()
        #expect(try await Self.next(&words) == "c\n\n")
        #expect(try await pair.socket.read(ReadRequest(.length(4))) == Array("body".utf8))
    }

    @Test("a cancelled task fetches nothing, and its pieces stay")
    func cancelling() async throws {
        let pair = try await Self.pair(sending: "a\r\nb\r\nc\r\nd")
        let sequence = pair.socket.lines()
        let rest = Task {
            var lines = sequence.makeAsyncIterator()
            _ = try await lines.next()
            withUnsafeCurrentTask { $0?.cancel() }
            return try await lines.next()
        }
        let error = await #expect(throws: SocketError.self) { try await rest.value }
        #expect(error?.reason == .cancelled)
        #expect(try await pair.socket.read(ReadRequest(.length(7))) == Array("b\r\nc\r\nd".utf8))
    }

    @Test("the peer's FIN ends the connection after the last line is read, so that each is answered")
    func end() async throws {
        let count = 1_000
        let text = (0..<count).map { "\($0)\n" }.joined()
        let pair = try await Self.pair(sending: text)
        pair.peerShutsWrite()
        var answered = 0
        for try await line in pair.socket.lines(delimiter: [10]) {
            if answered < count - 1 { try await pair.socket.send(line) }
            answered += 1
        }
        #expect(answered == count)
        let answers = text.utf8.dropLast(4)
        #expect(try pair.peerReceives(answers.count) == Array(answers))
        #expect(pair.socket.closeRecord?.error?.reason == .closedByPeer)
    }

    @Test("what the iterator has not fetched is unread when the connection closes")
    func closing() async throws {
        let pair = try await Self.pair(sending: "a\r\nb\r\nc\r\nd")
        var lines = pair.socket.lines().makeAsyncIterator()
        _ = try await lines.next()
        pair.socket.disconnect()
        #expect(pair.socket.closeRecord?.unreadBytes == 7)
        #expect(try await lines.next() == nil)
    }

    @Test("pieces move along to another engine")
    func moving() async throws {
        let pair = try await Self.pair(sending: "a\r\nb\r\nc\r\nd\r\n")
        var lines = pair.socket.lines().makeAsyncIterator()
        _ = try await lines.next()
        let other = SocketEngine()
        try pair.socket.move(to: other)
        for expected in ["b\r\n", "c\r\n", "d\r\n"] { #expect(try await Self.next(&lines) == expected) }
    }

    /// A task awaits a line when the connection moves, and in the second case a read is requested behind it. The former
    /// engine's mailbox has had more jobs, or fewer, so that a place in it is none in the other.
    @Test("after a move, pieces are handed over, and not before a read that was requested", arguments: [false, true])
    func movingWhileAwaited(isReadBehind: Bool) async throws {
        let pair = try await Self.pair(sending: "a\r\nb\r\nc\r\nd\r\ne\r\n")
        var first = pair.socket.lines().makeAsyncIterator()
        #expect(try await Self.next(&first) == "a\r\n", "the others have been received, too")
        let (socket, former, other) = (pair.socket, pair.engine, SocketEngine())
        let busy = isReadBehind ? other : former
        for _ in 0..<100 { busy.post {} }
        busy.fence()
        let task = Lock<Task<(String?, Int?, String?), any Error>?>(nil)
        former.interleave {
            let posted = former.mailbox.posted
            let awaiting = Task {
                var lines = socket.lines().makeAsyncIterator()
                let line = try await Self.next(&lines)
                return (line, lines.pieces?.ends.count, try await Self.next(&lines))
            }
            task.withLock { $0 = awaiting }
            #expect(eventually { former.mailbox.posted > posted })
            if isReadBehind { socket.read(ReadRequest(.length(3), tag: 1)) }
        }
        // The task that awaits needs the thread that would wait for the move.
        await withCheckedContinuation { moved in
            DispatchQueue(label: "mover").async {
                #expect(throws: Never.self) { try socket.move(to: other) }
                moved.resume()
            }
        }
        former.interleave(nil)
        let (line, pieces, next) = try #require(try await task.withLock { $0 }?.value)
        #expect(line == "b\r\n" && next == (isReadBehind ? "d\r\n" : "c\r\n"))
        guard isReadBehind else { return #expect(pieces == 2) }
        #expect(await eventually { pair.recorder.calls.contains(.read(Array("c\r\n".utf8), tag: 1)) })
    }

    @Test("several tasks get each line once, each in order, while others read")
    func sharing() async throws {
        let pair = try ConnectedPair(.unix)
        let (socket, count) = (pair.socket, 2_000)
        async let numbers = withTaskGroup(of: [Int].self) { group in
            for _ in 0..<3 { group.addTask { await Self.readNumbers(from: socket, upTo: count - 1) } }
            return await group.reduce(into: [[Int]]()) { $0.append($1) }
        }
        for first in stride(from: 0, to: count, by: 100) {
            try pair.peerSends((first..<first + 100).map { "\($0)\n" }.joined())
        }
        let all = await numbers
        #expect(all.allSatisfy { $0 == $0.sorted() })
        #expect(all.joined().sorted() == Array(0..<count))
    }

    /// Iterates lines, and reads every seventh by itself. Disconnects after the last one.
    private static func readNumbers(from socket: AsyncSocket, upTo last: Int) async -> [Int] {
        var numbers: [Int] = []
        func note(_ line: [UInt8]) {
            numbers.append(Int(String(decoding: line.dropLast(), as: UTF8.self)) ?? -1)
            if numbers.last == last { socket.disconnect() }
        }
        do {
            for try await line in socket.lines(delimiter: [10]) {
                note(line)
                if numbers.count.isMultiple(of: 7) {
                    note(try await socket.read(ReadRequest(.delimiter([10], limit: 16))))
                }
            }
        } catch {
            // Another task has disconnected.
        }
        return numbers
    }
}
