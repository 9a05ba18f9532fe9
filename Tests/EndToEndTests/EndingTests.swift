import Glibc
import SocketTestSupport
import Testing

@testable import SockTUI

/// How every command ends under every condition. The table in docs/options.md says what these statuses mean.
@Suite(
    "Endings", .timeLimit(.minutes(10)),
    .enabled(if: Peer.isUsable("python3", "curl", "openssl"), "python3, curl or openssl is missing"))
struct EndingTests {
    /// A line of a shell, in which `S` runs the program, and how it ends.
    struct Case: CustomTestStringConvertible, Sendable {
        var condition: String
        var line: String
        var status: Int32
        /// What standard error has; nil: it is empty.
        var error: String?

        init(_ condition: String, _ line: String, _ status: Int32, _ error: String? = nil) {
            (self.condition, self.line, self.status, self.error) = (condition, line, status, error)
        }

        var testDescription: String { "\(condition): \(line)" }
    }

    static let cases = normal + peers + files + losses + outputs + signals

    private static let normal: [Case] = [
        Case("normal", "serve echo; S connect 127.0.0.1:$port --send ping", 0),
        Case("normal", "S listen 127.0.0.1:0 --once --json", 0),
        Case("normal", "serve echo; S relay 127.0.0.1:0 127.0.0.1:$port --once --json", 0),
        Case("normal", "S demo --once --json", 0),
        Case("normal", "serve echo; S run --json -- curl -s --http0.9 127.0.0.1:$port", 0, "+GET"),
        Case("normal", "S run -- sh -c 'exit 3'", 3, "without a connection"),
        Case("normal", "S open $good --once --json", 0),
        Case("normal", "S export $good --as raw --side client", 0),
        Case("normal", "serve echo; S replay $good --connect 127.0.0.1:$port", 0),
        Case("normal", "serve echo; S sweep $good --connect 127.0.0.1:$port", 0),
        Case("normal", "serve echo; S why :$port", 0),
        Case("normal", "serve echo; S host --check port:$port", 0),
        Case("normal", "S host --once --json", 0),
        Case("normal", "S mcp < /dev/null", 0),
        Case("normal", "S agent < /dev/null", 0),
        Case("normal", "S config", 0),
        Case("normal", "S completions fish", 0),
    ]

    private static let peers: [Case] = [
        Case("peer resets", "serve reset; S connect 127.0.0.1:$port --send ping --json", 1, "reset"),
        Case("peer resets", "serve reset; S run --json -- sh -c 'curl -s 127.0.0.1:'$port'; true'", 0),
        Case("peer resets", "serve reset; S replay $good --connect 127.0.0.1:$port", 1),
        Case("peer resets", "serve reset; S sweep $good --connect 127.0.0.1:$port", 1),
        Case("refused", "S connect 127.0.0.1:1 --json", 1, "refused"),
        Case("refused", "S replay $good --connect 127.0.0.1:1", 1, "refused"),
        Case("refused", "S sweep $good --connect 127.0.0.1:1", 1, "refused"),
        Case("in use", "serve echo; S listen 127.0.0.1:$port --json", 1, "in use"),
        Case("in use", "serve echo; S relay 127.0.0.1:$port 127.0.0.1:1 --json", 1, "in use"),
        Case("TLS cut", "serve cut; S connect tls://127.0.0.1:$port --insecure --send ping --json", 1, "truncated"),
        Case("protocol error", "serve echo; S connect tls://127.0.0.1:$port --insecure --json", 1, "handshake"),
        Case("protocol error", "serve echo; S connect ws://127.0.0.1:$port/ --json", 1, "like HTTP"),
    ]

    private static let files: [Case] =
        ["open", "export", "replay --connect 127.0.0.1:1", "sweep --connect 127.0.0.1:1"].flatMap { words in
            let (command, rest) = (words.prefix { $0 != " " }, words.drop { $0 != " " })
            let options = command == "open" ? " --once --json" : command == "export" ? " --as pcapng" : "\(rest)"
            return [
                Case("nothing readable", "S \(command) $text\(options)", 1, "neither pcapng nor pcap"),
                Case("file gone", "S \(command) /no/such\(options)", 1, "/no/such: No such file"),
            ]
        } + [
            Case("partly readable", "S open $cut --once --json", 1, "it ends after"),
            Case(
                "partly readable", "echo wait ENDED > $dir/keys; S open $cut --script $dir/keys", 1, "it ends after"),
            Case("partly readable", "S export $cut --as pcapng -o $dir/e", 1, "the rest is missing"),
            Case("partly readable", "serve echo; S replay $cut --connect 127.0.0.1:$port", 1, "the rest is missing"),
            Case("partly readable", "serve echo; S sweep $cut --connect 127.0.0.1:$port", 1, "the rest is missing"),
            Case("nothing found", "S export $good port:1 --as pcapng", 4, "no session matches the filter"),
            Case("nothing found", "S replay $good port:1 --connect 127.0.0.1:1", 4, "no session matches the filter"),
            Case("nothing found", "S sweep $good port:1 --connect 127.0.0.1:1", 4, "no session matches the filter"),
            Case("nothing found", "S why nosuchprogram", 4, "no program is named nosuchprogram"),
            Case("nothing found", "S why 127.0.0.1:1", 4, "has 127.0.0.1:1 at either end"),
            Case(
                "nothing found", "S why 127.0.0.1:1 --json | grep -q '\"problem\":' || exit 9; exit $PIPESTATUS", 4,
                "has 127.0.0.1:1 at either end"),
            Case(
                "nothing readable",
                "S why :1 --netns 999999999 --json | grep -q '\"problem\":' || exit 9; exit $PIPESTATUS", 3, "999999999"
            ),
            Case("nothing found", "S host --check program:nosuchprogram", 4, "matches"),
            Case("nothing found", "S host program:nosuchprogram --once", 4, "program:nosuchprogram: no socket matches"),
            Case("nothing found", "S attach", 4, "no program is inspectable"),
            Case("nothing found", "S attach nosuchprogram --json", 4, "nosuchprogram"),
            Case("nothing found", "S attach nosuchprogram --once", 4, "nosuchprogram"),
            Case("nothing found", "S ctl nosuchprogram fault list", 4, "nosuchprogram"),
            Case(
                "nothing found",
                "S host --check program:nosuchprogram --json | grep -q '\"problem\":\"prog' || exit 9; exit $PIPESTATUS",
                4, "matches"),
            Case("file gone", "S run -- nosuchprogram", 127, "no such command"),
            Case("file gone", "S run -- $text", 126, "Permission denied"),
            Case("file gone", "S connect unix:/no/such --json", 1, "No such file"),
            Case("usage error", "S why", 2, "why: "),
            Case("usage error", "S host --check bogus:x", 2, "bogus"),
            Case("usage error", "S export $good bogus:x --as pcapng", 2, "bogus"),
            Case("usage error", "S connect", 2, "connect: "),
        ]

    private static let losses: [Case] = [
        Case(
            "disk full",
            "serve cut; (ulimit -f 0; S connect tls://127.0.0.1:$port --insecure --send ping --keylog $dir/k) 2>&1 "
                + "| cat >&2; exit ${PIPESTATUS[0]}", 1, "lines are missing: File too large"),
        Case(
            "file gone", "serve unlink; S connect 127.0.0.1:$port --send $dir/r --record $dir/r", 1, "was removed while"
        ),
        Case("disk full", "(ulimit -f 0; S demo --once --record $dir/r) 2>&1 | cat; exit ${PIPESTATUS[0]}", 1),
        Case("disk full", "(ulimit -f 0; S export $good --as pcapng -o $dir/e) 2>&1 | cat; exit ${PIPESTATUS[0]}", 1),
    ]

    private static let printing = [
        "connect 127.0.0.1:$port --json --send ping", "connect 127.0.0.1:$port --send ping",
        "listen 127.0.0.1:0 --once",
        "relay 127.0.0.1:0 127.0.0.1:$port --once --json", "demo --once", "open $good --once --json",
        "open $good --json",
        "export $good --as pcapng", "export $good --as curl", "replay $good --connect 127.0.0.1:$port --json",
        "sweep $good --connect 127.0.0.1:$port --json", "why :$port", "host --check port:$port", "host --once --json",
        "run --json -- true", "config", "completions bash", "help man", "--help",
    ].filter { !$0.contains("curl") }

    private static let outputs: [Case] = printing.flatMap { words in
        [
            Case("disk full", "serve echo; S \(words) > /dev/full", 1, "standard output: No space left on device"),
            Case("stdout closed", "serve echo; S \(words) >&-", 1, "standard output: Bad file descriptor"),
        ]
    }

    private static let signals: [Case] = [
        "connect 127.0.0.1:$port --json", "listen 127.0.0.1:0 --json", "relay 127.0.0.1:0 127.0.0.1:$port --json",
        "demo --json", "host --json", "run --json -- sleep 100",
    ].map { Case("signal", "serve idle; ends S \($0)", 143) }

    private static let peer = """
        import os, socket, ssl, struct, sys, threading
        mode, certificate = sys.argv[1:]
        server = socket.create_server(("127.0.0.1", 0), backlog=512)
        print(server.getsockname()[1], flush=True)
        def serve(c):
            if mode == "idle": c.recv(1); return
            if mode == "cut":
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(certificate)
                s = context.wrap_socket(c, server_side=True)
                s.recv(100); s.sendall(b"part"); os.close(s.detach()); return
            data = c.recv(1000)
            if mode == "reset": c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif mode == "unlink": os.unlink(data)
            else:
                if data == b"p": data += c.recv(1000)
                while data[:1] == b"p" and len(data) < 4: data += c.recv(1000)
                c.sendall(b"+" + data)
            c.close()
        while True:
            c, _ = server.accept()
            threading.Thread(target=serve, args=(c,), daemon=True).start()
        """

    /// Before each line: a peer, the program, and files that are whole, cut off, and none.
    private static let prelude = """
        serve() { exec 3< <(exec python3 -c "$PEER" $1 "$CERTIFICATE" 2>/dev/null); peer=$!; read -r port <&3; }
        trap '[ -z "$peer" ] || kill $peer' EXIT
        S() { "$0" "$@"; }
        ends() {
          shift; "$0" "$@" > $dir/out & p=$!
          until grep -q '"socket"\\|running' $dir/out; do kill -0 $p || break; sleep 0.05; done
          kill -TERM $p; wait $p; status=$?
          tail -n 1 $dir/out; return $status
        }
        """

    /// Made once: a recording of `ping` and its echo.
    private static let samples: String? = try? {
        let folder = try Program.folder()
        let outcome = try shell("serve echo; S connect 127.0.0.1:$port --send ping --record $dir/good", folder)
        try #require(outcome.status == 0, "\(outcome)")
        let cut = try ChildProcess.run(["sh", "-c", "cd \(folder); head -c -50 good > cut; echo none > text"])
        try #require(cut.status == 0)
        return folder
    }()

    private static func shell(_ line: String, _ folder: String, _ samples: String = "") throws -> ChildProcess.Outcome {
        var variables = Program.environment(folder)
        variables["XDG_RUNTIME_DIR"] = folder
        variables["PEER"] = peer
        variables["CERTIFICATE"] = Certificates.path("server.pem")
        let names = "dir=\(folder) good=\(samples)/good cut=\(samples)/cut text=\(samples)/text\n"
        return try ChildProcess.run(
            ["bash", "-c", names + prelude + "\n" + line, Program.path], environment: variables)
    }

    @Test("a command's status, its standard error and the end of its JSON", arguments: cases)
    func ending(_ row: Case) throws {
        let samples = try #require(Self.samples)
        let outcome = try Self.shell(row.line, try Program.folder(), samples)
        #expect(outcome.status == row.status, "\(outcome)")
        if let error = row.error {
            #expect(outcome.errors.contains(error), "\(outcome)")
        }
        #expect(row.status == 0 || row.error != nil || row.condition != "nothing found")
        guard let last = outcome.output.split(separator: "\n").last, last.contains("\"type\":\"end\"") else { return }
        let end = try #require(try Report(String(last)).lines.first)
        #expect(end["status"].number == Double(row.status), "\(last)")
    }

    @Test("every command is in a row that ends well")
    func commands() throws {
        let known = CommandTable.words.map(\.name).filter { $0 != "capture" }
        #expect(known.count > 15)
        for command in known {
            #expect(Self.cases.contains { $0.line.contains("S \(command)") }, "\(command)")
        }
    }
}
