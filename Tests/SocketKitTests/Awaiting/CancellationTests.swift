import SocketKit
import SocketTestSupport
import Testing

/// A cancelled `await` returns whatever the peer does, and no byte is lost or repeated.
@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
    @Test(
        "a timeout by a task group ends every await, whenever it comes",
        .enabled(if: Certificates.problem == nil), arguments: Awaitable.allCases, [0, 30])
    func timeoutsEnd(awaitable: Awaitable, milliseconds: Int) async throws {
        let unanswered = try awaitable.unanswered()
        let result = await cancelling(after: .milliseconds(milliseconds)) { [run = unanswered.run] in try await run() }
        switch result {
        case .success(let isAnswered): #expect(!isAnswered)
        case .failure(let error):
            #expect(error is CancellationError || (error as? SocketError)?.reason == .cancelled, "\(error)")
        }
        withExtendedLifetime(unanswered.needs) {}
    }

    // MARK: Writes

    private static let large = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test func aCancelledSendReturnsAndTheRestOfItFollows() async throws {
        let pair = try ConnectedPair(.unix)
        let (socket, large) = (pair.socket, Self.large)
        let sending = Task { try await socket.send(large, timeout: .seconds(600)) }
        #expect(await eventually { (1..<large.count).contains(socket.pendingWriteBytes) })
        sending.cancel()
        let error = await #expect(throws: SocketError.self) { try await sending.value }
        #expect(error?.reason == .cancelled)
        #expect((1..<large.count).contains(error?.transferred ?? 0))
        #expect(pair.picture?.writing.current?.deadline == nil, "nobody is left to judge a timeout")
        socket.write([7], tag: 2)
        #expect(try pair.peerReceives(large.count + 1) == large + [7])
        #expect(await eventually { pair.recorder.calls == [.connected, .wrote(tag: 2)] }, "\(pair.recorder.calls)")
    }

    @Test func aCancelledSendOfWhichNothingLeftIsTakenBack() async throws {
        let pair = try ConnectedPair(.unix)
        let (socket, large) = (pair.socket, Self.large)
        socket.write(large, tag: 1)
        let sending = Task { try await socket.send([7, 7]) }
        #expect(await eventually { pair.picture?.writing.pendingCount == 1 })
        sending.cancel()
        let error = await #expect(throws: SocketError.self) { try await sending.value }
        #expect(error?.reason == .cancelled && error?.transferred == 0)
        socket.write([8], tag: 2)
        #expect(try pair.peerReceives(large.count + 1) == large + [8])
    }

    @Test func aSendThatTimesOutSaysHowManyBytesWentOut() async throws {
        var configuration = SocketConfiguration()
        configuration.timeoutVerdict = .failOperation
        let pair = try ConnectedPair(.unix, configuration: configuration)
        let (socket, large) = (pair.socket, Self.large)
        socket.delegate = nil
        let error = await #expect(throws: SocketError.self) {
            try await socket.send(large, timeout: .milliseconds(20))
        }
        #expect(error?.reason == .writeTimeout)
        let count = try #require(error?.transferred)
        #expect((1..<large.count).contains(count))
        socket.write([8])
        #expect(try pair.peerReceives(count + 1) == large[..<count] + [8])
    }

    @Test func aSendThatEndsWithTheConnectionSaysHowManyBytesWentOut() async throws {
        let pair = try ConnectedPair(.unix)
        let (socket, large) = (pair.socket, Self.large)
        let sending = Task { try await socket.send(large) }
        #expect(await eventually { (1..<large.count).contains(socket.pendingWriteBytes) })
        let left = large.count - socket.pendingWriteBytes
        socket.disconnect()
        let error = await #expect(throws: SocketError.self) { try await sending.value }
        #expect(error?.reason == .disconnected && error?.transferred == left)
    }

    // MARK: Reads

    private func silentPair(_ verdict: TimeoutVerdict, isHalfOpen: Bool = false) throws -> ConnectedPair {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = isHalfOpen
        configuration.timeoutVerdict = verdict
        let pair = try ConnectedPair(configuration: configuration)
        pair.socket.delegate = nil
        try pair.peerSends("abc")
        return pair
    }

    @Test func aReadThatTimesOutGivesItsBytesBack() async throws {
        let pair = try silentPair(.failOperation)
        let read = ReadRequest(.length(10), timeout: .milliseconds(20))
        let error = await #expect(throws: SocketError.self) { try await pair.socket.read(read) }
        #expect(error?.reason == .readTimeout && error?.transferred == 0 && error?.received == nil)
        try pair.peerSends("defghijk")
        #expect(try await pair.socket.read(ReadRequest(.length(10))) == Array("abcdefghij".utf8))
        #expect(try await pair.socket.read(ReadRequest(.length(1))) == Array("k".utf8))
    }

    @Test func aReadThatClosesTheConnectionHandsItsBytesOver() async throws {
        let pair = try silentPair(.close)
        #expect(await eventually { pair.picture?.kernel?.receiveQueue == 3 })
        let read = ReadRequest(.length(10), timeout: .milliseconds(20))
        let error = await #expect(throws: SocketError.self) { try await pair.socket.read(read) }
        #expect(error?.reason == .readTimeout && error?.received == Array("abc".utf8) && error?.transferred == 3)
        #expect(pair.socket.closeRecord?.error?.reason == .readTimeout)
    }

    @Test(arguments: [false, true]) func aReadThatEndsWithTheStreamHandsItsBytesOver(isHalfOpen: Bool) async throws {
        let pair = try silentPair(.close, isHalfOpen: isHalfOpen)
        pair.peerShutsWrite()
        let error = await #expect(throws: SocketError.self) { try await pair.socket.read(ReadRequest(.length(10))) }
        #expect(error?.reason == .closedByPeer && error?.received == Array("abc".utf8))
    }

    @Test func aCancelledIterationGoesOnWhereItWas() async throws {
        let pair = try silentPair(.close)
        let reads = pair.socket.lines()
        let result = await cancelling { try await reads.first { _ in true } }
        #expect(throws: SocketError.self) { try result.get() }
        try pair.peerSends("\r\nde\r\n")
        var iterator = reads.makeAsyncIterator()
        #expect(try await iterator.next() == Array("abc\r\n".utf8))
        #expect(try await iterator.next() == Array("de\r\n".utf8))
    }

    // MARK: Others who wait

    @Test func oneThatIsCancelledTakesNothingFromAnotherThatWaits() async throws {
        let reception = try Reception()
        let connections = reception.listener.connections
        let first = Task { try await connections.first { _ in true } }
        #expect(await eventually { reception.listener.waiters == 1 })
        let second = Task { try await connections.first { _ in true } }
        #expect(await eventually { reception.listener.waiters == 2 })
        first.cancel()
        #expect(try await first.value == nil)
        try reception.connect()
        #expect(try await second.value != nil)
    }

    @Test func whoAsksForTLSTwiceEndsNobodyElsesWaiting() async throws {
        let pair = try ConnectedPair()
        let socket = pair.socket
        let securing = Task { try await socket.secure(.testClient()) }
        #expect(await eventually { socket.tls != nil })
        let error = await #expect(throws: SocketError.self) { try await socket.secure(.testClient()) }
        #expect(error?.reason == .badConfiguration)
        #expect(socket.isConnected && socket.waitersForTLS == 1)
        securing.cancel()
        let cancelled = await #expect(throws: SocketError.self) { try await securing.value }
        #expect(cancelled?.reason == .cancelled)
        #expect(await eventually { !socket.isConnected }, "half a handshake is of no use")
    }

    @Test func aCancelledTaskBeginsNothing() async throws {
        let pair = try ConnectedPair()
        let socket = pair.socket
        let sending = Task {
            _ = await cancelling(after: .seconds(600)) { try await socket.read(ReadRequest(.length(1))) }
            try await socket.send([9])
        }
        #expect(await eventually { pair.picture?.reading.current != nil })
        sending.cancel()
        let error = await #expect(throws: SocketError.self) { try await sending.value }
        #expect(error?.reason == .cancelled)
        socket.write([1])
        #expect(try pair.peerReceives(1) == [1])
    }
}
