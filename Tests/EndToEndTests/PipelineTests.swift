import Glibc
import SocketTestSupport
import Testing

@Suite("Runs for other programs: --expect, - and --payload", .timeLimit(.minutes(10)))
struct PipelineTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A peer that answers PING with PONG, and its port.
    private func server(_ arguments: String...) throws -> (peer: Peer, address: String) {
        let address = "127.0.0.1:\(try Peer.freePort())"
        let rules = ["--reply", "when /PING/ send +PONG\\r\\n"]
        let peer = try Peer([Program.path, "listen", address] + rules + arguments)
        try #require(eventually { peer.text.contains("listening") })
        return (peer, address)
    }

    /// Runs it under a shell, which can give it standard input.
    private func shell(_ line: String) throws -> ChildProcess.Outcome {
        try ChildProcess.run(["sh", "-c", line], environment: Program.environment(folder.path))
    }

    @Test("what is received ends a run with 0, and what was only sent does not")
    func expect() throws {
        let (peer, address) = try server()
        defer { withExtendedLifetime(peer) {} }
        let connect = "\(Program.path) connect \(address) --send 'PING\\r\\n'"
        let met = try shell("\(connect) --expect '/^\\+PONG$/' --within 30s")
        #expect(met.status == 0 && met.errors.isEmpty && met.output.contains("read done"))
        let inOrder = try shell("\(connect) --send 'PING\\r\\n' --expect +PO --expect 'hex:4e47 0d0a' --json")
        #expect(inOrder.status == 0)
        #expect(try Report(inOrder.output).lines.last?["status"] == .number(0))
        let sent = try shell("\(connect) --expect PING --within 300ms")
        #expect(sent.status == 1)
        #expect(
            sent.errors
                == "socktui: --expect: PING was not received within 300ms; the last bytes received were \"+PONG\\r\\n\"\n"
        )
    }

    @Test("what can no longer come is not waited for")
    func futile() throws {
        let port = try Peer.freePort()
        let refused = try shell("\(Program.path) connect 127.0.0.1:\(port) --expect x --within 1000s")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("Connection refused"))
        #expect(refused.errors.hasSuffix("x was not received, and every connection is closed; nothing was received\n"))
        // What fails at once is said once.
        let absent = try shell("\(Program.path) connect unix:\(folder.path)/absent | cat")
        #expect(absent.errors == "socktui: unix:\(folder.path)/absent: No such file or directory\n")
        // The last bytes come with the FIN.
        let path = "\(folder.path)/brief"
        let brief = try Peer(["sh", "-c", "echo bye | \(Program.path) listen unix:\(path) -"])
        try #require(eventually { access(path, F_OK) == 0 })
        let closed = try shell("\(Program.path) connect unix:\(path) --expect nope --within 1000s")
        #expect(
            closed.status == 1 && closed.errors.hasSuffix("closed; the last bytes received were \"bye\\n\"\n"),
            "\(closed)")
        #expect(eventually { brief.hasEnded })
    }

    @Test("- carries megabytes both ways, byte for byte, and ends with both directions")
    func pipe() throws {
        let path = "\(folder.path)/server"
        let server = try Peer([
            "sh", "-c", "\(Program.path) listen unix:\(path) - < \(Program.path) | cksum; echo ended",
        ])
        try #require(eventually { access(path, F_OK) == 0 })
        let client = try shell("head -c 3000000 /dev/zero | \(Program.path) connect unix:\(path) - | cksum")
        let there = try shell("head -c 3000000 /dev/zero | cksum")
        let here = try shell("cksum < \(Program.path)")
        #expect(client.output == here.output && client.errors.isEmpty)
        #expect(eventually { server.text.contains("ended") })
        #expect(server.text == there.output + "ended\n")
    }

    @Test("what is piped in without - is not sent, and that is said")
    func forgotten() throws {
        let (peer, address) = try server()
        defer { withExtendedLifetime(peer) {} }
        let connect = "\(Program.path) connect \(address) --expect PONG --within 300ms"
        let words = "socktui: standard input was not read; write - after the target to send it\n"
        #expect(try shell("echo PING | \(connect)").errors.contains(words))
        #expect(try !shell("\(connect) < /dev/null").errors.contains(words))
    }

    @Test("input that cannot be read or sent is told of")
    func brokenInput() throws {
        let (peer, address) = try server()
        defer { withExtendedLifetime(peer) {} }
        let folderInput = try shell("\(Program.path) connect \(address) - < /")
        #expect(folderInput.status == 1 && folderInput.errors == "socktui: standard input: Is a directory\n")
        let refused = try shell("echo x | \(Program.path) connect 127.0.0.1:\(try Peer.freePort()) -")
        #expect(refused.status == 1 && refused.errors.split(separator: "\n").count == 1)
        let twice = try shell("\(Program.path) connect \(address) - --json")
        #expect(twice.status == 2 && twice.output.isEmpty)
    }

    @Test("--payload has the bytes of both directions")
    func payload() throws {
        let (peer, address) = try server()
        defer { withExtendedLifetime(peer) {} }
        let outcome = try shell(
            "\(Program.path) connect \(address) --send 'PING\\r\\n' --expect PONG --json --payload 5")
        let report = try Report(outcome.output)
        let lines = report.lines("payload")
        #expect(lines.map { $0["direction"].string } == ["sent", "received"])
        #expect(lines.map { $0["text"].string } == ["PING\r", "+PONG"])
        #expect(lines.map { $0["base64"].string } == ["UElORw0=", "K1BPTkc="])
        #expect(lines.map { $0["bytes"].number } == [6, 7])
    }
}
