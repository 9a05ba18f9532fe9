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
        listener.configuration.allowsHalfOpen = true  // a client's FIN ends reading, not our replies
        try listener.listen(on: .tcp(host: "localhost", port: 0))
        let port = try #require(listener.localAddress?.port)
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true
        let socket = try await AsyncSocket.connect(
            to: .tcp(host: "localhost", port: port), on: engine, configuration: configuration)
        try await socket.send(Array("hello\r\nbye\r\n".utf8))
        // As `nc -N` does it: the lines before a FIN are echoed all the same.
        socket.halfClose()
        #expect(try await socket.read(ReadRequest(.length(12))) == Array("hello\r\nbye\r\n".utf8))
        withExtendedLifetime((echo, listener)) {}
    }
}

/// The end of the example, which never returns; no test calls it.
private func stayAlive() -> Never {
    dispatchMain()
}
