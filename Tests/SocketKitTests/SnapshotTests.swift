import SocketKit
import SocketTestSupport
import Testing

/// Pictures of sessions that stand still are used again; whatever changes has to show all the same.
@Suite struct SnapshotTests {
    /// The one connection, looked at until nothing about it changes by itself.
    private func settled(_ pair: ConnectedPair) -> SocketSnapshot? {
        #expect(eventually { picture(pair)?.receiveRate == 0 && picture(pair)?.activity.operationRate == 0 })
        return picture(pair)
    }

    private func picture(_ pair: ConnectedPair) -> SocketSnapshot? {
        pair.engine.snapshot().sockets.first { $0.id == pair.socket.session }
    }

    @Test func whatPassesShowsInThePictureOfASocketThatStoodStill() throws {
        let pair = try ConnectedPair()
        let still = try #require(settled(pair))
        #expect(picture(pair) == still)
        let read = pair.socket.read(ReadRequest(.length(10), tag: 7))
        #expect(picture(pair)?.reading.current?.id == read)
        try pair.peerSends("12345")
        #expect(eventually { picture(pair)?.reading.current?.done == 5 })
        #expect(picture(pair)?.received == still.received + 5)
        pair.socket.isReadingPaused = true
        #expect(picture(pair)?.isReadingPaused == true)
        pair.socket.halfClose()
        #expect(eventually { picture(pair)?.isWriteShut == true })
    }

    @Test func aDelegateThatIsGoneShowsThoughNothingHappened() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(10)))
        var delegate: Recorder? = Recorder()
        pair.socket.delegate = delegate
        _ = try #require(settled(pair))
        #expect(picture(pair)?.callbacks?.isHeard == true)
        delegate = nil
        #expect(delegate == nil)
        #expect(picture(pair)?.callbacks?.isHeard == false)
    }
}
