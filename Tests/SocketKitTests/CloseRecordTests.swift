import SocketKit
import SocketTestSupport
import Testing

@Suite struct CloseRecordTests {
    @Test func aCloseThatCannotWaitForReadsAnyMoreDoesNotSayThatItDid() throws {
        let pair = try ConnectedPair()
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
