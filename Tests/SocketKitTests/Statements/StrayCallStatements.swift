import SocketKit
import SocketTestSupport
import Testing

/// Statements 11 to 14: calls that come at the wrong time or ask for what cannot be.
@Suite(.timeLimit(.minutes(10))) struct StrayCallStatements {
    @Test func statement011_withoutASessionOperationsFailAndNothingElseHappensEver() throws {
        let engine = SocketEngine()
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        socket.read(ReadRequest(.length(1), tag: 1))
        socket.write([1], tag: 2)
        socket.disconnect()
        for mode in CloseMode.allCases { socket.disconnect(mode) }
        socket.halfClose()
        socket.cancel(.reads)
        socket.isReadingPaused = true
        engine.fence()
        #expect(
            recorder.calls == [.failed(tag: 1, .notConnected, done: 0), .failed(tag: 2, .notConnected, done: 0)])
        #expect(socket.isDisconnected && !socket.isConnected)
        #expect(engine.snapshot().counters.opened == 0)
    }

    @Test func statement012_whatWasQueuedBeforeConnectEndsThereAndTakesNothingOfTheSession() throws {
        let reception = try Reception(accepting: Recorder(onAccept: { $0.write(Array("xy".utf8)) }))
        let recorder = Recorder()
        let socket = AsyncSocket(engine: reception.engine, delegate: recorder)
        socket.read(ReadRequest(.length(1), tag: 1))
        socket.write([1], tag: 2)
        try socket.connect(toHost: "127.0.0.1", port: reception.port)
        socket.read(ReadRequest(.length(2), tag: 3))
        #expect(eventually { recorder.calls.count == 4 })
        #expect(
            recorder.calls == [
                .failed(tag: 1, .notConnected, done: 0), .failed(tag: 2, .notConnected, done: 0), .connected,
                .text("xy", tag: 3),
            ])
        #expect(reception.engine.picture(of: socket.session)?.sent == 0)
    }

    @Test func statement013_whatCannotBeIsRefusedWithItsArgumentAndTheNextOneWorks() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(0), tag: 1))
        pair.socket.read(ReadRequest(.delimiter([], limit: nil), tag: 2))
        pair.socket.write([], tag: 3)
        pair.socket.read(ReadRequest(.available(limit: 0), tag: 4))
        pair.socket.read(ReadRequest(.delimiter([13, 10], limit: 1), tag: 5))
        pair.socket.read(ReadRequest(.length(1), timeout: .seconds(-1), tag: 6))
        pair.socket.write([1], timeout: .seconds(-1), tag: 7)
        pair.socket.read(ReadRequest(.length(2), tag: 8))
        try pair.peerSends("ok")
        #expect(eventually { pair.recorder.calls.last == .text("ok", tag: 8) })
        let refused = (1...7).map { Recorder.Call.failed(tag: $0, .badParameter, done: 0) }
        #expect(pair.recorder.calls == [.connected] + refused + [.text("ok", tag: 8)])
        let named = ["length 0", "delimiter", "bytes", "limit 0", "limit 1", "timeout", "timeout"]
        for (failed, argument) in zip(pair.recorder.failures, named) {
            #expect(failed.error.detail.contains(argument))
        }
    }

    /// Reads hand over arrays of their own, so there is no buffer to append to; the caller appends.
    @Test func statement014_anAvailableReadHandsOverOnlyItsOwnBytes() throws {
        let pair = try ConnectedPair()
        var gathered: [UInt8] = []
        for (tag, text) in ["first", " and ", "second"].enumerated() {
            pair.socket.read(ReadRequest(.available(limit: nil), tag: tag))
            try pair.peerSends(text)
            #expect(eventually { pair.recorder.calls.last == .text(text, tag: tag) })
            if case .read(let bytes, _) = pair.recorder.calls.last { gathered += bytes }
        }
        #expect(gathered == Array("first and second".utf8))
        #expect(pair.recorder.calls.count == 4)
    }
}
