import SocketKit
import SocketTestSupport
import Testing

@Suite(.enabled(if: Peer.isUsable("nc"), "nc is missing"), .timeLimit(.minutes(10)))
struct NetcatTests {
    @Test func everyByteValueComesUnalteredWhereWeConnectAndThePeersCloseIsSeen() throws {
        let (peer, port) = try Peer.server { ["nc", "-l", "127.0.0.1", "\($0)"] }
        let end = try OurEnd.connected(to: .tcp(host: "127.0.0.1", port: port))
        try end.exchangesEveryByteValue(with: peer)
        try expectThePeersClose(end, peer)
    }

    @Test func everyByteValueComesUnalteredWhereWeListenAndThePeersCloseIsSeen() throws {
        let listener = try OurEnd.Listener(on: .tcp(host: "127.0.0.1", port: 0))
        let peer = try Peer(["nc", "-q", "0", "127.0.0.1", "\(listener.port)"])
        let end = try listener.accepted()
        try end.exchangesEveryByteValue(with: peer)
        try expectThePeersClose(end, peer)
    }

    @Test func ourCloseEndsThePeer() throws {
        let (peer, port) = try Peer.server { ["nc", "-l", "127.0.0.1", "\($0)"] }
        let end = try OurEnd.connected(to: .tcp(host: "127.0.0.1", port: port))
        end.socket.write(Array("bye\n".utf8), tag: 1)
        end.socket.disconnect(.afterWriting)
        #expect(eventually { peer.output == Array("bye\n".utf8) && peer.hasEndedOutput })
        peer.endInput()
        #expect(eventually { peer.hasEnded && end.recorder.calls.last == .disconnected(nil) })
    }

    private func expectThePeersClose(_ end: OurEnd, _ peer: Peer) throws {
        end.socket.read(ReadRequest(.length(100), tag: 9))
        try peer.write("the end")
        #expect(eventually { end.recorder.calls.contains(.readPartial(7, tag: 9)) })
        peer.kill()
        #expect(eventually { end.recorder.isDisconnected })
        #expect(
            end.recorder.calls.suffix(2) == [
                .failed(tag: 9, .closedByPeer, done: 7), .disconnected(.closedByPeer),
            ])
        #expect(end.recorder.failures.first?.bytes == Array("the end".utf8))
        #expect(end.socket.isDisconnected)
    }
}
