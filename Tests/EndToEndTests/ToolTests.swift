import Glibc
import SocketTestSupport
import Testing

/// `socktui mcp` as a client uses it.
@Suite("Answers for editors", .timeLimit(.minutes(10)))
struct ToolTests {
    private static func message(_ id: Int, _ method: String, _ parameters: String = "{}") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(parameters)}"#
    }

    /// A call that takes more than a second.
    private static func why(_ id: Int) -> String {
        message(id, "tools/call", #"{"name":"why","arguments":{"target":"\#(getpid())"}}"#)
    }

    /// Sends these lines to a server, and returns what it answers until it ends.
    private func answers(_ lines: [String]) throws -> ChildProcess.Outcome {
        let folder = try TemporaryFolder()
        let initialize = Self.message(0, "initialize", #"{"protocolVersion":"2025-06-18"}"#)
        folder.write((([initialize] + lines).joined(separator: "\n")) + "\n", to: "lines")
        return try ChildProcess.run(
            ["bash", "-c", "(cat \(folder.path)/lines) | \"$0\" mcp", Program.path],
            environment: Program.environment(folder.path))
    }

    private func ids(_ outcome: ChildProcess.Outcome) throws -> [Double] {
        try Report(outcome.output).lines.compactMap { line in
            if case .number(let number) = line["id"] { number } else { nil }
        }
    }

    @Test("a ping overtakes a call, and calls are answered after the end of the input")
    func ping() throws {
        let outcome = try answers([Self.why(1), Self.message(2, "ping"), Self.why(3), Self.why(4)])
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        let ids = try ids(outcome)
        #expect(ids.prefix(2) == [0, 2] && ids.sorted() == [0, 1, 2, 3, 4], "\(outcome)")
    }

    @Test("a cancelled call stops and is not answered")
    func cancelled() throws {
        let cancel = #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#
        let began = ContinuousClock.now
        let outcome = try answers([Self.why(1), cancel, Self.message(2, "ping")])
        #expect(try outcome.status == 0 && ids(outcome) == [0, 2], "\(outcome)")
        // The call alone would take longer; the margin is for a slow machine.
        #expect(.now - began < .seconds(30))
    }

    @Test("a run without a reader ends, whatever it still has to do")
    func noReader() throws {
        let folder = try TemporaryFolder()
        let lines = [Self.message(0, "initialize", #"{"protocolVersion":"2025-06-18"}"#)] + (1...60).map(Self.why)
        folder.write(lines.joined(separator: "\n") + "\n", to: "lines")
        let outcome = try ChildProcess.run(
            ["bash", "-c", "\"$0\" mcp < \(folder.path)/lines | head -n 1; exit ${PIPESTATUS[0]}", Program.path],
            environment: Program.environment(folder.path), limit: .seconds(30))
        #expect(outcome.status == 0 && outcome.output.contains("serverInfo"), "\(outcome)")
    }
}
