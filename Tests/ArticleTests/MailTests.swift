import SocketKit
import SocketTestSupport
import Synchronization
import Testing

/// The mail client of the article, against a server that speaks as much SMTP as it needs.
@Suite("Mail client", .timeLimit(.minutes(10)), .enabled(if: Certificates.problem == nil)) struct MailTests {
    /// A server for one client, and the lines that it received.
    private final class Server: Sendable {
        let received = Mutex<[String]>([])
        let extensions: String
        /// Sent in plaintext, in one piece with the answer to STARTTLS.
        let forged: String

        init(extensions: String = "STARTTLS", forged: String = "") {
            self.extensions = extensions
            self.forged = forged
        }

        @Sendable func serve(_ connections: SocketConnections) async throws {
            for try await socket in connections { try? await talk(to: socket) }
        }

        private func talk(to socket: AsyncSocket) async throws {
            try await socket.send(Array("220 localhost ESMTP\r\n".utf8))
            var isMessage = false
            for try await line in socket.lines() {
                let line = String(decoding: line.dropLast(2), as: UTF8.self)
                received.withLock { $0.append((socket.isSecure ? "TLS " : "") + line) }
                if isMessage && line != "." { continue }
                isMessage = line == "DATA"
                try await socket.send(Array((answer(line) + "\r\n").utf8))
                if line == "STARTTLS" { try await socket.secure(.testServer()) }
            }
        }

        private func answer(_ line: String) -> String {
            switch line {
            case "EHLO localhost": "250-localhost\r\n250-SIZE 1000\r\n250 \(extensions)"
            case "STARTTLS": "220 ready" + forged
            case "DATA": "354 end with a dot"
            case "QUIT": "221 bye"
            default: "250 ok"
            }
        }
    }

    private func send(_ lines: [String], to server: Server) async throws {
        try await beside(serving: server.serve) { endpoint in
            try await MailClient.send(
                lines, from: "a@localhost", to: "b@localhost", through: endpoint, tls: .testClient())
        }
    }

    @Test("a message is sent under TLS, its dots doubled")
    func message() async throws {
        let server = Server()
        try await send(["Subject: hello", "", ".", "..", "end"], to: server)
        let message = ["Subject: hello", "", "..", "...", "end", "."]
        let envelope = ["EHLO localhost", "MAIL FROM:<a@localhost>", "RCPT TO:<b@localhost>", "DATA"]
        let secured = (envelope + message + ["QUIT"]).map { "TLS " + $0 }
        #expect(server.received.withLock { $0 } == ["EHLO localhost", "STARTTLS"] + secured)
    }

    @Test("nothing is sent without TLS")
    func noTLS() async throws {
        let server = Server(extensions: "PIPELINING")
        await #expect(throws: SMTP.Failure.self) { try await send(["secret"], to: server) }
        #expect(server.received.withLock { $0 } == ["EHLO localhost"])
    }

    @Test("a reply that was put in before TLS ends the connection")
    func forgedReply() async throws {
        let server = Server(forged: "\r\n250 STARTTLS")
        await #expect(throws: SocketError.self) { try await send(["secret"], to: server) }
        #expect(server.received.withLock { $0 } == ["EHLO localhost", "STARTTLS"])
    }
}
