import Glibc
import SocketTestSupport
import Testing

/// Runs that reach the limits of their user: descriptors and threads.
@Suite("Limits of the user", .timeLimit(.minutes(10)))
struct ShortageTests {
    private static func shell(_ line: String) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            ["bash", "-c", line, Program.path], environment: Program.environment(try Program.folder()))
    }

    @Test(
        "without descriptors a run says so and ends",
        arguments: [
            "connect 127.0.0.1:1 --once", "listen 127.0.0.1:0 --json", "demo --once",
            "run -- true", "host --check", "why :1", "demo --script /dev/null", "mcp",
        ])
    func descriptors(words: String) throws {
        for limit in [4, 6, 8, 10, 16] {
            let outcome = try Self.shell("ulimit -n \(limit); exec \"$0\" \(words)")
            #expect(outcome.signal == nil && outcome.status == 1, "\(limit): \(outcome)")
            #expect(outcome.errors.contains("Too many open files (ulimit -n)"), "\(limit): \(outcome)")
        }
    }

    @Test("without threads a run says so and ends", .enabled(if: geteuid() == 0 && Peer.isUsable("setpriv")))
    func threads() throws {
        // The program may be where only root can go.
        let copy = "/tmp/socktui-shortage-\(getpid())"
        defer { unlink(copy) }
        _ = try ChildProcess.run(["install", "-m", "755", Program.path, copy])
        let outcome = try Self.shell(
            "ulimit -u 1; exec setpriv --reuid 65533 --clear-groups \(copy) connect 127.0.0.1:1 --once")
        #expect(outcome.signal == nil && outcome.status == 1, "\(outcome)")
        #expect(outcome.errors.contains("(ulimit -u)"), "\(outcome)")
    }

    @Test(
        "a running session goes on where a connect finds no descriptors, and a later one works",
        .enabled(if: Tmux.isUsable && Peer.isUsable("prlimit") && Peer.isUsable("python3")))
    func running() throws {
        let folder = try Program.folder()
        let (server, port) = try Peer.server { ["python3", "-m", "http.server", "-b", "127.0.0.1", "\($0)"] }
        let tmux = try Tmux(
            "echo $$ > \(folder)/pid; exec \(Program.path)", width: 80, height: 24,
            environment: Program.environment(folder))
        try tmux.waitForScreen()
        let process = try ChildProcess.run(["cat", "\(folder)/pid"]).output.filter(\.isNumber)
        func limit(_ number: Int) throws {
            let changed = try ChildProcess.run(["prlimit", "--pid", process, "--nofile=\(number):4096"])
            try #require(changed.status == 0, "\(changed)")
        }
        try limit(3)
        try tmux.keys("127.0.0.1:\(port)", "Enter")
        #expect(try tmux.waitFor("Too many open files"), tmux.picture)
        try limit(1_024)
        try tmux.keys("Enter")
        #expect(try tmux.waitFor("connected; no traffic"), tmux.picture)
        #expect(!server.hasEnded)
    }
}
