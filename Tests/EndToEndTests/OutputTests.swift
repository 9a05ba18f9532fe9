import Glibc
import SocketTestSupport
import Testing

/// What the program writes to standard output and standard error, and what becomes of it when that cannot be written.
@Suite("Output", .timeLimit(.minutes(10)))
struct OutputTests {
    /// Runs a line of a shell; `$0` is the program.
    private static func shell(_ line: String) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            ["bash", "-c", line, Program.path], environment: Program.environment(try Program.folder()))
    }

    /// A terminal would act on none of these.
    private static func isSafe(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n"
                || !(scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format)
        }
    }

    @Test(
        "what was typed is repeated without its control characters, on one line",
        arguments: [
            "$'a\\n\\e[2J\\u202eb'", "demo --color=$'\\e[31m'", "--config $'/no\\e[2J'",
            "connect h:1 --send $'\\\\q\\e[2J'", "attach $'/no\\e[2J.sock' --json", "--script $'/no\\xc2\\x9b2J'",
            "listen tls://h:1 --cert $'/no\\e[2J' --key x",
        ])
    func arguments(words: String) throws {
        let outcome = try Self.shell("exec \"$0\" \(words)")
        #expect(outcome.status != 0)
        #expect(Self.isSafe(outcome.output + outcome.errors), "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("\\x1b") || outcome.errors.contains("\\x9b"), "\(outcome.errors)")
    }

    @Test("a server's reason phrase reaches neither stream raw")
    func reasonPhrase() throws {
        let server = """
            import socket, sys; s = socket.create_server(('127.0.0.1', int(sys.argv[1]))); c, _ = s.accept(); c.recv(4096)
            c.sendall(b'HTTP/1.1 403 \\xc2\\x9b31mRED \\xe2\\x80\\xaegnp \\xc2\\x9d0;t\\xc2\\x9c\\r\\nContent-Length: 0\\r\\n\\r\\n'); c.close()
            """
        let (peer, port) = try Peer.server { ["python3", "-c", server, "\($0)"] }
        defer { peer.kill() }
        let outcome = try Program.run("connect", "ws://127.0.0.1:\(port)/")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("\\x9b31mRED \\u{202e}gnp \\x9d0;t\\x9c"), "\(outcome.errors)")
        #expect(Self.isSafe(outcome.output + outcome.errors))
    }

    @Test(
        "output that cannot be written is said so, and is a failure",
        arguments: [
            "connect 127.0.0.1:1 --json", "connect 127.0.0.1:1 --json --once", "connect 127.0.0.1:1", "--help",
            "--version", "help man", "completions bash", "config",
        ])
    func fullDisk(words: String) throws {
        let outcome = try Self.shell("exec \"$0\" \(words) > /dev/full")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("socktui: standard output: No space left on device\n"), "\(outcome.errors)")
    }

    @Test("a reader that has seen enough is no failure", arguments: ["--help", "help man", "completions zsh"])
    func earlyEnd(words: String) throws {
        let outcome = try Self.shell("\"$0\" \(words) | exec true; exit ${PIPESTATUS[0]}")
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty, "\(outcome.errors)")
    }

    @Test("a script's picture that cannot be written fails its line")
    func fullDump() throws {
        let outcome = try Self.shell("exec \"$0\" --script <(echo dump) > /dev/full")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("standard output: No space left on device"), "\(outcome.errors)")
    }

    @Test(
        "streams that are missing are no files and pipes of the program",
        arguments: ["<&- >&-", ">&-", "<&-", "<&- >&- 2>&-", "2>&-"])
    func missingStreams(redirections: String) throws {
        let folder = try Program.folder()
        let command = "\"$0\" connect 127.0.0.1:1 --json --once \(redirections)"
        let ended = try Self.shell("\(command); echo \"ended $?\" > \(folder)/status; cat \(folder)/status")
        // Nobody listens at that port: 1. It was 251 where a line of the report was taken for a signal.
        #expect(ended.output.hasSuffix("ended 1\n"), "\(ended)")
        if redirections == ">&-" {
            #expect(ended.errors.contains("standard output: Bad file descriptor"), "\(ended.errors)")
        }
    }

    @Test("signals are heard while the reader of the report reads nothing", arguments: [SIGTERM, SIGINT])
    func stuckReader(signal: Int32) throws {
        let folder = try Program.folder()
        try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
        // Keeps the pipe open, and reads nothing from it.
        let reader = open("\(folder)/pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        defer { close(reader) }
        let command =
            "(echo \"process $BASHPID.\" >&2; exec \"$0\" demo --json > \(folder)/pipe); echo \"ended $?\" >&2"
        let peer = try Peer(["bash", "-c", command, Program.path])
        #expect(eventually { peer.complaints.contains(".") }, "\(peer.complaints)")
        let process = try #require(pid_t(peer.complaints.split { " .".contains($0) }[1]))
        defer { kill(process, SIGKILL) }
        // More than half of the pipe is full, and nothing was added for several reports.
        var (waiting, since) = (0, ContinuousClock.now)
        #expect(
            eventually {
                var now: Int32 = 0
                _ = ioctl(reader, UInt(FIONREAD), &now)
                if Int(now) != waiting { (waiting, since) = (Int(now), .now) }
                return waiting > 32 << 10 && ContinuousClock.now - since > .milliseconds(700)
            })
        kill(process, signal)
        let hasEnded = eventually { peer.complaints.contains("ended \(128 + signal)\n") }
        #expect(hasEnded, "\(peer.complaints)")
    }

    @Test("SIGINT ends a report whose last lines nobody reads")
    func unreadEnd() throws {
        let folder = try Program.folder()
        try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
        let pipe = open("\(folder)/pipe", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(pipe >= 0)
        defer { close(pipe) }
        let command =
            "(echo \"process $BASHPID.\" >&2; exec \"$0\" listen 127.0.0.1:0 --json > \(folder)/pipe); echo \"ended $?\" >&2"
        let peer = try Peer(["bash", "-c", command, Program.path])
        #expect(eventually { peer.complaints.contains(".") }, "\(peer.complaints)")
        let process = try #require(pid_t(peer.complaints.split { " .".contains($0) }[1]))
        defer { kill(process, SIGKILL) }
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        try #require(
            eventually {
                let count = read(pipe, &buffer, buffer.count)
                if count > 0 { text += String(decoding: buffer[..<count], as: UTF8.self) }
                return text.contains("\"phase\":\"listening\"")
            })
        // No room for another line.
        while write(pipe, [0x0A], 1) == 1 {}
        kill(process, SIGINT)
        let hasEnded = eventually { peer.complaints.contains("ended \(128 + SIGINT)\n") }
        #expect(hasEnded, "\(peer.complaints)")
    }
}
