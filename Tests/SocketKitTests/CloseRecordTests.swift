import SocketKit
import SocketTestSupport
import Testing

@Suite struct CloseRecordTests {
    /// Lingers for longer than any test waits.
    private static var lingering: SocketConfiguration {
        var configuration = SocketConfiguration()
        configuration.lingerTime = .seconds(600)
        return configuration
    }

    @Test func aVerdictThatComesWhileLingeringComesTooLate() throws {
        let pair = try ConnectedPair(recorder: Recorder(verdict: { _ in .later }), configuration: Self.lingering)
        pair.socket.read(ReadRequest(.length(9), timeout: .milliseconds(1)))
        #expect(eventually { !pair.recorder.timeouts.isEmpty })
        pair.socket.disconnect(.afterWriting)
        #expect(eventually { pair.engine.snapshot().sockets.first?.phase == .lingering })
        pair.socket.answerTimeout(of: try #require(pair.recorder.timeouts.first?.operation), .close)
        #expect(pair.engine.snapshot().sockets.first?.phase == .lingering)
        pair.closePeer()
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.lastError == nil)
    }

    @Test func aCloseThatCannotWaitForReadsAnyMoreDoesNotSayThatItDid() throws {
        let pair = try ConnectedPair(configuration: Self.lingering)
        pair.socket.read(ReadRequest(.length(9)))
        pair.socket.write([1])
        pair.socket.disconnect(.afterWriting)
        #expect(eventually { pair.engine.snapshot().sockets.first?.phase == .lingering })
        pair.socket.disconnect(.afterReading)
        #expect(pair.engine.snapshot().sockets.first?.phase == .lingering)
        pair.closePeer()
        #expect(eventually { pair.recorder.isDisconnected })
        let record = try #require(pair.engine.snapshot().sockets.first?.closed)
        #expect(record.mode == .afterWriting && record.readsLost == 1)
    }
}
