import SocketKit
import SocketTestSupport
import Testing

/// The articles' programs do what they are for.
@Suite("Programs of the articles", .timeLimit(.minutes(10))) struct ProgramTests {
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

    private func member(
        _ name: String, of server: Endpoint, others: Int, receiveBuffer: Int? = nil
    ) async throws -> AsyncSocket {
        var configuration = SocketConfiguration()
        configuration.options.receiveBuffer = receiveBuffer
        let socket = try await AsyncSocket.connect(to: server, on: SocketEngine(), configuration: configuration)
        #expect(try await line(from: socket) == "Your name?")
        try await socket.send(Array("\(name)\r\n".utf8))
        #expect(try await line(from: socket) == "\(others) others are here")
        return socket
    }

    @Test("members of a chat read what the others say, without control characters, and who comes and goes")
    func chatServer() async throws {
        try await beside(serving: ChatServer.serve) { server in
            let ann = try await member("ann", of: server, others: 0)
            let bob = try await member("bob", of: server, others: 1)
            #expect(try await line(from: ann) == "bob joined")
            try await ann.send(Array("hi \u{1B}[2J bob\r\n".utf8))
            #expect(try await line(from: bob) == "ann: hi [2J bob")
            try await bob.send(Array("hi ann\n".utf8))
            #expect(try await line(from: ann) == "bob: hi ann")
            try await bob.disconnectAndWait(.afterWriting)
            #expect(try await line(from: ann) == "bob left")
        }
    }

    @Test("a member of a chat who does not read is dropped")
    func slowMember() async throws {
        try await beside(serving: ChatServer.serve) { server in
            let slow = try await member("slow", of: server, others: 0, receiveBuffer: 4_096)
            let listener = try await member("listener", of: server, others: 1)
            let talker = try await member("talker", of: server, others: 2)
            let text = [UInt8](repeating: 97, count: 1_000) + [10]
            var heard = ""
            // Far more than the kernel's buffers hold.
            for _ in 0..<100_000 where heard != "slow left" {
                try await talker.send(text)
                heard = try await line(from: listener)
            }
            #expect(heard == "slow left")
            withExtendedLifetime(slow) {}
        }
    }
}
