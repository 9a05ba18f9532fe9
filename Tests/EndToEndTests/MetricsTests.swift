import SocketTestSupport
import Testing

/// `host --metrics` beside what Prometheus itself makes of it.
@Suite("Metrics", .enabled(if: Peer.isUsable("promtool", "curl"), "promtool is missing"), .timeLimit(.minutes(10)))
struct MetricsTests {
    private static func shell(_ line: String, _ arguments: String...) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            ["bash", "-c", line, Program.path] + arguments, environment: Program.environment(try Program.folder()),
            limit: .seconds(120))
    }

    /// Sockets of this test's own, under a name that tries to leave its label, and to write on the terminal.
    private static func hostile() throws -> Peer {
        let folder = try TemporaryFolder()
        folder.write(
            """
            import socket, sys
            a = socket.create_server(("127.0.0.1", 0))
            print("up", flush=True)
            sys.stdin.read()
            """, to: "o\"d\\d\u{1B}[31m{x=1} 2\nnäme.py")
        let peer = try Peer(
            ["bash", "-c", "exec python3 \"$0\"/*.py", folder.path], keeping: folder)
        try #require(eventually { String(decoding: peer.output, as: UTF8.self).contains("up") })
        return peer
    }

    @Test("promtool accepts what is printed once, with a program of a hostile name, and it is safe for a terminal")
    func check() throws {
        let peer = try Self.hostile()
        let line = "set -o pipefail; \"$0\" host --once --metrics - | tee >(promtool check metrics >&2)"
        let outcome = try Self.shell(line)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.output.contains(#"program="o\"d\\d"#) && !outcome.output.contains("\u{1B}"))
        withExtendedLifetime(peer) {}
    }

    @Test("it serves them to curl, says where, and ends by a signal")
    func serving() throws {
        let port = try Peer.freePort()
        let line = """
            "$0" host --metrics 127.0.0.1:$1 2>errors & program=$!
            until text=$(curl -sf http://127.0.0.1:$1/metrics); do kill -0 $program || exit 9; done
            grep -c '^socktui_looks_total ' <<< "$text"; cat errors >&2
            kill -TERM $program; wait $program
            """
        let outcome = try Self.shell("cd $HOME; \(line)", "\(port)")
        #expect(outcome.status == 143, "\(outcome)")
        #expect(outcome.output == "1\n" && outcome.errors == "socktui: metrics at http://127.0.0.1:\(port)/metrics\n")
    }

    @Test("promtool accepts the alerts among the examples")
    func alerts() throws {
        let examples = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Examples"
        let outcome = try Self.shell("promtool check rules \"$1\"/socktui-alerts.yml", examples)
        #expect(outcome.status == 0, "\(outcome)")
    }
}
