import Glibc
import SocketTestSupport
import Testing

/// A recorded client plays again, and the answers are compared.
@Suite("Replay", .timeLimit(.minutes(10)))
struct ReplayTests {
    /// A recording of one connection that sends this, and ends once it got that.
    static func recording(_ port: UInt16, sending text: String, until answer: String) throws -> String {
        let file = try Program.folder() + "/r.pcapng"
        let outcome = try ChildProcess.run([
            Program.path, "connect", "127.0.0.1:\(port)", "--send", text, "--expect", answer, "--record", file,
        ])
        try #require(outcome.status == 0, "\(outcome)")
        return file
    }

    static func replay(_ file: String, _ port: UInt16, _ options: String...) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            [Program.path, "replay", file] + options + ["--connect", "127.0.0.1:\(port)"],
            environment: Program.environment(try Program.folder()))
    }

    @Test(
        "a session of redis-cli is equal on redis, and on one with another value it is not",
        .enabled(if: Peer.isUsable("redis-server", "redis-cli")))
    func redis() throws {
        let (redis, other) = (try Peer.redis(), try Peer.redis())
        func say(_ words: String..., to port: UInt16) throws {
            let outcome = try ChildProcess.run(["redis-cli", "-p", "\(port)"] + words)
            #expect(outcome.status == 0, "\(outcome)")
        }
        try say("SET", "k", "hello", to: redis.port)
        try say("SET", "k", "jello", to: other.port)
        let run = try RecordedRun(relayingTo: redis.port)
        try say("-r", "3", "-i", "0.1", "GET", "k", to: run.port)
        try run.end(afterClosing: 2)
        for options in [[], ["--pace", "asap"], ["--pace", "x10"], ["--match", "length"]] {
            let equal = try ChildProcess.run(
                [Program.path, "replay", run.file, "id:3", "--connect", "127.0.0.1:\(redis.port)"] + options)
            #expect(equal.status == 0 && equal.output.contains("No difference: #3 replayed to"), "\(options) \(equal)")
        }
        let differs = try Self.replay(run.file, other.port, "id:3")
        #expect(differs.status == 1, "\(differs)")
        #expect(differs.output.contains("at byte 4: the file has 68 'h', the server sent 6a 'j'"), "\(differs)")
        #expect(differs.output.contains("[68]65 6c 6c 6f") && differs.output.contains("[6a]65 6c 6c 6f"), "\(differs)")
        let json = try Self.replay(run.file, other.port, "id:3", "--json")
        #expect(
            json.status == 1 && json.output.contains(#""kind":"bytes","offset":4,"expected_offset":4"#), "\(json)")
        for options in [
            ["--match", "length"], ["--hole", "4", "--hole", "15", "--hole", "26"], ["--hole", "$5\\r\\n*ello"],
        ] {
            let equal = try ChildProcess.run(
                [Program.path, "replay", run.file, "id:3", "--connect", "127.0.0.1:\(other.port)"] + options)
            #expect(equal.status == 0, "\(options) \(equal)")
        }
        let several = try Self.replay(run.file, redis.port)
        #expect(several.status == 2 && several.errors.contains("\n  #2 accepted "), "\(several)")
    }

    /// A server in a few lines of Python: `body` talks to the connection `c`.
    private static func server(_ body: String) throws -> (peer: Peer, port: UInt16) {
        let script = """
            import socket, struct, sys, time
            s = socket.create_server(('127.0.0.1', int(sys.argv[1])))
            while True:
                c, _ = s.accept()
                try:
            \(body.split(separator: "\n").map { "        " + $0 }.joined(separator: "\n"))
                except OSError: pass
                c.close()
            """
        return try Peer.server { ["python3", "-c", script, "\($0)"] }
    }

    private static let echo = "while (d := c.recv(9)): c.sendall(d)"

    @Test(
        "what comes too late, too little, too much, or ends otherwise is told", .enabled(if: Peer.isUsable("python3")),
        arguments: [
            (echo, "No difference", 0),
            (
                "c.recv(9); c.sendall(b'he'); c.recv(9)",
                "at byte 2: the server sent no more; the file continues with 6c 'l'", 1
            ),
            ("c.recv(9); c.sendall(b'he')", "the file's server stays open, this one closed (FIN)", 1),
            (
                "c.recv(9); c.sendall(b'he'); c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))",
                "this one reset (RST)", 1
            ),
            ("c.recv(9); c.sendall(b'hello!!'); c.recv(9)", "nor were the 2 bytes that followed", 0),
            ("c.recv(9); c.sendall(b'hexlo'); c.recv(9)", "at byte 2: the file has 6c 'l', the server sent 78 'x'", 1),
        ])
    func others(_ body: String, _ words: String, _ status: Int32) throws {
        let echo = try Self.server(Self.echo)
        let file = try Self.recording(echo.port, sending: "hello", until: "hello")
        let other = try Self.server(body)
        let outcome = try Self.replay(file, other.port, "--wait", "1s")
        #expect(outcome.status == status && outcome.output.contains(words), "\(outcome)")
    }

    @Test("the server's own end is compared", .enabled(if: Peer.isUsable("python3")))
    func ending() throws {
        let closing = try Self.server("c.recv(9); c.sendall(b'bye')")
        let file = try Program.folder() + "/r.pcapng"
        let recorded = try ChildProcess.run([
            Program.path, "connect", "127.0.0.1:\(closing.port)", "--send", "x", "--json", "--record", file,
        ])
        try #require(recorded.status == 0, "\(recorded)")
        let same = try Self.replay(file, closing.port)
        #expect(same.status == 0, "\(same)")
        let open = try Self.server("c.recv(9); c.sendall(b'bye'); c.recv(9)")
        let other = try Self.replay(file, open.port, "--wait", "500ms")
        #expect(
            other.status == 1
                && other.output.contains("the file's server closed (FIN), this one stays open"), "\(other)")
        let more = try Self.server("c.recv(9); c.sendall(b'bye.')")
        let extra = try Self.replay(file, more.port)
        #expect(
            extra.status == 1 && extra.output.contains("at byte 3: the file ends, the server sent 2e '.'"), "\(extra)")
    }

    @Test("foreign bytes are escaped, and nobody there is a failure", .enabled(if: Peer.isUsable("python3")))
    func hostile() throws {
        let echo = try Self.server(Self.echo)
        let file = try Self.recording(echo.port, sending: "hello", until: "hello")
        let hostile = try Self.server("c.recv(9); c.sendall(b'\\x1b]0;x\\x07'); c.recv(9)")
        let outcome = try Self.replay(file, hostile.port)
        #expect(
            outcome.status == 1 && !outcome.output.contains("\u{1B}") && outcome.output.contains("[1b]"), "\(outcome)")
        let nobody = try Self.replay(file, try Peer.freePort())
        #expect(nobody.status == 1 && nobody.errors.contains("Connection refused"), "\(nobody)")
    }

    @Test("plaintext of TLS is played over TLS", .enabled(if: Peer.isUsable("openssl", "python3")))
    func tls() throws {
        let folder = try TemporaryFolder()
        let made = try ChildProcess.run([
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder.path + "/key", "-out",
            folder.path + "/cert", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ])
        try #require(made.status == 0, "\(made)")
        let script = """
            import socketserver, ssl, sys
            t = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            t.load_cert_chain('\(folder.path)/cert', '\(folder.path)/key')
            class H(socketserver.BaseRequestHandler):
                def handle(self):
                    c = t.wrap_socket(self.request, server_side=True)
                    while (d := c.recv(99)): c.sendall(d.upper())
            class S(socketserver.ThreadingTCPServer):
                allow_reuse_address = daemon_threads = True
                def handle_error(self, *_): pass
            S(('127.0.0.1', int(sys.argv[1])), H).serve_forever()
            """
        let server = try Peer.server(keeping: folder) { ["python3", "-c", script, "\($0)"] }
        let file = try Program.folder() + "/r.pcapng"
        let address = "tls://127.0.0.1:\(server.port)"
        let recorded = try ChildProcess.run([
            Program.path, "connect", address, "--ca", folder.path + "/cert", "--send", "hello", "--expect", "HELLO",
            "--record", file,
        ])
        try #require(recorded.status == 0, "\(recorded)")
        let words = [Program.path, "replay", file, "--connect", address]
        let played = try ChildProcess.run(words + ["--ca", folder.path + "/cert"])
        #expect(played.status == 0 && played.output.contains("5 bytes of answers"), "\(played)")
        let untrusted = try ChildProcess.run(words)
        #expect(untrusted.status == 1 && untrusted.errors.contains("certificate"), "\(untrusted)")
        let plain = try ChildProcess.run([
            Program.path, "replay", file, "--connect", "127.0.0.1:\(server.port)", "--wait", "1s",
        ])
        #expect(plain.status == 1 && plain.errors.contains("used TLS; --connect tls://"), "\(plain)")
    }

    @Test(
        "what does not fit is refused",
        arguments: [
            (["replay"], "needs a file"), (["replay", "x"], "needs a server"),
            (["replay", "x", "--connect", "udp://:1"], "streams only"),
            (["replay", "x", "--connect", "a:b:c"], "in brackets"),
            (["replay", "x", "--connect", ":1", "--pace", "fast"], "write recorded, x10 or asap"),
            (["replay", "x", "--connect", ":1", "--match", "some"], "write exact, length or pattern"),
            (["replay", "x", "--connect", ":1", "--match", "pattern"], "needs --hole"),
            (["replay", "x", "--connect", ":1", "--match", "exact", "--hole", "1"], "needs --match pattern"),
            (["replay", "x", "--connect", ":1", "--hole", "abc"], "has no *"),
            (["replay", "x", "--connect", ":1", "--parallel", "3"], "works only with sweep"),
            (["replay", "x", "--connect", ":1", "--ca", "x"], "TLS options need tls://"),
            (["replay", "x", "--connect", ":1", "--once"], "cannot be used with replay"),
            (["sweep", "x"], "needs a server"),
            (["sweep", "x", "--connect", ":1", "--parallel", "0"], "write 1 to 1024"),
            (["sweep", "x", "--connect", ":1", "--exchange", "0"], "the first is 1"),
            (["sweep", "x", "role:bogus", "--connect", ":1"], "client, accepted"),
        ])
    func refused(_ words: [String], _ problem: String) throws {
        let outcome = try ChildProcess.run([Program.path] + words)
        #expect(outcome.status == 2 && outcome.errors.contains(problem), "\(outcome)")
    }
}
