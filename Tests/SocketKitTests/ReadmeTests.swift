import Dispatch
import SocketKit
import SocketTestSupport
import Testing

final class Echo: SocketListenerDelegate {
    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        Task { for try await line in socket.lines() { try await socket.send(line) } }
    }
}

@Suite(.timeLimit(.minutes(10))) struct ReadmeTests {
    /// The example of README, which the soundness tests compare with this file.
    @Test func theExampleEchoesLines() async throws {
        let engine = SocketEngine()
        let echo = Echo()
        let listener = SocketListener(engine: engine, delegate: echo)
        try listener.listen(on: .tcp(host: "localhost", port: 0))
        let port = try #require(listener.localAddress?.port)
        let socket = try await AsyncSocket.connect(to: .tcp(host: "localhost", port: port), on: engine)
        try await socket.send(Array("hello\r\nbye\r\n".utf8))
        #expect(try await socket.bytes(ReadRequest(.length(12))) == Array("hello\r\nbye\r\n".utf8))
        withExtendedLifetime((echo, listener)) {}
    }
}

/// The end of the example, which never returns; no test calls it.
private func stayAlive() -> Never {
    dispatchMain()
}
