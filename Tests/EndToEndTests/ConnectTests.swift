import Glibc
import SocketTestSupport
import Testing

/// Programs whose connects are taken as they make them.
@Suite(
    "socktui run takes connects", .enabled(if: Peer.isUsable("python3", "curl"), "python3 or curl is missing"),
    .timeLimit(.minutes(10)))
struct ConnectTests {
    private static func server() throws -> (peer: Peer, port: UInt16) {
        let folder = try TemporaryFolder()
        folder.write("hello\n", to: "file")
        return try Peer.server(keeping: folder) {
            ["python3", "-m", "http.server", "--bind", "127.0.0.1", "-d", folder.path, "\($0)"]
        }
    }

    private static func run(_ options: [String] = [], _ words: [String]) throws -> (
        outcome: ChildProcess.Outcome, report: Report
    ) {
        let outcome = try Program.run(["run", "--json"] + options + ["--"] + words)
        return (outcome, try Report(outcome.output))
    }

    private static func text(_ path: String) -> String { (try? ChildProcess.run(["cat", path]).output) ?? "" }

    @Test("a program sees the same connects as without")
    func semantics() throws {
        let silence = try Peer.server { ["python3", "-c", ConnectSemantics.silence, "\($0)"] }
        let words = ["python3", "-c", ConnectSemantics.script, "\(silence.port)"]
        let bare = try ChildProcess.run(words).output.split(separator: "\n")
        let run = try Self.run([], words)
        let taken = run.outcome.errors.split(separator: "\n")
        try #require(bare.count >= 40, "\(bare)")
        try #require(taken.count >= bare.count, "\(run.outcome.errors)")
        for (one, other) in zip(bare, taken) { #expect(one == other) }
        #expect(run.report.lines("child").last?["via"] == .string("connect"))
        #expect(run.report.lines("child").last?["not_shown"].number ?? 0 >= 2, "UDP and Unix-domain")
    }

    /// The programs, each with what to ask for. `URL` and `PORT` stand for the server's.
    private static let programs: [[String]] = [
        ["curl", "-sS", "URL/file"],
        ["curl", "-sS", "URL/file", "URL/file", "URL/none"],
        ["wget", "-qO-", "URL/file"],
        ["python3", "-c", "import urllib.request as r; print(r.urlopen('URL/file').read())"],
        [
            "python3", "-c",
            """
            import asyncio
            async def ask():
                r, w = await asyncio.open_connection("127.0.0.1", PORT)
                w.write(b"GET /file HTTP/1.0\\r\\n\\r\\n")
                print((await r.read())[-6:], w.get_extra_info("peername"))
            asyncio.run(ask())
            """,
        ],
        ["bash", "-c", "exec 9<>/dev/tcp/127.0.0.1/PORT; printf 'GET /file HTTP/1.0\\r\\n\\r\\n' >&9; tail -n1 <&9"],
        ["sh", "-c", "printf 'GET /file HTTP/1.0\\r\\n\\r\\n' | nc -N 127.0.0.1 PORT | tail -n1"],
        ["sh", "-c", "printf 'GET /file HTTP/1.0\\r\\n\\r\\n' | socat -t9 - TCP:127.0.0.1:PORT | tail -n1"],
        ["node", "-e", "require('http').get('URL/file', a => a.on('data', b => console.log(`${b}`)))"],
        ["node", "-e", "fetch('URL/file').then(a => a.text()).then(console.log)"],
        [
            "node", "-e",
            "require('net').connect(PORT, '127.0.0.1', function () { console.log(this.remotePort === PORT); this.end() })",
        ],
    ]

    @Test("a program prints what it prints without, and its connections are shown", arguments: programs)
    func program(words: [String]) throws {
        guard Peer.isUsable(words[0]) else { return }
        let server = try Self.server()
        let url = "http://127.0.0.1:\(server.port)"
        let words = words.map { $0.replacing("URL", with: url).replacing("PORT", with: "\(server.port)") }
        let bare = try ChildProcess.run(words)
        let (outcome, report) = try Self.run([], words)
        let printed = bare.output + bare.errors
        #expect(outcome.errors.hasPrefix(printed) && outcome.status == bare.status, "\(outcome.errors)")
        #expect(report.sockets.contains { $0["target"] == .string("127.0.0.1:\(server.port)") })
        #expect(report.lines("child").last?["connections"].number ?? 0 >= 1)
    }

    @Test("redis-cli works, and so do latency, a reset and a refusal", .enabled(if: Peer.isUsable("redis-cli")))
    func redis() throws {
        let server = try Peer.redis()
        let ping = ["redis-cli", "-p", "\(server.port)", "ping"]
        let plain = try Self.run([], ping)
        #expect(plain.outcome.errors == "PONG\n" && plain.outcome.status == 0)
        let slow = try Self.run(["--fault", "downstream latency 100ms"], ping)
        #expect(slow.outcome.errors.contains("PONG\n"), "\(slow.outcome.errors)")
        let reset = try Self.run(["--fault", "upstream after 5 reset"], ping)
        #expect(reset.outcome.errors.contains("reset by peer"), "\(reset.outcome.errors)")
        let refused = try Self.run(["--fault", "refuse"], ping)
        #expect(refused.outcome.errors.contains("Connection refused"), "\(refused.outcome.errors)")
    }

    @Test("a target that refuses is the program's own error, and is shown")
    func refused() throws {
        let port = try Peer.freePort()
        let words = ["curl", "-sS", "http://127.0.0.1:\(port)/"]
        let bare = try ChildProcess.run(words)
        let (outcome, report) = try Self.run([], words)
        #expect(outcome.status == 7 && bare.status == 7 && outcome.errors.hasPrefix("curl: (7)"), "\(outcome.errors)")
        #expect(report.sockets.contains { $0["target"] == .string("127.0.0.1:\(port)") })
    }

    @Test("a run within a run offers a proxy, and says why")
    func nested() throws {
        let server = try Self.server()
        let inner = [Program.path, "run", "--", "curl", "-sS", "http://127.0.0.1:\(server.port)/file"]
        let (outcome, _) = try Self.run([], inner)
        #expect(outcome.status == 0 && outcome.errors.contains("hello"), "\(outcome.errors)")
        let reason = "run: connects can't be intercepted here (seccomp: Device or resource busy), so curl is offered an"
        #expect(outcome.errors.contains(reason + " HTTP proxy"), "\(outcome.errors)")
    }

    @Test("the program goes on if socktui is killed, and nothing is left once it has ended")
    func killed() throws {
        let server = try Self.server()
        let folder = try TemporaryFolder()
        let url = "http://127.0.0.1:\(server.port)/file"
        let script =
            "curl -sS \(url); echo $$ > \(folder.path)/started; while [ ! -e \(folder.path)/go ]; do sleep 0.05; done; "
            + "curl -sS \(url) > \(folder.path)/second"
        let run = try Peer([Program.path, "run", "--", "sh", "-c", script])
        try #require(eventually { access("\(folder.path)/started", F_OK) == 0 }, "\(run.complaints)")
        run.kill()
        folder.write("", to: "go")
        #expect(eventually { Self.text("\(folder.path)/second") == "hello\n" })
        let program = try #require(pid_t(Self.text("\(folder.path)/started").filter { $0 != "\n" }))
        #expect(eventually { kill(program, 0) != 0 })
    }

    /// The processes of a run.
    enum Part: CaseIterable { case socktui, guardian, program }

    private static let orders: [[Part]] = [
        [.socktui, .guardian, .program], [.socktui, .program, .guardian], [.guardian, .socktui, .program],
        [.guardian, .program, .socktui], [.program, .socktui, .guardian], [.program, .guardian, .socktui],
    ]

    @Test("in whichever order its processes are killed, none is left", arguments: orders)
    func killedInOrder(order: [Part]) throws {
        let folder = try TemporaryFolder()
        let run = try Peer([
            Program.path, "run", "--", "sh", "-c", "echo $$ > \(folder.path)/started; sleep 1000; true",
        ])
        var processes: [Part: pid_t] = [.socktui: run.process]
        try #require(
            eventually {
                let guardian = try ChildProcess.run(["pgrep", "-x", "-P", "\(run.process)", "socktui-guard"]).output
                processes[.guardian] = pid_t(guardian.filter { $0 != "\n" })
                processes[.program] = pid_t(Self.text("\(folder.path)/started").filter { $0 != "\n" })
                return processes.count == Part.allCases.count
            }, "\(run.complaints)")
        let sleeper = try ChildProcess.run(["pgrep", "-P", "\(processes[.program] ?? 0)"]).output
        for part in order { if let process = processes[part] { kill(process, SIGKILL) } }
        if let process = pid_t(sleeper.filter { $0 != "\n" }) { kill(process, SIGKILL) }
        #expect(eventually { run.hasEnded })
        for part in [Part.guardian, .program] {
            let process = try #require(processes[part])
            #expect(eventually { kill(process, 0) != 0 }, "\(part)")
        }
    }

    @Test("2,000 connections, 100 at a time, each get their own answer")
    func many() throws {
        let server = try Peer.server { ["python3", "-c", Self.answers, "\($0)"] }
        let words = [Program.path, "run", "--json", "--once", "--", "python3", "-c", Self.asks, "\(server.port)"]
        let outcome = try ChildProcess.run(
            words, environment: Program.environment(try Program.folder()), limit: .seconds(300))
        #expect(outcome.errors == "2000 right\n" && outcome.status == 0, "\(outcome.errors)")
        let child = try Report(outcome.output).lines("child").last
        #expect(child?["connections"] == .number(2_000) && child?["not_shown"] == .number(0))
    }

    /// What a relayed connection costs that any machine counts alike. The program's own calls are among them.
    @Test("a connection takes at most 100 system calls", .enabled(if: Peer.isUsable("strace"), "strace is missing"))
    func calls() throws {
        let server = try Peer.server { ["python3", "-c", Self.closes, "\($0)"] }
        let folder = try TemporaryFolder()
        let counts = try [100, 300].map { count in
            let words = ["run", "--once", "--", "python3", "-c", Self.connects, "\(server.port)", "\(count)"]
            let outcome = try ChildProcess.run(
                ["strace", "-f", "-c", "-o", "\(folder.path)/calls", Program.path] + words,
                environment: Program.environment(folder.path), limit: .seconds(300))
            try #require(outcome.status == 0, "\(outcome.errors)")
            let total = try #require(Self.text("\(folder.path)/calls").split(separator: "\n").last)
            return try #require(Int(total.split(separator: " ")[3]))
        }
        let each = Double(counts[1] - counts[0]) / 200
        print("system calls for each connection: \(each)")
        #expect(each <= 100)
    }

    private static let closes = """
        import socket, sys
        listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=256)
        while True: listener.accept()[0].close()
        """

    private static let connects = """
        import socket, sys
        for _ in range(int(sys.argv[2])):
            with socket.socket() as s:
                s.connect(("127.0.0.1", int(sys.argv[1])))
                assert s.recv(1) == b""
        """

    private static let answers = """
        import socketserver, sys
        class Answer(socketserver.StreamRequestHandler):
            def handle(self): self.wfile.write(self.rfile.readline().upper())
        class Server(socketserver.ThreadingTCPServer): request_queue_size, daemon_threads = 256, True
        Server(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
        """

    /// Half of its connects are nonblocking.
    private static let asks = """
        import concurrent.futures, socket, sys
        def ask(number):
            with socket.socket() as s:
                s.settimeout(60 if number % 2 else None)
                s.connect(("127.0.0.1", int(sys.argv[1])))
                s.sendall(b"number %d\\n" % number)
                return s.makefile("rb").read() == b"NUMBER %d\\n" % number
        with concurrent.futures.ThreadPoolExecutor(100) as pool: print(sum(pool.map(ask, range(2000))), "right")
        """
}
