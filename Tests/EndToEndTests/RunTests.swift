import Glibc
import SocketTestSupport
import Testing

/// Programs that nobody here wrote, run through the relay.
@Suite(
    "socktui run", .enabled(if: Peer.isUsable("python3", "curl", "git"), "python3, curl or git is missing"),
    .timeLimit(.minutes(10)))
struct RunTests {
    private static func server(_ folder: TemporaryFolder) throws -> (peer: Peer, port: UInt16) {
        folder.write("hello\n", to: "file")
        return try Peer.server(keeping: folder) {
            ["python3", "-m", "http.server", "--bind", "127.0.0.1", "-d", folder.path, "\($0)"]
        }
    }

    private static func run(_ words: String...) throws -> (outcome: ChildProcess.Outcome, report: Report) {
        let outcome = try Program.run(["run", "--json"] + words)
        return (outcome, try Report(outcome.output))
    }

    private static func legs(_ report: Report) -> [Value] {
        report.sockets.filter { $0["role"] != .string("listener") }
    }

    @Test("curl asks for http:// in absolute form: the server gets origin form, and both legs say so")
    func curl() throws {
        let server = try Self.server(TemporaryFolder())
        let (outcome, report) = try Self.run(
            "--proxy", "http", "--", "curl", "-sS", "http://127.0.0.1:\(server.port)/file")
        #expect(outcome.status == 0 && outcome.errors == "hello\n", "\(outcome)")
        let legs = Self.legs(report)
        #expect(legs.count == 2 && legs.allSatisfy { $0["relay"]["head_rewritten"] == .bool(true) })
        #expect(legs.last?["target"] == .string("127.0.0.1:\(server.port)"))
        let events = report.lines("event").filter { $0["event"] == .string("head_rewritten") }
        #expect(events.count == 1 && (events[0]["bytes"].number ?? 0) > (events[0]["sent_bytes"].number ?? 0))
        let child = try #require(report.lines("child").last)
        #expect(child["state"] == .string("ended") && child["connections"] == .number(1))
        #expect(
            eventually { server.peer.complaints.contains("\"GET /file HTTP/1.1\" 200") }, "\(server.peer.complaints)")
    }

    @Test("a rule holds until the server is connected, and breaks the connection at its byte")
    func faults() throws {
        let peer = try Self.server(TemporaryFolder())
        let url = "http://127.0.0.1:\(peer.port)/file"
        let (outcome, report) = try Self.run("--fault", "upstream after 20 reset", "--", "curl", "-sS", url)
        #expect(outcome.status == 56 && outcome.errors.contains("reset by peer"), "\(outcome)")
        let server = Self.legs(report).first { $0["role"] == .string("client") }
        #expect(server?["sent_bytes"] == .number(20) && server?["relay"]["lost_bytes"] == .number(0))
        #expect(report.lines("event").filter { $0["event"] == .string("faulted") }.count == 1)
    }

    @Test("urllib and git show their connections")
    func others() throws {
        let folder = try TemporaryFolder()
        let server = try Self.server(folder)
        let script = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:\(server.port)/file').read())"
        let python = try Self.run("--", "python3", "-c", script)
        #expect(python.outcome.errors == "b'hello\\n'\n" && Self.legs(python.report).count == 2)
        let made = try ChildProcess.run([
            "sh", "-c",
            """
            git init -q --bare \(folder.path)/repo.git && git init -q \(folder.path)/work && cd \(folder.path)/work &&
            git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git push -q ../repo.git HEAD:refs/heads/main &&
            git -C ../repo.git update-server-info
            """,
        ])
        try #require(made.status == 0, "\(made.errors)")
        let git = try Self.run("--", "git", "ls-remote", "http://127.0.0.1:\(server.port)/repo.git")
        #expect(git.outcome.status == 0 && git.outcome.errors.contains("refs/heads/main"), "\(git.outcome.errors)")
        #expect(Self.legs(git.report).count >= 2)
        #expect(git.report.lines("child").last?["connections"].number ?? 0 >= 1)
    }

    @Test("https:// goes through CONNECT, unaltered")
    func tunnel() throws {
        let certificate = Certificates.path("server.pem")
        let script = """
            import http.server, ssl, sys
            server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[2])
            server.socket = context.wrap_socket(server.socket, server_side=True)
            server.serve_forever()
            """
        let server = try Peer.server { ["python3", "-c", script, "\($0)", certificate] }
        for via in ["http", "socks", "both"] {
            let (outcome, report) = try Self.run(
                "--proxy", via, "--", "curl", "-sSk", "-o", "/dev/null", "-w", "%{http_code}",
                "https://127.0.0.1:\(server.port)/")
            #expect(outcome.errors == "200", "\(outcome)")
            let legs = Self.legs(report)
            #expect(legs.count == 2 && legs.allSatisfy { $0["relay"]["head_rewritten"] == .bool(false) })
        }
    }

    @Test(
        "its status is the program's",
        arguments: [
            (["sh", "-c", "exit 3"], 3), (["sh", "-c", "kill -9 $$"], 137), (["sh", "-c", "kill -TERM $$"], 143),
            (["true"], 0),
        ] as [([String], Int32)])
    func statuses(words: [String], status: Int32) throws {
        let outcome = try Program.run(["run", "--"] + words)
        #expect(outcome.status == status)
        #expect(outcome.errors.contains("without a connection through the relay: it made none"))
        #expect(try Self.run("--", words[0]).report.lines("end").count == 1)
    }

    @Test("what cannot be started is said in one line, with a shell's status")
    func unstartable() throws {
        let folder = try TemporaryFolder()
        folder.write("", to: "plain")
        for (words, line, status) in [
            (["nosuchcommand"], "socktui: run: nosuchcommand: no such command in PATH\n", Int32(127)),
            (["\(folder.path)/none"], "socktui: run: \(folder.path)/none: No such file or directory\n", 127),
            (["\(folder.path)/plain"], "socktui: run: \(folder.path)/plain: Permission denied\n", 126),
            (["\(folder.path)"], "socktui: run: \(folder.path): Is a directory\n", 126),
        ] {
            let outcome = try Program.run(["run", "--"] + words)
            #expect(outcome.errors == line && outcome.status == status)
        }
        let input = try Program.run(["run", "--stdin", "\(folder.path)/none", "cat"])
        #expect(
            input.errors == "socktui: --stdin: \(folder.path)/none: No such file or directory\n" && input.status == 1)
        #expect(try Program.run(["run"]).errors.contains("a command is missing, as in socktui run -- curl"))
        #expect(try Program.run(["run", "--secure", "true"]).status == 2)
    }

    @Test("it gets the file as its input or nothing, no descriptor of ours, a session of its own, and its limit")
    func surroundings() throws {
        let folder = try TemporaryFolder()
        folder.write("line\n", to: "input")
        let fed = try Program.run(["run", "--stdin", "\(folder.path)/input", "--", "cat"])
        #expect(fed.errors.hasPrefix("line\n"))
        let script = "cat; ls /proc/self/fd | wc -l; ulimit -Sn; cut -d' ' -f5,6 /proc/$$/stat; echo $$"
        let own = try ChildProcess.run(["sh", "-c", "ulimit -Sn 99; exec \(Program.path) run -- sh -c \"$0\"", script])
        let lines = own.errors.split(separator: "\n").map(String.init)
        try #require(lines.count >= 4, "\(own.errors)")
        let plain = try ChildProcess.run(["sh", "-c", "ls /proc/self/fd | wc -l"]).output
        #expect(
            lines[0] == String(plain.prefix { $0 != "\n" }) && lines[1] == "99"
                && lines[2] == "\(lines[3]) \(lines[3])", "\(own.errors)")
    }

    @Test(
        "the first INT, TERM or HUP is passed on, and a second one ends what does not heed it",
        arguments: [(SIGINT, "INT"), (SIGTERM, "TERM"), (SIGHUP, "HUP")])
    func signals(number: Int32, name: String) throws {
        let script = "trap 'echo got; exit 9' \(name); echo ready; while :; do sleep 0.05; done"
        // A shell cannot trap what is ignored where it begins, as SIGINT is in the background.
        let run = ["env", "--default-signal=INT", Program.path, "run", "--", "sh", "-c"]
        let heeding = try Peer(run + [script])
        try #require(eventually { heeding.complaints.contains("ready") })
        kill(heeding.process, number)
        #expect(eventually { heeding.hasEnded }, "\(heeding.complaints)")
        #expect(heeding.exitStatus == 9 && heeding.complaints.contains("got"), "\(heeding.complaints)")
        let stubborn = "trap 'echo no' INT TERM HUP; echo $$; while :; do sleep 0.05; done"
        let deaf = try Peer(run + [stubborn])
        try #require(eventually { deaf.complaints.contains("\n") })
        let child = try #require(pid_t(deaf.complaints.split(separator: "\n")[0]))
        kill(deaf.process, number)
        #expect(eventually { deaf.complaints.contains("no") } && !deaf.hasEnded)
        // Another one, since the same one within a moment counts once.
        kill(deaf.process, number == SIGTERM ? SIGINT : SIGTERM)
        #expect(eventually { deaf.hasEnded })
        #expect(eventually { kill(child, 0) != 0 }, "the program was left behind")
    }

    /// As a program does that finds at once that it is not wanted.
    @Test("a signal that the program causes as it begins is passed on to it")
    func signalAtOnce() throws {
        let script = "trap 'exit 9' INT; kill -INT $PPID; while :; do sleep 0.05; done"
        let runs = try (0..<16).map { _ in
            try Peer(["env", "--default-signal=INT", Program.path, "run", "--", "sh", "-c", script])
        }
        for run in runs { #expect(eventually { run.hasEnded } && run.exitStatus == 9, "\(run.complaints)") }
    }

    @Test(
        "on a screen it stays until it is left, shows the output, and ends with the program's status",
        .enabled(if: Tmux.isUsable))
    func screen() throws {
        let server = try Self.server(TemporaryFolder())
        let tmux = try Program.start(
            "run -- sh -c 'curl -s http://127.0.0.1:\(server.port)/file; printf \"\\033[31mred\\n\"; exit 5'")
        try tmux.waitForScreen()
        #expect(try tmux.waitFor("sh exit 5"), tmux.picture)
        #expect(try tmux.waitFor("ended with status 5, after 1 connection"), tmux.picture)
        try tmux.type("5")
        #expect(try tmux.waitFor("\\x1b[31mred"), tmux.picture)
        #expect(try tmux.text().contains("hello"), tmux.picture)
        try tmux.type("qq")
        try tmux.expectEnd(status: 5)
    }

    @Test("leaving asks while it runs, and ends it", .enabled(if: Tmux.isUsable))
    func leaving() throws {
        let tmux = try Program.start("run -- sh -c 'trap \"exit 6\" TERM; while :; do sleep 0.05; done'")
        try tmux.waitForScreen()
        #expect(try tmux.waitFor("running"), tmux.picture)
        try tmux.type("q")
        #expect(try tmux.waitFor("will get TERM"), tmux.picture)
        try tmux.type("y")
        try tmux.expectEnd(status: 6)
    }
}
