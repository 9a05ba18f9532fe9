import Glibc
import SocketTestSupport
import Testing

/// What a run leaves when a signal ends it.
@Suite("Signals", .timeLimit(.minutes(10)), .enabled(if: Peer.isUsable("python3"), "python3 is missing"))
struct SignalTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Starts it as a script starts `COMMAND &`: SIGINT is ignored.
    private func start(_ words: [String]) throws -> Peer {
        let state = "XDG_RUNTIME_DIR=\(folder.path)"
        return try Peer(["env", "--ignore-signal=INT", "HOME=\(folder.path)", state, Program.path] + words)
    }

    /// Connects, exchanges a message, and sends the signal before the program can have reported it.
    private func exchange(on port: UInt16, _ process: pid_t, _ signal: Int32) throws {
        let script = """
            import os, socket, sys
            port, process, signal = map(int, sys.argv[1:])
            s = socket.create_connection(("127.0.0.1", port))
            s.sendall(b"ping\\n")
            s.recv(100)
            os.kill(process, signal)
            s.recv(100)
            """
        let outcome = try ChildProcess.run(["python3", "-c", script, "\(port)", "\(process)", "\(signal)"])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private func listen(_ options: String...) throws -> (peer: Peer, port: UInt16) {
        let port = try Peer.freePort()
        let words = ["listen", "127.0.0.1:\(port)", "--json", "--reply", "when /ping/ send pong\\n"]
        let peer = try start(words + options)
        try #require(eventually { peer.text.contains("\"phase\":\"listening\"") }, "\(peer.complaints)")
        return (peer, port)
    }

    @Test(
        "what happened before it is told and recorded, the closing by this program included, and it ends the program",
        arguments: [(SIGTERM, "TERM"), (SIGINT, "INT"), (SIGHUP, "HUP")])
    func known(signal: Int32, name: String) throws {
        let file = folder.path + "/r.pcapng"
        let (peer, port) = try listen("--record", file)
        try exchange(on: port, peer.process, signal)
        try #require(eventually { peer.hasEnded })
        #expect(peer.endSignal == signal && peer.complaints.isEmpty, "\(peer.complaints)")
        let report = try Report(peer.text)
        let end = try #require(report.lines.last)
        #expect(end["type"].string == "end" && end["signal"].string == name)
        #expect(end["status"].number == Double(128 + signal) && end["closed"].number == end["opened"].number)
        let row = try #require(report.sockets.first { $0["role"].string == "accepted" })
        let told = report.events(of: row["id"].number)
        #expect(told.contains("read_done") && told.contains("closed"), "\(told)")
        #expect(row["closed"]["reason"].string == "local_close")
        let opened = try Program.run("open", file, "--json", "--once")
        #expect(opened.status == 0 && opened.errors.isEmpty, "\(opened)")
        let recorded = try Report(opened.output)
        #expect(recorded.lines("lost").isEmpty)
        let again = try #require(recorded.sockets.first { $0["role"].string == "accepted" })
        #expect(again["closed"]["reason"].string == "local_close", "\(again)")
        #expect(recorded.events(of: again["id"].number) == told)
    }

    @Test("SIGTERM leaves no control socket")
    func control() throws {
        let (peer, port) = try listen("--control")
        func sockets() throws -> Int {
            let found = try ChildProcess.run(["find", folder.path, "-type", "s"]).output
            return found.split(separator: "\n").count
        }
        #expect(try sockets() == 1)
        try exchange(on: port, peer.process, SIGTERM)
        try #require(eventually { peer.hasEnded })
        #expect(try sockets() == 0)
    }

    @Test("a script ends by it with its recording whole")
    func script() throws {
        let (other, port) = try listen()
        let file = folder.path + "/s.pcapng"
        folder.write("wait connected\ntype ping\nkey Enter\nwait pong\ndump\nwait 1m never\n", to: "keys")
        let script = try start([
            "connect", "127.0.0.1:\(port)", "--script", folder.path + "/keys", "--record", file,
        ])
        try #require(eventually { script.text.contains("pong") }, "\(script.complaints)")
        kill(script.process, SIGTERM)
        try #require(eventually { script.hasEnded })
        #expect(script.endSignal == SIGTERM && script.complaints.isEmpty, "\(script.complaints)")
        let opened = try Program.run("open", file, "--json", "--once")
        #expect(opened.status == 0 && opened.errors.isEmpty, "\(opened)")
        #expect(try Report(opened.output).sockets.first?["closed"]["reason"].string == "local_close")
        #expect(eventually { other.text.contains("\"event\":\"peer_closed\"") })
    }

    /// A pipe that is full. Nothing reads it until its descriptor is closed.
    private func fullPipe() throws -> (path: String, descriptor: Int32) {
        let pipe = folder.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        while write(reader, [0x0A], 1) == 1 {}
        return (pipe, reader)
    }

    @Test("one is enough where nothing reads standard error")
    func errors() throws {
        let (pipe, reader) = try fullPipe()
        defer { close(reader) }
        let peer = try Peer(["sh", "-c", "exec \"$0\" connect 127.0.0.1:1 --json 2> \(pipe)", Program.path])
        try #require(eventually { peer.text.contains("\"type\":\"end\"") })
        kill(peer.process, SIGTERM)
        try #require(eventually { peer.hasEnded })
        #expect(peer.endSignal == SIGTERM)
    }

    @Test("one is enough for a script whose picture nothing reads")
    func picture() throws {
        let (pipe, reader) = try fullPipe()
        defer { close(reader) }
        folder.write("dump \(folder.path)/first\ndump\nwait 1m never\n", to: "keys")
        let line = "exec \"$0\" demo --script \(folder.path)/keys > \(pipe)"
        let peer = try Peer(["sh", "-c", line, Program.path])
        try #require(eventually { access(folder.path + "/first", F_OK) == 0 || peer.hasEnded }, "\(peer.complaints)")
        kill(peer.process, SIGTERM)
        try #require(eventually { peer.hasEnded })
        #expect(peer.endSignal == SIGTERM)
    }

    @Test(
        "in a script, TERM and HUP end the program that is run too, which gets the same", arguments: [SIGTERM, SIGHUP])
    func child(signal: Int32) throws {
        folder.write("wait 1m never\n", to: "keys")
        let traps = [SIGTERM, SIGHUP].map { "trap 'echo \($0) >> got; exit' \($0); " }.joined()
        let child = "cd \(folder.path); \(traps) touch begun; while :; do sleep 0.1; done"
        let peer = try start(["run", "--script", folder.path + "/keys", "--", "sh", "-c", child])
        try #require(eventually { access(folder.path + "/begun", F_OK) == 0 || peer.hasEnded }, "\(peer.complaints)")
        kill(peer.process, signal)
        try #require(eventually { peer.hasEnded })
        #expect(peer.endSignal == signal)
        #expect(try ChildProcess.run(["cat", folder.path + "/got"]).output == "\(signal)\n")
    }

    @Test("a second one ends it at once, also while the reader of its output reads nothing")
    func second() throws {
        let (pipe, reader) = try fullPipe()
        defer { close(reader) }
        let peer = try Peer(["sh", "-c", "exec \"$0\" listen 127.0.0.1:0 --json > \(pipe)", Program.path])
        try #require(eventually { ProcessFacts.catches(SIGTERM, peer.process) })
        kill(peer.process, SIGTERM)
        kill(peer.process, SIGINT)
        try #require(eventually { peer.hasEnded })
        #expect(peer.endSignal == SIGINT)
    }

    @Test("SIGQUIT ends a command at once, without a backtrace")
    func quit() throws {
        let peer = try Peer(["sh", "-c", "ulimit -c 0; exec \"$0\" mcp", Program.path])
        try peer.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
        try #require(eventually { peer.text.contains("\"id\":1") })
        kill(peer.process, SIGQUIT)
        try #require(eventually { peer.hasEnded })
        #expect(peer.endSignal == SIGQUIT && peer.complaints.isEmpty, "\(peer.complaints)")
    }
}
