import SocketKit
import SocketTestSupport
import Testing

@Suite struct ConnectingTests {
    @Test(arguments: ["127.0.0.1", "::1", "localhost"])
    func bothEndsMeetAndTalk(_ host: String) throws {
        let accepting = Recorder(onAccept: { $0.read(ReadRequest(.length(2), tag: 1)) })
        let reception = try Reception(.tcp(host: host, port: 0), accepting: accepting)
        let recorder = Recorder()
        let socket = try reception.connect(recorder, host: host)
        socket.write(Array("hi".utf8), tag: 5)
        #expect(eventually { recorder.calls == [.connected, .wrote(tag: 5)] })
        #expect(eventually { accepting.sockets.first?.isConnected == true })
        #expect(accepting.sockets.first?.peerAddress == socket.localAddress)
        let child = try #require(reception.engine.snapshot().sockets.first { $0.role == .accepted })
        #expect(child.parent == reception.listener.session)
        #expect(eventually { reception.engine.picture(of: child.id)?.received == 2 })
    }

    @Test func portZeroIsNothingToConnectTo() throws {
        let socket = AsyncSocket(engine: SocketEngine())
        let error = try #require(throws: SocketError.self) { try socket.connect(toHost: "localhost", port: 0) }
        #expect(error.reason == .badParameter && error.detail.contains("port"))
        #expect(socket.isDisconnected)
    }
}
