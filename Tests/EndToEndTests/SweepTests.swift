import Glibc
import SocketTestSupport
import Testing

/// A sweep finds what is wrong with a server, and nothing else.
@Suite("Sweeps", .timeLimit(.minutes(15)), .serialized)
struct SweepTests {
    private static let folder =
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Examples/servers/"

    /// One of the servers of the worked examples.
    private static func example(_ name: String) throws -> (peer: Peer, port: UInt16) {
        try Peer.server { ["python3", "\(folder)\(name).py", "\($0)"] }
    }

    private static func sweep(_ file: String, _ port: UInt16, _ options: [String] = []) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            [Program.path, "sweep", file, "--connect", "127.0.0.1:\(port)"] + options, limit: .seconds(300))
    }

    /// What a sweep found, by its JSON: the tests with findings, each with its offsets.
    private static func findings(_ outcome: ChildProcess.Outcome) -> [String] {
        outcome.output.split(separator: "\n").compactMap { line in
            guard line.contains(#""type":"test""#), let name = value("test", line) else { return nil }
            let (answers, endings) = (list("answer_offsets", line), list("ending_offsets", line))
            return answers.isEmpty && endings.isEmpty ? nil : "\(name) \(answers) \(endings)"
        }
    }

    private static func value(_ name: String, _ line: Substring) -> Substring? {
        between("\"\(name)\":\"", "\"", line)
    }

    private static func list(_ name: String, _ line: Substring) -> Substring {
        between("\"\(name)\":[", "]", line) ?? "?"
    }

    private static func between(_ first: String, _ last: Character, _ line: Substring) -> Substring? {
        line.firstRange(of: first).map { line[$0.upperBound...].prefix { $0 != last } }
    }

    @Test("a server that takes reads for lines breaks where a line is cut", .enabled(if: Peer.isUsable("python3")))
    func naiveLines() throws {
        let server = try Self.example("naive-lines")
        let file = try ReplayTests.recording(server.port, sending: "ECHO hello\\r\\n", until: "hello")
        // After the last letter the line is whole already, and an empty one is not answered.
        for _ in 0..<Self.runs {
            let swept = try Self.sweep(file, server.port, ["--json", "--pause", "50ms"])
            #expect(swept.status == 1, "\(swept)")
            #expect(Self.findings(swept) == ["split 1,2,3,4,5,6,7,8,9 ", "dribble 1 "], "\(swept)")
        }
        let text = try Self.sweep(file, server.port, ["--pause", "50ms"])
        #expect(text.status == 1, "\(text)")
        for words in [
            "split           11               9               0     81 %  1-9",
            "split after byte 1 of 12, E | CHO hello",
        ] {
            #expect(text.output.contains(words), "\(text.output)")
        }
    }

    @Test("a server that forgets half-close leaves connections open", .enabled(if: Peer.isUsable("python3")))
    func halfClose() throws {
        let server = try Self.example("forgets-half-close")
        let file = try ReplayTests.recording(server.port, sending: "hello\\r\\n", until: "hello")
        for _ in 0..<Self.runs {
            let swept = try Self.sweep(file, server.port, ["--json", "--wait", "3s"])
            #expect(swept.status == 1 && Self.findings(swept) == ["half-close  1"], "\(swept)")
        }
    }

    @Test("a server that answers pipelined requests once is found", .enabled(if: Peer.isUsable("python3")))
    func pipelined() throws {
        let server = try Self.example("answers-once")
        let file = try ReplayTests.recording(server.port, sending: "hello\\r\\n", until: "hello")
        for _ in 0..<Self.runs {
            let swept = try Self.sweep(file, server.port, ["--json", "--wait", "3s"])
            #expect(swept.status == 1 && Self.findings(swept) == ["pipelined 1 "], "\(swept)")
        }
    }

    @Test("nothing is found in redis", .enabled(if: Peer.isUsable("redis-server")))
    func redis() throws {
        let redis = try Peer.redis()
        let file = try ReplayTests.recording(
            redis.port, sending: "*2\\r\\n$4\\r\\nINCR\\r\\n$1\\r\\nn\\r\\n*1\\r\\n$4\\r\\nPING\\r\\n", until: "PONG")
        for _ in 0..<Self.runs {
            let swept = try Self.sweep(file, redis.port)
            #expect(swept.status == 0 && swept.output.contains("No difference."), "\(swept)")
            // The counter grows.
            #expect(swept.output.contains("The control runs differ at 1"), "\(swept)")
        }
    }

    @Test(
        "nothing is found in nginx, whose date is a hole", .enabled(if: Peer.isUsable("nginx")),
        arguments: ["keep-alive", "close"])
    func nginx(_ connection: String) throws {
        let nginx = try Peer.nginx()
        let file = try ReplayTests.recording(
            nginx.port, sending: "GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: \(connection)\\r\\n\\r\\n",
            until: "works")
        for _ in 0..<Self.runs {
            let swept = try Self.sweep(file, nginx.port)
            #expect(swept.status == 0 && swept.output.contains("No difference."), "\(swept)")
            #expect(swept.output.contains(connection == "close" ? "closed (FIN)" : "stays open"), "\(swept)")
            #expect(swept.output.contains("The control runs differ at "), "\(swept)")
        }
    }

    @Test(
        "one connection at a time is enough, and a server that is gone is told", .enabled(if: Peer.isUsable("python3")))
    func serial() throws {
        let script = """
            import socket, sys
            s = socket.create_server(('127.0.0.1', int(sys.argv[1])), backlog=64)
            while True:
                c, _ = s.accept()
                try:
                    while (d := c.recv(99)): c.sendall(d)
                except OSError: pass
                c.close()
            """
        let server = try Peer.server { ["python3", "-c", script, "\($0)"] }
        let file = try ReplayTests.recording(server.port, sending: "abc", until: "abc")
        let swept = try Self.sweep(file, server.port, ["--json"])
        #expect(swept.status == 0 && swept.output.contains(#""parallel":1,"#), "\(swept)")
        server.peer.kill()
        let gone = try Self.sweep(file, server.port)
        #expect(gone.status == 1 && gone.errors.contains("Connection refused"), "\(gone)")
        let missing = try Self.sweep(file, server.port, ["--exchange", "2"])
        #expect(missing.status == 2 && missing.errors.contains("has 1 exchanges"), "\(missing)")
    }

    @Test(
        "a server that drips or resets ends a sweep within the limit, and that is said as it was",
        .enabled(if: Peer.isUsable("python3")),
        arguments: [
            ("while True: c.sendall(b'x'); select.select([], [], [], .01)", "the answer was not complete within 1s"),
            (
                "c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))",
                "the request was not answered: the connection was reset (RST)"
            ),
            ("c.recv(9)", "the request was not answered: the connection was closed (FIN)"),
            ("select.select([], [], [], 60)", "the request was not answered within 1s"),
        ])
    func badServers(_ body: String, _ words: String) throws {
        let script = """
            import select, socket, struct, sys, threading
            s = socket.create_server(('127.0.0.1', int(sys.argv[1])), backlog=64)
            def talk(c):
                try:
                    \(body)
                except OSError: pass
                c.close()
            while True: threading.Thread(target=talk, args=(s.accept()[0],), daemon=True).start()
            """
        let echo = try Self.example("forgets-half-close")
        let file = try ReplayTests.recording(echo.port, sending: "hello\\r\\n", until: "hello")
        let server = try Peer.server { ["python3", "-c", script, "\($0)"] }
        let swept = try Self.sweep(file, server.port, ["--wait", "1s"])
        #expect(swept.status == 1 && swept.errors.hasSuffix(": \(words)\n"), "\(swept)")
    }

    /// The full number is for those who ask for it: each run takes some seconds.
    private static let runs = getenv("SOCKTUI_SWEEPS").flatMap { Int(String(cString: $0)) } ?? 1
}
