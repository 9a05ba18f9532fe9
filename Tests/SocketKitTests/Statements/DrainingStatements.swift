import Dispatch
import SocketKit
import SocketTestSupport
import Testing

/// Statements 71 to 79: the ways to close.
@Suite(.timeLimit(.minutes(10))) struct DrainingStatements {
    private static let long = [UInt8](repeating: 7, count: 3_000_000)

    /// The calls without those for parts of a write, of which there may be any number.
    private func calls(_ recorder: Recorder) -> [Recorder.Call] {
        recorder.calls.filter { if case .wrotePartial = $0 { false } else { true } }
    }

    @Test(arguments: [false, true])
    func statement071_closingAfterWritingDeliversEveryByteAndThenTheEnd(_ hasUnreadInput: Bool) throws {
        let pair = try ConnectedPair()
        if hasUnreadInput { try pair.peerSends("nobody reads this") }
        for tag in 1...3 { pair.socket.write(Self.long, tag: tag) }
        pair.socket.disconnect(.afterWriting)
        let total = 3 * Self.long.count
        #expect(try pair.peerReceives(total + 1).count == total, "every byte, then the end and no reset")
        pair.closePeer()
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(
            calls(pair.recorder) == [
                .connected, .wrote(tag: 1), .wrote(tag: 2), .wrote(tag: 3), .disconnected(nil),
            ])
    }

    @Test(arguments: [CloseMode.afterReading, .afterWriting, .afterBoth])
    func statement072_operationsAfterTheOrderToCloseAreRefused(_ mode: CloseMode) throws {
        let pair = try ConnectedPair(.unix)
        pair.socket.read(ReadRequest(.length(1), tag: 1))
        pair.socket.write(Self.long, tag: 2)
        pair.socket.disconnect(mode)
        pair.socket.read(ReadRequest(.length(1), tag: 3))
        pair.socket.write([1], tag: 4)
        pair.engine.fence()
        #expect(pair.recorder.failures.filter { $0.tag > 2 }.map(\.error.reason) == [.disconnected, .disconnected])
        try pair.peerSends("ab")
        if mode != .afterReading {
            #expect(try pair.peerReceives(Self.long.count + 1) == Self.long)
            pair.closePeer()
        }
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.calls.last == .disconnected(nil))
        #expect(pair.recorder.received.count <= 1)
        #expect(!pair.recorder.calls.contains(.wrote(tag: 4)))
    }

    @Test func statement073_withNothingToWriteClosingAfterWritingLeavesTheReadAlone() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(1), tag: 1))
        pair.socket.disconnect(.afterWriting)
        #expect(try pair.peerReceives(1) == [])
        pair.closePeer()
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.calls == [.connected, .failed(tag: 1, .disconnected, done: 0), .disconnected(nil)])
    }

    @Test func statement074_withNothingToReadClosingAfterReadingEndsTheWrite() throws {
        let pair = try ConnectedPair(.unix)
        pair.socket.write(Self.long, tag: 1)
        #expect(eventually { pair.picture?.flags.contains(.socketCanAcceptBytes) == false })
        pair.socket.disconnect(.afterReading)
        #expect(pair.socket.isDisconnected)
        pair.engine.fence()
        let done = try #require(pair.recorder.failures.first?.done)
        #expect(done > 0 && done < Self.long.count)
        #expect(
            calls(pair.recorder) == [.connected, .failed(tag: 1, .disconnected, done: done), .disconnected(nil)])
    }

    @Test(arguments: [[CloseMode.afterBoth], [.afterReading, .afterWriting], [.afterWriting, .afterReading]])
    func statement075_closingAfterBothWaitsForBoth(_ modes: [CloseMode]) throws {
        for readsFirst in [true, false] {
            let pair = try ConnectedPair(.unix)
            pair.socket.read(ReadRequest(.length(2), tag: 1))
            pair.socket.write(Self.long, tag: 2)
            for mode in modes { pair.socket.disconnect(mode) }
            let feed = { try pair.peerSends("ab") }
            let take = {
                let bytes = try pair.peerReceives(Self.long.count)
                #expect(bytes == Self.long)
            }
            try readsFirst ? feed() : take()
            #expect(eventually { calls(pair.recorder).count == 2 })
            pair.engine.fence()
            #expect(pair.picture?.phase == .connected)
            try readsFirst ? take() : feed()
            #expect(try pair.peerReceives(1) == [], "the end follows")
            pair.closePeer()
            #expect(eventually { pair.recorder.isDisconnected })
            let completions: [Recorder.Call] = [.text("ab", tag: 1), .wrote(tag: 2)]
            #expect(
                calls(pair.recorder) == [.connected] + (readsFirst ? completions : completions.reversed())
                    + [.disconnected(nil)])
        }
    }

    @Test func statement076_whileConnectingClosingAfterReadingWaitsOnlyForReads() throws {
        let reception = try Reception(accepting: Recorder(onAccept: { $0.write(Array("x".utf8)) }))
        let resolver = HeldResolver()
        let engine = SocketEngine.with(resolver: resolver)
        let (empty, waiting) = (Recorder(), Recorder())
        let hasty = AsyncSocket(engine: engine, delegate: empty)
        try hasty.connect(toHost: "slow.example", port: 80)
        hasty.disconnect(.afterReading)
        #expect(hasty.isDisconnected)
        let patient = AsyncSocket(engine: engine, delegate: waiting)
        try patient.connect(toHost: "slow.example", port: 80)
        patient.read(ReadRequest(.length(1), tag: 1))
        patient.disconnect(.afterReading)
        #expect(!patient.isDisconnected)
        engine.fence()
        #expect(empty.calls == [.disconnected(nil)] && waiting.calls == [])
        resolver.answer(.success([reception.address]))
        #expect(eventually { waiting.isDisconnected })
        #expect(waiting.calls == [.connected, .text("x", tag: 1), .disconnected(nil)])
        #expect(empty.calls == [.disconnected(nil)])
    }

    @Test func statement077_disconnectEndsEverythingAtOnceAndItsCallbackComesLater() throws {
        let pair = try ConnectedPair(.unix)
        pair.socket.read(ReadRequest(.length(1), tag: 1))
        pair.socket.write(Self.long, tag: 2)
        pair.socket.write([1], tag: 3)
        #expect(eventually { pair.picture?.flags.contains(.socketCanAcceptBytes) == false })
        pair.engine.fence()
        let queue = DispatchQueue(label: "delegate")
        pair.socket.delegateQueue = queue
        queue.suspend()
        let before = pair.recorder.calls
        pair.socket.disconnect()
        #expect(pair.socket.isDisconnected && !pair.socket.isConnected && pair.socket.session == nil)
        pair.engine.fence()
        #expect(pair.recorder.calls == before)
        queue.resume()
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.failures.map(\.tag) == [1, 2, 3])
        #expect(pair.recorder.failures.allSatisfy { $0.error.reason == .disconnected })
        #expect(pair.recorder.calls.count == before.count + 4)
        #expect(pair.recorder.calls.last == .disconnected(nil) && pair.recorder.lastError == nil)
    }

    @Test func statement078_disconnectingTwiceIsToldOnce() throws {
        let pair = try ConnectedPair()
        pair.engine.fence()
        pair.socket.disconnect()
        pair.socket.disconnect()
        pair.socket.disconnect(.now)
        pair.engine.fence()
        #expect(pair.recorder.calls == [.connected, .disconnected(nil)])
    }

    @Test func statement079_reconnectingInsideDidDisconnectWorksAndLeaksNoDescriptor() throws {
        let kernel = FaultyKernel()
        let engine = SocketEngine.with(kernel: kernel)
        let reception = try Reception(engine: engine, accepting: Recorder(onAccept: { $0.disconnect(.afterWriting) }))
        let baseline = kernel.openDescriptors
        let left = Lock(100)
        let port = reception.port
        let recorder = Recorder(onCall: { socket, call in
            guard case .disconnected = call else { return }
            let isLast = left.withLock { left in
                left -= 1
                return left == 0
            }
            if !isLast { try? socket.connect(toHost: "127.0.0.1", port: port) }
        })
        try reception.connect(recorder)
        #expect(eventually { left.withLock { $0 } == 0 })
        let round: [Recorder.Call] = [.connected, .disconnected(.closedByPeer)]
        #expect(recorder.calls == (0..<100).flatMap { _ in round })
        #expect(eventually { kernel.openDescriptors == baseline })
    }
}
