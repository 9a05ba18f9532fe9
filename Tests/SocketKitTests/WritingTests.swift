import SocketKit
import SocketTestSupport
import Testing

@Suite struct WritingTests {
    @Test func aHalfCloseSendsFINBehindTheWritesAndReadingGoesOn() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(5), tag: 9))
        pair.socket.write(Array("ask".utf8), tag: 1)
        pair.socket.halfClose()
        #expect(try pair.peerReceives(100) == Array("ask".utf8))
        try pair.peerSends("reply")
        #expect(eventually { pair.recorder.received == Array("reply".utf8) })
        pair.socket.write([1], tag: 2)
        #expect(eventually { pair.recorder.failures.map(\.tag) == [2] })
        #expect(pair.engine.snapshot().sockets.first?.isWriteShut == true)
    }

    @Test func aResetReachesThePeerAsOne() throws {
        let pair = try ConnectedPair()
        pair.socket.disconnect(.reset)
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(throws: PeerFailure.self) { try pair.peerReceives(1) }
    }
}
