import Glibc
import SocketTestSupport
import Testing

/// What is made of a recording does again what was recorded.
@Suite("Exports", .timeLimit(.minutes(10)), .enabled(if: Peer.isUsable("tshark", "python3", "curl", "sh")))
struct ExportTests {
    /// Prints what each connection sent, up to a quiet half of a header's length, and answers once.
    private static func server(answering answer: String, until end: String) throws -> (peer: Peer, port: UInt16) {
        let server = """
            import socket, sys
            s = socket.create_server(('127.0.0.1', int(sys.argv[1])))
            while True:
                c, _ = s.accept(); d = b''
                while not d.endswith(b'\(end)'):
                    p = c.recv(65536)
                    if not p: break
                    d += p
                print(d.hex(), flush=True)
                c.sendall(b'\(answer)'); c.shutdown(socket.SHUT_WR); c.recv(1); c.close()
            """
        return try Peer.server { ["python3", "-c", server, "\($0)"] }
    }

    private static func shell(_ line: String) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            ["sh", "-c", line, Program.path], environment: Program.environment(try Program.folder()))
    }

    private static func lines(_ peer: Peer) -> [Substring] { peer.text.split(separator: "\n") }

    @Test("a script runs, and sends the same bytes")
    func script() throws {
        let server = try Self.server(answering: "+HELLO you\\r\\n", until: "END")
        let file = try Program.folder() + "/r.pcapng"
        let sent = #"  two\r\n\x00\xff \\ ${x} 'END"#
        let recorded = try ChildProcess.run([
            Program.path, "connect", "127.0.0.1:\(server.port)", "--send", sent, "--expect", "HELLO", "--record", file,
        ])
        #expect(recorded.status == 0, "\(recorded)")
        let played = try Self.shell("\"$0\" export \(file) --as script >\(file).keys && \"$0\" --script \(file).keys")
        #expect(played.status == 0, "\(played)")
        try #require(eventually { Self.lines(server.peer).count == 2 }, "\(played)")
        #expect(Self.lines(server.peer)[0] == Self.lines(server.peer)[1])
        let raw = try Self.shell("\"$0\" export \(file) --as raw --side client | od -An -v -tx1 | tr -d ' \\n'")
        #expect(raw.output == Self.lines(server.peer)[0], "\(raw)")
        // The file itself is never written over.
        let before = try ChildProcess.run(["cksum", file]).output
        let onto = try Self.shell("\"$0\" export \(file) --as pcapng -o \(file) --force")
        #expect(onto.status == 2 && onto.errors.contains("is the file being exported"), "\(onto)")
        #expect(try ChildProcess.run(["cksum", file]).output == before)
    }

    @Test("a command of curl sends the same request")
    func curl() throws {
        let server = try Self.server(
            answering: "HTTP/1.1 204 No\\r\\nContent-Length: 0\\r\\n\\r\\n", until: "end")
        let file = try Program.folder() + "/r.pcapng"
        let request =
            #"POST /a%20b?q=[1]&'x' HTTP/1.1\r\nHost: x.example\r\nX-Quote: it's $HOME `id` "\\"\r\n"#
            + #"X-Name: J\xc3\xbcrgen\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\n@it's \x00\n%s\\end"#
        let recorded = try ChildProcess.run([
            Program.path, "connect", "127.0.0.1:\(server.port)", "--send", request, "--expect", "204", "--record", file,
        ])
        #expect(recorded.status == 0, "\(recorded)")
        let run = try Self.shell("\"$0\" export \(file) --as curl >\(file).sh && sh \(file).sh")
        #expect(run.status == 0, "\(run)")
        try #require(eventually { Self.lines(server.peer).count == 2 }, "\(run)")
        // The order of fields is curl's own.
        func parts(_ line: Substring) -> [Substring] { line.split(separator: "0d0a").sorted() }
        #expect(parts(Self.lines(server.peer)[0]) == parts(Self.lines(server.peer)[1]))
    }

    @Test("of several sessions one must be named, and packets can be of any")
    func several() throws {
        let server = try Self.server(answering: "ok", until: ".")
        let run = try RecordedRun(relayingTo: server.port)
        let sent = try ChildProcess.run([
            Program.path, "connect", "127.0.0.1:\(run.port)", "--send", "hello.", "--expect", "ok",
        ])
        #expect(sent.status == 0)
        try run.end(afterClosing: 2)
        let several = try Program.run("export", run.file, "--as", "raw", "--side", "client")
        #expect(
            several.status == 2 && several.errors.contains("\n  #2 accepted ")
                && several.errors.contains("\n  #3 client "))
        let one = try Program.run("export", run.file, "id:3", "--as", "raw", "--side", "server")
        #expect(one.status == 0 && one.output == "ok", "\(one)")
        let packets = try Self.shell(
            "\"$0\" export \(run.file) id:3 --as pcapng -o \(run.file).3 && tshark -r \(run.file).3")
        #expect(packets.status == 0 && packets.output.contains("→ \(server.port) [SYN]"), "\(packets)")
        #expect(!packets.output.contains(" \(run.port) "), "\(packets)")
        let again = try Program.run("export", run.file, "--as", "pcapng", "-o", run.file + ".3")
        #expect(again.status == 1 && again.errors.contains("it exists; --force replaces it"), "\(again)")
        let later = try Program.run("export", run.file, "--as", "pcapng", "--from", "1:00:00", "-o", run.file + ".4")
        #expect(later.status == 0, "\(later)")
        #expect(try ChildProcess.run(["capinfos", "-cM", run.file + ".4"]).output.contains("packets:   0"))
    }

    @Test(
        "what does not fit is refused",
        arguments: [
            ([], "needs --as"), (["--as", "raw"], "needs --side client or --side server"),
            (["--as", "curl", "--side", "client"], "needs --as raw"),
            (["--as", "xml"], "not a form"), (["--as", "curl", "--from", "x"], "is not a time"),
            (["--as", "curl", "--from", "2", "--to", "1"], "is before --from"),
        ])
    func refused(_ options: [String], _ words: String) throws {
        let outcome = try ChildProcess.run([Program.path, "export", "/no/such"] + options)
        #expect(outcome.status == 2 && outcome.errors.contains(words), "\(outcome)")
    }

    @Test("a line feed in the name of a file begins no line")
    func hostileName() throws {
        let outcome = try Program.run("export", "/nonexistent/a\nsocktui: done", "--as", "pcapng")
        #expect(outcome.status == 1)
        #expect(outcome.errors == "socktui: /nonexistent/a\\nsocktui: done: No such file or directory\n")
    }
}
