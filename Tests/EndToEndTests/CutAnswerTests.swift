import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Answers that end before they should, in runs for other programs. The text is there, and so is the failure.
@Suite("Answers that are cut off", .timeLimit(.minutes(10)))
struct CutAnswerTests {
    private func shell(_ line: String) throws -> ChildProcess.Outcome {
        let folder = try TemporaryFolder()
        return try ChildProcess.run(["sh", "-c", line], environment: Program.environment(folder.path))
    }

    @Test(
        "half an answer under TLS, and FIN without close_notify, though our own close_notify came first",
        .enabled(if: Certificates.problem == nil), arguments: ["localhost", "localhost."])
    func truncatedTLS(host: String) throws {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true
        let told = Recorder(onCall: { socket, call in
            if call == .closedReadStream { socket.write(Array("half".utf8)) }
            if case .wrote = call { _ = socket.withDescriptor { shutdown($0, Int32(SHUT_WR)) } }
        })
        let accepting = Recorder(onAccept: {
            $0.delegate = told
            $0.read(ReadRequest(.available(limit: nil), isStanding: true))
        })
        let listener = SocketListener(engine: SocketEngine(), delegate: accepting, configuration: configuration)
        defer { withExtendedLifetime(listener) {} }
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: .testServer())
        let port = try #require(listener.localAddress?.port)
        let connect = "\(Program.path) connect tls://\(host):\(port) --ca \(Certificates.path("ca.crt"))"
        let outcome = try shell("printf 'GET\n' | \(connect) -")
        #expect(outcome.status == 1 && outcome.output == "half", "\(outcome)")
        #expect(outcome.errors.contains("may be truncated"), "\(outcome)")
    }

    @Test("a WebSocket whose server leaves without a Close, as text and as JSON", arguments: [[], ["--json"]])
    func abortedWebSocket(options: [String]) throws {
        let told = WebSocketRecorder(onAccept: { $0.abort() })
        let listener = WebSocketListener(engine: SocketEngine(), delegate: told)
        defer { withExtendedLifetime(listener) {} }
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.localAddress?.port)
        let outcome = try Program.run(["connect", "ws://127.0.0.1:\(port)/"] + options)
        #expect(outcome.status == 1 && outcome.errors.contains("without a Close (1006)"), "\(outcome)")
        if !options.isEmpty { #expect(try Report(outcome.output).lines.last?["status"] == .number(1)) }
    }
}
