import InspectorCore
import SocketCore
import Testing

@testable import SockTUI

@Suite("The command line")
struct ArgumentParserTests {
    private func parse(_ line: String) throws(UsageError) -> Invocation {
        try ArgumentParser.parse(line.split(separator: " ").map(String.init))
    }

    @Test("nothing means the start screen")
    func nothing() throws {
        #expect(try parse("") == Invocation())
    }

    @Test("options stand before and after the addresses they are for")
    func order() throws {
        let wanted = OpenRequest(
            .tcp(host: "h", port: 1), timeout: .milliseconds(500), standingRead: false, allowsHalfOpen: true)
        for line in [
            "connect h:1 --no-read --timeout 0.5 --half-open", "--half-open --timeout=0.5 connect --no-read h:1",
        ] {
            #expect(try parse(line).opening == [.connect(wanted)])
        }
    }

    @Test("a port alone is this host to connect to, and every interface to listen on")
    func portAlone() throws {
        #expect(try parse("connect :80").opening == [.connect(OpenRequest(.tcp(host: "localhost", port: 80)))])
        #expect(try parse("listen :80").opening == [.listen(OpenRequest(.tcp(host: "", port: 80)))])
        let relay = try RelayRequest.parse(":9000", to: "localhost:80", TLSChoices())
        #expect(try parse("relay :9000 :80").opening == [.relay(relay)])
        guard case .connect(let secure) = try parse("connect tls://:443").opening.first else { return }
        #expect(secure.address == "tls://localhost:443")
    }

    @Test("durations of faults and of holds have units, and a number alone is refused with what would be right")
    func faultDurations() throws {
        let limits: [(String, Duration)] = [
            ("500us", .microseconds(500)), ("0.5s", .milliseconds(500)), ("2m", .seconds(120)),
        ]
        for (text, limit) in limits {
            #expect(try parse("relay :1 h:2 --hold-limit \(text)").faults.holdLimit == limit)
        }
        for line in ["relay :1 h:2 --hold-limit 5", "relay :1 h:2 --fault stall=5"] {
            do throws(UsageError) {
                _ = try ArgumentParser.parse(line.split(separator: " ").map { $0 == "stall=5" ? "stall 5" : "\($0)" })
                Issue.record("\(line) was read")
            } catch {
                #expect(error.description.contains("write 5s or 5ms"), "\(error)")
            }
        }
    }

    @Test("the help of ctl lists what it takes")
    func controlHelp() {
        let help = HelpText.text(of: "ctl") ?? ""
        for usage in [
            "  fault add RULE", "  break [FILTER]", "  held\n      list the connections", "  release [all|read",
        ] {
            #expect(help.contains(usage), "\(help)")
        }
    }

    @Test("everything after a program to run is the program's")
    func programs() throws {
        #expect(HelpText.text(of: "run")?.hasPrefix("socktui run [OPTION...] [--] CMD ARG...\n") == true)
        var wanted = RunRequest(["curl", "-v", "--json", "x", "--", "-"])
        #expect(try parse("run curl -v --json x -- -").opening == [.run(wanted)])
        #expect(try parse("run -- curl -v --json x -- -").opening == [.run(wanted)])
        (wanted.via, wanted.input, wanted.timeout) = (.both, "in", .seconds(2))
        let all = try parse("run --json --proxy both --stdin in --timeout 2 -- curl -v --json x -- -")
        #expect(all.opening == [.run(wanted)] && all.mode == .report(.json, isOnce: false))
        #expect(throws: UsageError("--proxy", "ftp is not a kind of proxy; write http, socks or both")) {
            try parse("run --proxy ftp x")
        }
        wanted = RunRequest(["psql"])
        wanted.hasTerminal = true
        #expect(try parse("run --tty -- psql").opening == [.run(wanted)])
        #expect(wanted.environment(["TERM=xterm", "LINES=9", "A=1"], proxies: [:]) == ["A=1", "TERM=dumb"])
        wanted = RunRequest(["nc"])
        wanted.showsCalls = true
        #expect(try parse("run --calls --json nc").opening == [.run(wanted)])
        #expect(throws: UsageError("--calls", "cannot be used with --proxy, where no connect is taken")) {
            try parse("run --calls --proxy http nc")
        }
        #expect(throws: UsageError("--stdin", "works only with run")) { try parse("connect h:1 --stdin x") }
    }

    @Test("what is sent first, in escapes")
    func greeting() throws {
        var wanted = OpenRequest(.tcp(host: "h", port: 1))
        wanted.greeting = [0x50, 0x0D, 0x0A, 0x00]
        #expect(try parse("connect --send P\\r\\n --send \\0 h:1").opening == [.connect(wanted)])
    }

    @Test("ws:// asks for a WebSocket, and its options say how")
    func webSockets() throws {
        var wanted = OpenRequest(.webSocket(try WebSocketURL.parse("ws://h:1/chat?x")))
        wanted.webSocket.subprotocols = ["a", "b"]
        wanted.webSocket.fields = [HTTPField("X", "y:z")]
        wanted.webSocket.compresses = false
        let options = ["--subprotocol", "a, b", "--header", "X: y:z", "--no-compression"]
        #expect(try ArgumentParser.parse(["connect", "ws://h:1/chat?x"] + options).opening == [.connect(wanted)])
        guard case .connect(let secure) = try parse("connect wss://h/ --insecure").opening.first else { return }
        #expect(secure.tls?.trust == .anything && secure.address == "wss://h/")
        guard case .listen(let listening) = try parse("listen ws://:0/chat").opening.first else { return }
        #expect(listening.target == (try OpenTarget.parse("ws://:0/chat", listens: true)))
        for (line, words) in [
            ("connect ws://h:1 --no-read", "--no-read cannot be used with a WebSocket"),
            ("connect h:1 --no-compression", "work only with ws:// and wss://"),
            ("listen wss://:0", "needs a certificate"),
            ("connect ws://h:1 --insecure", "TLS options need wss://"),
            ("connect ws://h:1 --header X", "'Name: value'"), ("connect ws://h:x/", "ws://h:x/"),
        ] {
            let error = #expect(throws: UsageError.self) { try parse(line) }
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        }
    }

    @Test("tls:// asks for TLS, and its options say how")
    func tls() throws {
        guard
            case .connect(let request) = try parse(
                "connect tls://h:1 --sni n --alpn h2,imap --ca f --cert c --key k --keylog l"
            ).opening.first
        else {
            Issue.record("no connect")
            return
        }
        let settings = try #require(request.tls)
        #expect(request.target == .stream(.tcp(host: "h", port: 1), isSecure: true) && request.address == "tls://h:1")
        #expect(settings.serverName == "n" && settings.applicationProtocols == ["h2", "imap"])
        #expect(settings.trust == .file("f") && settings.keyLogFile == "l")
        #expect(settings.trustEvaluator == .delegateIfRefused)
        #expect(settings.identity == .init(certificateFile: "c", keyFile: "k"))
        guard case .connect(let other) = try parse("connect tls://h:1 --insecure").opening.first else { return }
        #expect(other.tls?.trust == .anything && other.tls?.checksName == true)
        guard case .listen(let listening) = try parse("listen tls://:0 --cert c --ca d/").opening.first else { return }
        #expect(listening.tls?.role == .server && listening.tls?.clientCertificate == .required)
        #expect(listening.tls?.trust == .folder("d/"))
        for (line, words) in [
            ("listen tls://:0", "needs a certificate"), ("connect h:1 --insecure", "TLS options need tls://"),
            ("listen tls://:0 --cert c --sni n", "--sni works with connect"), ("connect tls://h", "tls://h"),
        ] {
            let error = #expect(throws: UsageError.self) { try parse(line) }
            #expect(error?.description.contains(words) == true, "\(line): \(String(describing: error))")
        }
    }

    @Test("each side of a relay asks for TLS by itself, and gets what is said about it")
    func relays() throws {
        func relay(_ line: String) throws -> RelayRequest {
            guard case .relay(let relay)? = try parse(line).opening.first else {
                throw UsageError(line, "opens no relay")
            }
            return relay
        }
        let both = try relay("relay tls://:0 tls://h:1 --cert c --key k --ca f --sni n --alpn h2 --timeout 2")
        #expect(both.listenTLS?.identity == .init(certificateFile: "c", keyFile: "k"))
        #expect(both.listenTLS?.clientCertificate == TLSSettings.ClientCertificate.none)
        #expect(both.targetTLS?.trust == .file("f") && both.targetTLS?.serverName == "n")
        #expect(both.targetTLS?.identity == nil && both.timeout == .seconds(2))
        #expect(both.listenTLS?.applicationProtocols == ["h2"] && both.targetTLS?.applicationProtocols == ["h2"])
        #expect(both.text == "relay tls://:0 tls://h:1" && both.name == "relay to tls://h:1")
        let listener = try relay("relay tls://:0 h:1 --cert c --ca f")
        #expect(listener.listenTLS?.clientCertificate == .required && listener.targetTLS == nil)
        let target = try relay("relay :0 tls://h:1 --cert c --insecure")
        #expect(target.listenTLS == nil && target.targetTLS?.trust == .anything)
        #expect(target.targetTLS?.identity == .init(certificateFile: "c"))
        #expect(try relay("relay --http-proxy tls://:0 --cert c").listenTLS?.role == .server)
        for (line, words) in [
            ("relay tls://:0 h:1", "tls://:0: a TLS server needs a certificate"),
            ("relay :0 h:1 --insecure", ":0: TLS options need tls://, here or at the target"),
            ("relay tls://:0 h:1 --cert c --insecure", "--insecure works with connect"),
            ("relay --socks5 tls://:0", "--socks5: tls://:0: a TLS server needs a certificate"),
            ("relay :0 udp://h:1", "udp://h:1: to relay datagrams, listen on udp://, as in udp://:5353 udp://h:1"),
            ("relay ws://:0 h:1", "only tcp://, tls:// and unix: are supported here; write host:port"),
            (
                "connect ftp://h:1",
                "ftp://h:1: only tcp://, tls://, ws://, wss://, ws+unix:, wss+unix:, udp://, unixgram: and unix: are supported here"
            ),
        ] {
            let error = #expect(throws: UsageError.self) { try parse(line) }
            #expect(error?.description.contains(words) == true, "\(line): \(String(describing: error))")
        }
    }

    @Test("several addresses, and any free port to listen on")
    func several() throws {
        #expect(
            try parse("listen :0 unix:@a").opening == [
                .listen(OpenRequest(.tcp(host: "", port: 0))), .listen(OpenRequest(.abstract(name: "a"))),
            ])
        #expect(try parse("demo").opening == [.startDemo])
        #expect(try parse("connect -- h:1").opening == [.connect(OpenRequest(.tcp(host: "h", port: 1)))])
    }

    @Test("modes")
    func modes() throws {
        #expect(try parse("--script f --size 100x30 demo").mode == .script("f"))
        #expect(try parse("--script f --size 100x30 demo").size == Size(100, 30))
        #expect(try parse("--json demo").mode == .report(.json, isOnce: false))
        #expect(try parse("--once --json demo").mode == .report(.json, isOnce: true))
        #expect(try parse("listen :1 --once").mode == .report(.text, isOnce: true))
        #expect(try parse("connect nonsense --help").mode == .help("connect"))
        #expect(try parse("--version").mode == .version)
        #expect(try parse("--ascii").isASCII == true)
        #expect(try parse("--color=8").depth == .eight)
        #expect(try parse("config --config f").mode == .configuration)
        #expect(try parse("completions zsh").mode == .completions(.zsh))
        #expect(try parse("help").mode == .help(nil) && parse("help keys").mode == .help("keys"))
        #expect(try parse("mcp --peek").host.tellsPayload && !parse("mcp").host.tellsPayload)
        #expect(try parse("--trap-after-start main").trap == .main)
    }

    @Test("what is expected makes a run without a screen; --within is for those before it that have none")
    func expectations() throws {
        let run = try parse(
            "connect h:1 --expect a --expect /b/ --within 500ms --expect hex:0d0a --expect d --within 2")
        #expect(run.mode == .report(.text, isOnce: false))
        #expect(run.report.expectations.map(\.text) == ["a", "/b/", "hex:0d0a", "d"])
        #expect(
            run.report.expectations.map(\.limit) == [
                .milliseconds(500), .milliseconds(500), .seconds(2), .seconds(2),
            ])
        #expect(try parse("connect h:1 --expect a").report.expectations.map(\.limit) == [.seconds(10)])
    }

    @Test("the start screen opens a command, or says that it is for the shell")
    func startScreen() {
        let opened: Set = ["host", "attach", "connect", "listen", "relay", "demo"]
        #expect(AddressLine.ofShell.union(opened) == Set(CommandTable.words.map(\.name)))
    }

    @Test("- makes standard input and output the peer's, whose FIN does not end what is sent")
    func carriesBytes() throws {
        let client = try parse("connect h:1 -")
        #expect(client.mode == .report(.bytes, isOnce: false))
        #expect(client.opening == [.connect(OpenRequest(.tcp(host: "h", port: 1), allowsHalfOpen: true))])
        let server = try parse("listen - :1")
        let wanted = OpenRequest(.tcp(host: "", port: 1), allowsHalfOpen: true, holdsConnections: true)
        #expect(server.opening == [.listen(wanted)])
    }

    @Test(
        "a mistake is named, with what would be right",
        arguments: [
            ("--bogus", "--bogus: no such option; see socktui --help"),
            ("--hlep", "--hlep: no such option; did you mean --help?"),
            ("open f --find x", "--find: no such option; see socktui open --help"),
            ("relay :1 :2 --falt x", "--falt: no such option; did you mean --fault?"),
            ("why 7 --once", "--once: cannot be used with why"),
            (
                "host --check --once",
                "--once: cannot be used with --check: a single snapshot cannot tell how long bytes have waited"
            ),
            ("conect h:1", "conect: no such command; did you mean connect?"),
            (
                "localhost:80",
                "localhost:80: no such command; write socktui connect localhost:80, or to see who uses it: socktui why localhost:80"
            ),
            ("connect h:1 --timeout", "--timeout: needs TIME after it"),
            ("connect h:1 --timeout soon", "--timeout: soon is not a duration; write 5, 5s or 500ms"),
            ("connect h:1 --timeout 0", "--timeout: 0 is not a duration; write 5, 5s or 500ms"),
            ("connect h:1 --timeout nan", "--timeout: nan is not a duration; write 5, 5s or 500ms"),
            ("listen :1 --timeout 5", "--timeout: works only with connect, relay or run"),
            ("connect h:1 --send a\\q", "--send: column 2 of a\\q: \\q is not an escape; \\\\ writes a backslash"),
            ("config x", "x: config takes no operand; write --config FILE"),
            ("help warnigs", "warnigs: no such topic; did you mean warnings?"),
            ("why 1 --record f", "--record: cannot be used with why"),
            ("export f --as curl --rewind 5s", "--rewind: cannot be used with export"),
            ("host --check --record f", "--record: cannot be used with host --check"),
            ("host --check --ascii", "--ascii: cannot be used with host --check"),
            ("host --check --script f", "--script: cannot be used with host --check"),
            ("host --check --payload 4", "--payload: cannot be used with host --check"),
            ("host --once --metrics - --log f", "--log: cannot be used with host --metrics"),
            (
                "http",
                "http: no such command; write socktui connect localhost:80, or to see why it hangs: socktui why :80"
            ),
            ("4711", "4711: no such command; write socktui why 4711 for a process, or socktui why :4711 for a port"),
            ("99999", "99999: no such command; write socktui why 99999 for a process"),
            ("completions csh", "completions: needs a shell: bash, zsh or fish"),
            ("demo --color=many", "--color: many is not a color depth; write auto, 256, 16, 8 or none"),
            ("demo --no-read", "--no-read: works only with connect or listen"),
            ("demo --ascii=yes", "--ascii=yes: --ascii takes no value"),
            ("demo --size 80x24", "--size: needs --script FILE"),
            ("demo --snaplen 0", "--snaplen: needs --record FILE"),
            ("demo --force", "--force: needs --record FILE"),
            ("host --record-limit 1M", "--record-limit: needs --record FILE"),
            ("demo --script f --size 80", "--size: 80 is not a size; write columns x rows, as in 80x24"),
            ("demo --script f --json", "--json: writes standard output, as --script does; leave one of them out"),
            ("demo --script f --once", "--once: writes standard output, as --script does; leave one of them out"),
            ("connect h:1 - --json", "-: writes standard output, as --json does; leave one of them out"),
            ("listen :1 - --once", "-: writes standard output, as --once does; leave one of them out"),
            ("open - --script -", "open -: reads standard input, as --script - does; leave one of them out"),
            ("open - -", "open -: reads standard input, as open - does; leave one of them out"),
            ("connect h:1 - --script -", "-: reads standard input, as --script - does; leave one of them out"),
            ("connect h:1 - --script f", "-: writes standard output, as --script does; leave one of them out"),
            (
                "relay :1 :2 -",
                "-: only connect and listen pass on standard input, as in socktui connect localhost:80 -"
            ),
            ("connect -", "-: needs a single address, as in socktui connect localhost:80 -"),
            ("connect a:1 b:1 -", "-: needs a single address, as in socktui connect a:1 -"),
            ("connect h:1 - -", "-: needs a single address, as in socktui connect h:1 -"),
            (
                "connect udp://h:1 -",
                "-: carries a byte stream, but udp://h:1 has messages; use --send and --expect"
            ),
            (
                "relay :1 :2 --fault downstream latency 300ms --once",
                "--fault: quote the whole RULE: --fault 'downstream latency 300ms'"
            ),
            ("relay :1 --fault stall 5s :2", "--fault: quote the whole RULE: --fault 'stall 5s'"),
            (
                "relay :1 :2 --break upstream on bytes 10",
                "--break: quote the whole POINT: --break 'upstream on bytes 10'"
            ),
            ("connect h:1 - --no-read", "-: cannot be used with --no-read, which receives nothing"),
            ("connect h:1 --no-read --expect x", "--expect: cannot be used with --no-read, which receives nothing"),
            ("connect h:1 --expect x --once", "--expect: cannot be used with --once, which ends at once"),
            ("connect h:1 --expect x --script f", "--expect: cannot be used with --script, where wait does it"),
            ("relay :1 :2 --expect x", "--expect: works only with connect or listen"),
            ("connect h:1 --expect /(/", "--expect: column 2 of /(/: a ) is missing"),
            (
                "connect h:1 --expect hex:0",
                "--expect: column 5 of hex:0: a byte needs two hex digits; this one has only one"
            ),
            ("connect h:1 --expect x\\q", "--expect: column 2 of x\\q: \\q is not an escape; \\\\ writes a backslash"),
            ("connect h:1 --within 1s", "--within: goes after the --expect that it limits"),
            ("connect h:1 --expect x --within soon", "--within: soon is not a duration; write 5, 5s or 500ms"),
            ("connect h:1 --payload 4", "--payload: needs --json, or unread bytes in a --script"),
            ("connect h:1 --json --payload 0", "--payload: 0 is not a size up to 1M; write 100 or 4K"),
            (
                "attach x --json --payload 4",
                "--payload: cannot be used with attach, which shows the bytes of one socket at a time"
            ),
            ("connect h:1 --exchanges", "--exchanges: needs --json"),
            ("connect h:1 --every 1s", "--every: needs --json"),
            (
                "--once",
                "--once: needs something to open: demo, connect ADDRESS, listen ADDRESS, relay, run or attach PID"
            ),
            (
                "--json",
                "--json: needs something to open: demo, connect ADDRESS, listen ADDRESS, relay, run or attach PID"
            ),
            ("demo a:1", "a:1: demo takes no address"),
            ("connect h:0", "h:0: the port must be 1 to 65535"),
            ("listen h:65536", "h:65536: the port must be 0 to 65535"),
        ])
    func mistakes(line: String, sentence: String) {
        let error = #expect(throws: UsageError.self) { try parse(line) }
        #expect(error?.description == sentence)
    }

    @Test("a run can be kept to go back in it, a file and what is printed cannot")
    func rewinding() throws {
        #expect(try parse("relay :9000 :80 --rewind 60s").rewind == .seconds(60))
        #expect(try parse("demo --rewind=5m").rewind == .seconds(300))
        for (line, problem) in [
            ("demo --rewind never", "never is not a duration"), ("demo --rewind 0", "from 1s to 24h"),
            ("open a.pcapng --rewind 60s", "an opened file can always be rewound"),
            ("demo --once --rewind 60s", "needs a screen"), ("demo --json --rewind 60s", "needs a screen"),
        ] {
            #expect { try parse(line) } throws: { "\($0)".contains(problem) }
        }
    }
}
