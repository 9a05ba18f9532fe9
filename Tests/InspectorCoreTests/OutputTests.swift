import InspectorCore
import InspectorScreen
import SocketCore
import SocketWorkshop
import Testing

@Suite("A program that runs through the relay")
struct OutputTests {
    private static func lines(_ text: OutputText) -> [String] {
        (text.first..<text.end).map { number in
            switch text[number] {
            case .line(let bytes, _): String(decoding: bytes, as: UTF8.self)
            case .dropped(let count): "[\(count)]"
            }
        }
    }

    private static func text(_ pieces: String...) -> OutputText {
        var text = OutputText()
        for piece in pieces { text.add(Array(piece.utf8)) }
        return text
    }

    @Test("a line ends in LF, CR or both, wherever the pieces are cut")
    func lines() {
        #expect(Self.lines(Self.text("a\nb\r\nc\rd")) == ["a", "b", "c", "d"])
        #expect(Self.lines(Self.text("a\r", "\nb", "\r", "c\n", "\n")) == ["a", "b", "c", ""])
        #expect(Self.lines(Self.text()).isEmpty)
        let all = Array("one\r\ntwo\rthree\n\nfour".utf8)
        for size in 1...all.count {
            var text = OutputText()
            for start in stride(from: 0, to: all.count, by: size) {
                text.add(Array(all[start..<min(start + size, all.count)]))
            }
            #expect(Self.lines(text) == ["one", "two", "three", "", "four"])
            #expect(text.total == all.count && text.lost == 0)
        }
    }

    @Test("the latest is kept; what is not is counted, in its place and in all")
    func bounded() {
        var text = Self.text("before\nhal")
        text.add(Array("f\n".utf8), dropped: 70)
        #expect(Self.lines(text) == ["before", "hal", "[70]", "f"] && text.lost == 70 && text.total == 82)
        for number in 0..<30_000 { text.add(Array("\(number)\n".utf8)) }
        #expect(text.end - text.first == 10_000 && Self.lines(text).last == "29999" && text.end == 30_004)
        let kept = Self.lines(text).reduce(0) { $0 + $1.utf8.count + 1 }
        #expect(text.total - text.lost == kept)
        text.add([UInt8](repeating: 0x78, count: 5 << 20))
        #expect(text.total - text.lost <= (1 << 20) + 4_096 && text.total - text.lost > 1 << 19)
    }

    @Test(
        "a terminal's line is written over, and what a dumb terminal does not know is left out",
        arguments: [
            ("a\r\nb", ["a", "b"], 1), ("50%\r75%", ["75%"], 3), ("abX\u{8} \u{8}c", ["abc"], 3),
            ("abc\rX", ["Xbc"], 1), ("abc\r\u{1b}[K", [""], 0), ("\u{1b}[31mred\u{1b}[0m\u{7}", ["red"], 3),
            ("\u{1b}]0;title\u{7}a\u{1b}]0;t\u{1b}\\b", ["ab"], 2), ("日本\u{8}\u{8}x", ["日x "], 3),
            ("日\u{8}x", [" x"], 2), ("e\u{301}\u{8}a", ["a"], 1), ("a\tb\r\n", ["a       b", ""], 0),
            ("abc\u{1b}[2DX\u{1b}[2Cd", ["aXc d"], 5),
            ("a\u{1b}[12\u{18}b", ["ab"], 2), ("abc\r\u{1b}[12\u{1b}[Kd", ["d"], 1),
        ])
    func terminal(written: String, lines: [String], column: Int) {
        for size in [1, 2, 100] {
            var (text, rest) = (OutputText(isTerminal: true), Array(written.utf8)[...])
            while !rest.isEmpty {
                text.add(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(Self.lines(text) == lines && text.line?.column == column)
        }
    }

    @Test("tabs reach no further than a line is long, and what follows a gap in a terminal's output is apart")
    func terminalLimits() {
        var text = OutputText(isTerminal: true)
        text.add(Array(repeating: 0x09, count: 1 << 16))
        #expect(text.line?.column == 1 << 12)
        text.add([0x0D] + Array("old".utf8))
        text.add(Array("new".utf8), dropped: 9)
        #expect(Self.lines(text).suffix(1) == ["new"] && text.line?.column == 3)
    }

    @Test("with a terminal, keys go to the program until ^], and it has the size of its pane")
    func typing() {
        var model = World.model()
        var state = ChildState(name: "psql", via: .connect, hasTerminal: true, phase: .running(process: 7))
        let prompt = ChildNews(state, output: Array("=> ".utf8))
        #expect(model.update(.child(prompt)) == [.resizeChild(columns: 80, rows: 19)])
        let screen = draw(model, Size(80, 24))
        #expect(screen.cursor == Canvas.Position(x: 3, y: 3) && screen.text.contains("^] commands"))
        let keys: [(Key, String)] = [
            (.character("q"), "q"), (.control("c"), "\u{3}"), (.escape, "\u{1b}"), (.up, "\u{1b}[A"), (.enter, "\r"),
            (.backspace, "\u{7f}"), (.alt("b"), "\u{1b}b"), (.character("ä"), "ä"), (.function(5), "\u{1b}[15~"),
        ]
        for (key, text) in keys { #expect(model.update(.key(key)) == [.typeToChild(Array(text.utf8))]) }
        #expect(model.update(.paste("a\nb")) == [.typeToChild(Array("a\rb".utf8))])
        #expect(model.update(.resized(Size(100, 30))) == [.resizeChild(columns: 100, rows: 25)])
        model.press(.control("]"), .character("1"))
        #expect(model.tab == .list)
        model.press(.character("5"), .character("i"))
        #expect(model.update(.key(.character("1"))) == [.typeToChild([0x31])])
        state.phase = .ended(.exit(0), process: 7, connections: 0)
        _ = model.update(.child(ChildNews(state)))
        model.press(.character("i"))
        #expect(model.notice?.text == "psql is not running")
        model.press(.character("1"))
        #expect(model.tab == .list)
    }

    private static func model(
        _ phase: ChildState.Phase, _ output: String = "", via: RunRequest.Via = .http, size: Size = Size(80, 24)
    ) -> Model {
        var model = World.model(size: size)
        _ = model.update(
            .child(ChildNews(ChildState(name: "curl", via: via, phase: phase), output: Array(output.utf8))))
        return model
    }

    @Test("the pane says how the program is doing, and nothing that it writes reaches the terminal")
    func pane() {
        var model = Self.model(.running(process: 77), "plain\n\u{1b}[31mred\u{1b}[0m\ttab\u{202e}\r\nlast")
        model.press(.character("5"))
        let screen = draw(model, Size(80, 24)).text
        #expect(model.tab == .output && screen.contains("[5 Output]") && screen.contains("curl[77] running"))
        #expect(screen.contains("plain") && screen.contains("\\x1b[31mred\\x1b[0m") && screen.contains("last"))
        #expect(!screen.unicodeScalars.contains("\u{1b}") && !screen.unicodeScalars.contains("\u{202e}"))
        #expect(screen.contains("3 lines"))
    }

    @Test("it follows what comes, until it is scrolled, and again from the end", arguments: [20, 80])
    func scrolling(width: Int) {
        let size = Size(max(40, width), 12)
        var model = Self.model(
            .running(process: 1), (1...50).map { "row \($0) \(String(repeating: "x", count: 60))\n" }.joined(),
            size: size)
        model.press(.character("5"))
        func shows(_ row: Int) -> Bool { draw(model, size).text.contains("row \(row) ") }
        #expect(shows(50) && !shows(1))
        model.press(.character("g"))
        #expect(shows(1) && !shows(50))
        _ = model.update(.child(ChildNews(ChildState(name: "curl", via: .http), output: Array("row 51 x\n".utf8))))
        #expect(shows(1) && !shows(51))
        model.press(.pageDown)
        #expect(!shows(1) && !shows(51))
        model.press(.character("G"))
        #expect(shows(51))
        _ = model.update(.child(ChildNews(ChildState(name: "curl", via: .http), output: Array("row 52 x\n".utf8))))
        #expect(shows(52))
        model.press(.character("F"))
        _ = model.update(.child(ChildNews(ChildState(name: "curl", via: .http), output: Array("row 53 x\n".utf8))))
        #expect(!shows(53))
        model.press(.character("F"))
        #expect(shows(53))
    }

    @Test(
        "how it ended is said once, and that it heeds no proxy where it made no connection",
        arguments: [
            (ChildEnding.exit(0), 2, "curl[77] ended with status 0, after 2 connections; 5 shows its output", false),
            (.exit(3), 0, "curl[77] ended with status 3 without a connection through the relay: it made", true),
            (.signal(9), 1, "curl[77] was killed by KILL, after 1 connection; 5 shows its output", false),
            (.notStarted("run: curl: gone", status: 127), 0, "run: curl: gone", false),
        ])
    func endings(ending: ChildEnding, connections: Int, sentence: String, isError: Bool) {
        var model = Self.model(.running(process: 77), "text\n")
        let state = ChildState(
            name: "curl", via: .http, phase: .ended(ending, process: 77, connections: connections))
        _ = model.update(.child(ChildNews(state)))
        #expect(model.notice?.text.hasPrefix(sentence) == true, "\(String(describing: model.notice))")
        #expect(model.notice?.isError == isError)
        model.press(.character("j"))
        _ = model.update(.child(ChildNews(state, output: [0x78])))
        #expect(model.notice == nil)
    }

    @Test("what does not come to the relay is counted while it runs, and said at the end")
    func passed() {
        var state = ChildState(name: "node", via: .connect, phase: .running(process: 7))
        #expect(state.chip == "node[7] running")
        for reason in [PassedConnects.Reason.datagram, .local, .datagram] { state.passed.count(reason) }
        (state.passed.early, state.passed.strangers, state.passed.listeners) = (1, 1, 2)
        state.passed.addRing(of: 9)
        #expect(state.chip == "node[7] running, 6 not shown")
        state.phase = .ended(.exit(0), process: 7, connections: 0)
        state.note = "no"
        #expect(
            state.farewell == "node[7] ended with status 0 without a connection through the relay: it made none; no; "
                + "not shown: 2 UDP, 1 Unix-domain, what 2 listeners accepted, what process 9 did by io_uring; "
                + "1 over MPTCP succeeded before the target answered; 1 other client reset at the relay's port")
    }

    @Test("what is named has a limit, and the rest is counted")
    func namesAreLimited() {
        var passed = PassedConnects()
        for number in 1...20 {
            passed.addRing(of: number)
            passed.addRing(of: number)
            passed.addLimited("su\(number)")
        }
        #expect(passed.uring.count == 16 && passed.moreRings == 8 && passed.unseen == 24)
        #expect(passed.limited.count == 16 && passed.moreLimited == 4)
        #expect(passed.phrases.first?.hasSuffix("process 16, 8 more did by io_uring") == true)
        #expect(passed.rights?.contains("su16, 4 more can't gain privileges here") == true)
    }

    @Test("its status is a shell's")
    func statuses() {
        #expect(ChildEnding.exit(3).status == 3 && ChildEnding.signal(15).status == 143)
        #expect(ChildEnding.notStarted("", status: 127).status == 127)
    }

    @Test("leaving asks while it runs, and not when it has ended")
    func leaving() {
        var model = Self.model(.running(process: 9))
        model.press(.character("5"), .character("Q"))
        #expect(draw(model, Size(80, 24)).text.contains("curl[9] will get TERM"))
    }

    @Test("a signal goes to a program that runs, by its name with or without SIG")
    func signals() {
        var model = Self.model(.running(process: 77))
        #expect(model.update(.command("signal term")) == [.signalChild(15)])
        #expect(model.update(.command("signal SIGUSR1")) == [.signalChild(10)])
        #expect(model.update(.command("signal")).isEmpty && model.notice?.isError == true)
        #expect(model.update(.command("signal 9")).isEmpty && model.notice?.isError == true)
        _ = model.update(
            .child(
                ChildNews(ChildState(name: "curl", via: .http, phase: .ended(.exit(0), process: 77, connections: 0)))))
        #expect(model.update(.command("signal TERM")).isEmpty && model.notice?.text == "signal: curl is not running")
    }

    @Test("without a program there is no such pane")
    func none() {
        var model = World.model(size: Size(80, 24))
        model.press(.character("5"))
        #expect(model.tab == .list && model.notice?.text.contains("socktui run") == true)
        #expect(!draw(model, Size(80, 24)).text.contains("Output"))
    }

    @Test("six variables name the proxies, others are replaced, and none is left out")
    func environment() {
        let own = ["PATH=/bin", "http_proxy=http://old:1", "NO_PROXY=*", "HTTP_PROXY_X=kept"]
        func environment(_ via: RunRequest.Via) -> Set<String> {
            let proxies: [ProxyKind: String] = [.http: "127.0.0.1:1", .socks5: "127.0.0.1:2"]
            let list = RunRequest(["x"], via: via).environment(own, proxies: proxies)
            #expect(list.count == 2 + 6 + 2 && Set(list).count == list.count)
            return Set(list)
        }
        #expect(RunRequest(["x"]).environment(own, proxies: [:]) == own)
        let http = environment(.http)
        #expect(http.isSuperset(of: ["PATH=/bin", "HTTP_PROXY_X=kept", "no_proxy=", "NO_PROXY="]))
        for name in RunRequest.variables { #expect(http.contains("\(name)=http://127.0.0.1:1")) }
        for name in RunRequest.variables { #expect(environment(.socks).contains("\(name)=socks5h://127.0.0.1:2")) }
        let both = environment(.both)
        #expect(both.contains("https_proxy=http://127.0.0.1:1") && both.contains("ALL_PROXY=socks5h://127.0.0.1:2"))
        #expect(RunRequest(["/usr/bin/curl", "-v"]).name == "curl")
    }

    @Test("a relayed row says that the head was rewritten", arguments: [80, 120])
    func rewritten(width: Int) {
        var (client, server) = (
            World.make(21, .accepted, .connected), World.make(22, .client, .connected, target: "h:80")
        )
        (client.peer, server.peer) = (.v4(host: "127.0.0.1", port: 5000), .v4(host: "127.0.0.1", port: 80))
        (client.linked, server.linked) = (server.id, client.id)
        for isRewritten in [false, true] {
            client.relay = RelaySnapshot(isHeadRewritten: isRewritten)
            var model = Model(options: .init(ascii: false, version: "0"))
            _ = model.update(.resized(Size(width, 24)))
            _ = model.update(.relays(client.id))
            _ = model.update(.snapshot(World.snapshot([client, server])))
            let row = draw(model, Size(width, 24)).text.split(separator: "\n").first { $0.contains(" 21 &") }
            #expect(row?.contains("head rewritten") == isRewritten, "\(row ?? "")")
        }
    }

    static let screens: [Screen] = [
        Screen("output") { size in
            var model = model(
                .running(process: 77), (1...60).map { "line \($0) of what it says\n" }.joined(), size: size)
            model.press(.character("5"))
            return model
        }
    ]
}
