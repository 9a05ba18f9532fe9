import Dispatch
import SocketKit
import SocketTestSupport
import Testing

/// Ends that come at awkward times.
@Suite(.timeLimit(.minutes(10))) struct EndingTests {
    private var halfOpen: SocketConfiguration {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true
        return configuration
    }

    /// As a program does that ends with thousands of connections open.
    @Test func allEndingsAreListedOnceThereIsRoomForThem() throws {
        var configuration = EngineConfiguration()
        (configuration.eventCapacity, configuration.closedLimit) = (8, 2)
        let engine = SocketEngine(configuration)
        let pairs = try (0..<40).map { _ in try ConnectedPair(.unix, engine: engine) }
        let before = engine.snapshot(SnapshotRequest(eventsFrom: 0))
        engine.makeRoomForEndings()
        for pair in pairs { pair.socket.disconnect() }
        let after = engine.snapshot(SnapshotRequest(eventsFrom: before.nextEvent))
        #expect(after.sockets.map(\.phase) == Array(repeating: .closed, count: 40))
        #expect(after.eventsLost == 0)
        #expect(after.events.count { $0.kind == .closed } == 40)
    }

    @Test func aResetBetweenTwoChunksIsNoEndOfStream() async throws {
        let pair = try ConnectedPair()
        try pair.peerSends("abc")
        var chunks = pair.socket.chunks().makeAsyncIterator()
        #expect(try await chunks.next() == Array("abc".utf8))
        pair.closePeer(reset: true)
        #expect(await eventually { pair.recorder.isDisconnected })
        await #expect(throws: SocketError.self) { try await chunks.next() }
    }

    @Test func anEndBetweenTwoChunksIsOne() async throws {
        let pair = try ConnectedPair()
        try pair.peerSends("abc")
        var chunks = pair.socket.chunks().makeAsyncIterator()
        #expect(try await chunks.next() == Array("abc".utf8))
        pair.closePeer()
        #expect(await eventually { pair.recorder.isDisconnected })
        #expect(try await chunks.next() == nil)
    }

    @Test func closingOurSideAfterThePeersEndEndsTheSession() throws {
        let pair = try ConnectedPair(configuration: halfOpen)
        pair.peerShutsWrite()
        #expect(eventually { pair.recorder.calls.contains(.closedReadStream) })
        pair.socket.halfClose()
        #expect(eventually { pair.recorder.isDisconnected })
    }

    @Test func aResetAfterThePeersEndEndsTheSession() throws {
        let pair = try ConnectedPair(configuration: halfOpen)
        pair.peerShutsWrite()
        #expect(eventually { pair.recorder.calls.contains(.closedReadStream) })
        pair.closePeer(reset: true)
        #expect(eventually { pair.recorder.isDisconnected })
    }

    @Test func whoAwaitsBytesOfAHalfOpenConnectionIsToldOfItsEnd() async throws {
        let pair = try ConnectedPair(configuration: halfOpen)
        let socket = pair.socket
        let reading = Task { try await socket.read(ReadRequest(.length(1))) }
        #expect(await eventually { pair.engine.snapshot().sockets.first?.reading.current != nil })
        pair.peerShutsWrite()
        let result = await reading.result
        #expect(throws: SocketError.self) { try result.get() }
        await #expect(throws: SocketError.self) { try await socket.read(ReadRequest(.length(1))) }
        try await socket.send([1])
        #expect(try pair.peerReceives(1) == [1])
    }

    @Test func aSlowDelegateQueueIsFeltByThePeerAndNotByMemory() throws {
        let queue = DispatchQueue(label: "slow")
        let pair = try ConnectedPair(.unix)
        pair.engine.fence()
        pair.socket.delegateQueue = queue
        queue.suspend()
        pair.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
        let total = 8_000_000
        let sender = DispatchQueue(label: "peer")
        let peer = pair.peer
        sender.async {
            let bytes = [UInt8](repeating: 7, count: 65_536)
            var left = total
            while left > 0 { left -= max(0, bytes.withUnsafeBytes { LinuxKernel.sendAll(peer, $0.prefix(left)) }) }
        }
        #expect(eventually { pair.engine.snapshot().sockets.first?.flags.contains(.readSourceSuspended) == true })
        #expect(pair.engine.snapshot().sockets.first?.received ?? 0 < 4_000_000)
        queue.resume()
        #expect(eventually { pair.recorder.received.count == total })
    }

    @Test func deadlinesThatMoveCloserLeaveNothingBehind() throws {
        let pair = try ConnectedPair(.unix)
        pair.socket.read(ReadRequest(.length(1), timeout: .seconds(300)))
        for round in 1...50 {
            pair.socket.write([1], timeout: .milliseconds(1))
            #expect(
                eventually { pair.recorder.calls.filter { if case .wrote = $0 { true } else { false } }.count == round }
            )
        }
        // Outdated wake-ups would come again and again; the turns of an idle engine are those of the snapshots alone.
        #expect(
            eventually {
                let before = pair.engine.snapshot().counters.turns
                return pair.engine.snapshot().counters.turns == before + 1
            })
        #expect(pair.socket.isConnected)
    }
}

extension LinuxKernel {
    /// Blocks until all is sent; the number of bytes, or -1.
    fileprivate static func sendAll(_ descriptor: Int32, _ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        let buffer = UnsafeRawBufferPointer(rebasing: bytes)
        return withUnsafePointer(to: buffer) { pointer in
            let result = LinuxKernel().send(descriptor, UnsafeBufferPointer(start: pointer, count: 1))
            return if case .bytes(let count) = result { count } else { -1 }
        }
    }
}
