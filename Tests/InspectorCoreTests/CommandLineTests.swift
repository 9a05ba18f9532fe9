import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("The command line behind :")
struct CommandLineTests {
    private let seven = SocketID(7)

    private func model(_ line: String) -> (Model, [Effect]) {
        var model = World.model()
        let effects = model.update(.command(line))
        return (model, effects)
    }

    private func effects(_ line: String) -> [Effect] { model(line).1 }

    @Test("commands with arguments act on the selected connection")
    func acts() {
        #expect(effects("close reset") == [.send(.close(seven, .reset))])
        #expect(effects("close half") == [.send(.halfClose(seven))])
        #expect(effects(#"send PING\r\n"#) == [.send(.write(seven, WriteRequest(Array("PING\r\n".utf8), tag: 1)))])
        #expect(
            effects(#"read until \r\n max 8K timeout 5s tag 9"#) == [
                .send(
                    .read(
                        seven, ReadRequest(.delimiter([13, 10], limit: 8192), timeout: .seconds(5), tag: 9)))
            ])
        #expect(
            effects("read length 4K standing") == [
                .send(.read(seven, ReadRequest(.length(4096), tag: 1, isStanding: true)))
            ])
        #expect(
            effects("answer extend 2s") == [.send(.answerTimeout(seven, OperationID(101), .extend(by: .seconds(2))))])
        var request = OpenRequest(.tcp(host: "h", port: 1), timeout: .seconds(3), standingRead: false)
        request.allowsHalfOpen = true
        #expect(effects("connect h:1 timeout 3s no-read half-open") == [.connect(request)])
        #expect(effects("mouse on") == [.screen(.mouse(true))])
        #expect(effects("suspend") == [.screen(.suspend)])
    }

    @Test("TLS is asked for by tls://, and what follows the address says how")
    func tls() {
        var request = OpenRequest(.stream(.tcp(host: "h", port: 1), isSecure: true), timeout: .seconds(3))
        request.tls = .client(serverName: "n")
        request.tls?.trust = .file("f")
        request.tls?.trustEvaluator = .delegateIfRefused
        request.tls?.applicationProtocols = ["h2", "imap"]
        #expect(effects("connect tls://h:1 ca f sni n alpn h2,imap timeout 3s") == [.connect(request)])
        request = OpenRequest(.stream(.tcp(host: "", port: 1), isSecure: true), standingRead: false)
        request.tls = .server(.init(certificateFile: "c", keyFile: "k"))
        #expect(effects("listen tls://:1 cert c key k no-read") == [.listen(request)])
        var relay = RelayRequest(listen: .tcp(host: "", port: 1), target: .endpoint(.tcp(host: "h", port: 2)))
        #expect(effects("relay :1 h:2") == [.relay(relay)])
        relay.listenTLS = .server(.init(certificateFile: "c"))
        relay.timeout = .seconds(1)
        #expect(effects("relay tls://:1 h:2 timeout 1s cert c") == [.relay(relay)])
        relay = RelayRequest(listen: .tcp(host: "", port: 1), target: .proxy(.socks5))
        #expect(effects("relay --socks5 :1") == [.relay(relay)])
    }

    @Test("commands without arguments are what their keys do")
    func presses() {
        #expect(model("detail").0.tab == .detail)
        #expect(model("close").0.dialogs.open != nil)
        #expect(model("select 9").0.list.selected == SocketID(9))
        #expect(model("sort peer reverse").0.list.sorting.column.name == "peer")
        #expect(model("filter  port:8080 role:listener").0.list.rows == [SocketID(3)])
        #expect(model("view escaped").0.traffic.viewMode == .escaped)
        #expect(model("help delimiter").0.help?.filter == "delimiter")
    }

    @Test(
        "what means nothing is said, and nothing is done",
        arguments: [
            ("clse", "clse: no such command; did you mean close?"),
            ("send a\\q", "send: column 2: \\q is not an escape; \\\\ writes a backslash"),
            ("connect", nil), ("connect h", "h: the port is missing; write h:80"),
            ("select 99", "there is no connection #99"),
            ("read max 1 until \\r\\n", "max: must be at least the delimiter's 2 bytes"),
            ("read length", "length: needs a number of bytes after it"),
            ("accept", "accept is not available in connection list"),
            (
                "listen tls://:1",
                "tls://:1: a TLS server needs a certificate: cert FILE, and key FILE unless it holds both"
            ),
            ("connect h:1 insecure", "h:1: TLS options need tls://, as in tls://h:1"),
            ("connect tls://h:1 ca", "ca: needs a PEM file, or folder/ after it"),
            ("relay :1", ":1: needs a target such as localhost:80 after it"),
            (
                "relay :1 h:2 half-open",
                "half-open: relay takes timeout 10s, cert, key, ca, sni, alpn, keylog, insecure"
            ),
            ("answer later", "later: answer takes extend 30s, fail, close"),
        ] as [(String, String?)])
    func refusals(line: String, sentence: String?) {
        let (model, effects) = model(line)
        #expect(effects.isEmpty && model.notice?.text == sentence)
    }

    @Test("a line is typed, completed with Tab, corrected and remembered")
    func typing() {
        var model = World.model()
        model.press(.character(":"))
        for character in "clo" { model.press(.character(character)) }
        #expect(CommandPalette(model)?.entries.map(\.name).first == "close")
        model.press(.tab)
        #expect(model.field.open?.editor.text == "close ")
        model.press(.character("x"))
        model.press(.enter)
        #expect(model.field.open?.error?.hasPrefix("x: close takes now") == true)
        model.press(.backspace)
        for character in "aft" { model.press(.character(character)) }
        model.press(.tab)
        #expect(model.field.open?.editor.text == "close after-")
        for character in "b" { model.press(.character(character)) }
        model.press(.tab)
        #expect(model.update(.key(.enter)) == [.send(.close(seven, .afterBoth))])
        #expect(model.field.open == nil)
        model.press(.character(":"))
        model.press(.up)
        #expect(model.field.open?.editor.text == "close after-both ")
        model.press(.escape)
        #expect(model.field.open == nil && model.tab == .list)
    }

    @Test("every command can be typed, and every verb is in the help")
    func complete() {
        for action in Action.all where !action.uses.isEmpty {
            if case .failure(let failure) = Instruction.parse(action.name) { Issue.record("\(failure.message)") }
        }
        let help = HelpContents(World.model(), HelpState(context: .list)).entries.map { "\($0.lead) \($0.text)" }
        for action in Action.commands {
            let isAlone = action.usage == action.name
            let entry = isAlone ? "\(action.name) \(action.syntax?.help ?? "")" : action.usage + ": "
            #expect(help.contains { $0.hasPrefix(entry) }, "\(action.usage)")
        }
    }

    @Test("the help shows what holds a word, and only that")
    func help() {
        var model = World.model()
        model.press(.character("?"))
        model.press(.character("/"))
        for character in "reset" { model.press(.character(character)) }
        let sections = model.help.map { HelpContents(model, $0).sections } ?? []
        let entries = sections.flatMap(\.entries)
        #expect(entries.contains { $0.text.contains("half|reset") } && entries.count < 12)
        #expect(entries.allSatisfy { "\($0.lead) \($0.text) \($0.name)".lowercased().contains("reset") })
        model.press(.enter)
        #expect(model.help?.filter == "reset" && model.field.open == nil)
        model.press(.escape)
        #expect(model.help == nil)
    }

    @Test("a key bound to a line runs it; the footer and the help show it")
    func bound() {
        var options = Model.Options(ascii: true, version: "0")
        options.keys.bind(.character("z"), in: .list, to: "close reset")
        options.keys.bind(.character("s"), in: .list, to: "")
        var model = Model(options: options)
        _ = model.update(.resized(Size(80, 24)))
        _ = model.update(.snapshot(World.full))
        model.press(.character("1"))
        #expect(model.update(.key(.character("z"))) == [.send(.close(seven, .reset))])
        let before = model.list.sorting
        model.press(.character("s"))
        #expect(model.list.sorting == before)
        let help = HelpView.lines(model, HelpState(context: .list)).map(\.text)
        #expect(help.contains { $0.hasPrefix("z ") && $0.contains("close reset") })
    }

    @Test("the program's own log stands among the events, in its place")
    func log() {
        var model = World.model()
        _ = model.update(.note("config read \u{1B}[2J", at: World.at(14, 2, 0)))
        model.press(.character("4"))
        let text = draw(model, Size(80, 24)).text
        #expect(text.contains("socktui        -    config read \\x1b[2J"))
        model.press(.character("f"))
        for character in "config" { model.press(.character(character)) }
        #expect(model.events.shown(in: model.shared).count >= 1)
    }

    @Test("a paste over a list is asked about, and goes into the line only then")
    func paste() {
        var model = World.model()
        #expect(model.update(.paste("q\nx")).isEmpty)
        #expect(model.context == .menu && model.list.selected == seven)
        model.press(.character("n"))
        #expect(model.dialogs.open == nil && model.composer.editor.isEmpty)
        _ = model.update(.paste("q\nx"))
        model.press(.character("y"))
        #expect(model.context == .composer && model.composer.editor.text == "q\nx")
    }

    @Test("the mouse selects a row and opens it with a second press, chooses tabs, and scrolls")
    func mouse() {
        var model = World.model()
        let row = model.layout(model.size, .list).list.y + 1
        _ = model.update(.mouse(MouseEvent(.press, x: 5, y: row + 5)))
        #expect(model.list.selected == SocketID(9) && model.tab == .list)
        _ = model.update(.mouse(MouseEvent(.wheelDown, x: 5, y: row + 3)))
        #expect(model.list.selected == SocketID(10))
        _ = model.update(.mouse(MouseEvent(.press, x: 5, y: row + 3)))
        _ = model.update(.mouse(MouseEvent(.press, x: 5, y: row + 3)))
        #expect(model.tab == .traffic)
        _ = model.update(.mouse(MouseEvent(.press, x: 45, y: 1)))
        #expect(model.tab == .events)
        model.press(.character("?"))
        _ = model.update(.mouse(MouseEvent(.press, x: 2, y: 1)))
        #expect(model.tab == .events, "what is over the screen keeps the mouse off it")
    }
}
