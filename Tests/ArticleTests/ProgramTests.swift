import SocketKit
import SocketTestSupport
import Testing

/// The articles' programs do what they are for.
@Suite("Programs of the articles", .timeLimit(.minutes(5))) struct ProgramTests {
    private static let hasCertificates = Certificates.problem == nil

    @Test("a TLS client reads a response, and refuses a certificate for another name", .enabled(if: hasCertificates))
    func tlsClient() async throws {
        let answer: @Sendable (SocketConnections) async throws -> Void = { connections in
            for try await socket in connections {
                let request = try? await socket.read(ReadRequest(.delimiter(Array("\r\n\r\n".utf8), limit: 4_096)))
                guard request?.starts(with: "GET / HTTP/1.1\r\nHost: localhost\r\n".utf8) == true else { continue }
                try await socket.send(Array("HTTP/1.1 200 OK\r\nServer: test\r\n\r\nbody".utf8))
                try await socket.disconnectAndWait(.afterWriting)
            }
        }
        let authority = Certificates.path("ca.crt")
        try await beside(tls: .testServer(), serving: answer) { server in
            let head = try await TLSClient.head(of: server, authority: authority)
            #expect(head == "HTTP/1.1 200 OK\r\nServer: test")
            await #expect(throws: SocketError.self) { try await TLSClient.head(of: server) }
        }
        try await beside(tls: .testServer("elsewhere"), serving: answer) { server in
            let error = await #expect(throws: SocketError.self) {
                try await TLSClient.head(of: server, authority: authority)
            }
            guard case .tls = try #require(error).reason else { throw try #require(error) }
        }
    }

    @Test("an echo server answers each line, those before a FIN too, and survives a client's reset")
    func echoServer() async throws {
        try await beside(halfOpen, serving: EchoServer.serve) { server in
            let engine = SocketEngine()
            let broken = try await AsyncSocket.connect(to: server, on: engine)
            try await broken.send([97])
            broken.disconnect(.reset)
            let socket = try await AsyncSocket.connect(to: server, on: engine, configuration: halfOpen)
            try await socket.send(Array("one\ntwo\r\n".utf8))
            socket.halfClose()
            var received: [UInt8] = []
            for try await chunk in socket.chunks() { received += chunk }
            #expect(received == Array("one\ntwo\r\n".utf8))
        }
    }
}
