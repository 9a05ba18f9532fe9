import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// Commands that are found by a part of their name or of what they do, and the help that runs what it lists.
@Suite("The palette and the help")
struct CommandPaletteTests {
    private func model(_ typed: String, from keys: Key...) -> Model {
        var model = World.model()
        for key in keys { model.press(key) }
        model.press(":")
        model.type(typed)
        return model
    }

    private func screen(_ model: Model) -> String { draw(model, model.size).text }

    @Test("each row says the key, the name and what it does; the best match is marked")
    func rows() {
        let text = screen(model("clo"))
        #expect(text.contains("> x       close"))
        #expect(text.contains("close, now or later"))
        let connect = CommandPalette(model("conn"))?.entries.first
        #expect(connect?.name == "connect" && connect?.keys == "c" && connect?.help == "connect to an address")
    }

    @Test(
        "a command is found by its beginning, a word in it, its letters and what it does",
        arguments: [
            ("zoom", "zoom"), ("oom", "zoom"), ("half", "half-page-up"), ("only marked", "show-marked"),
            ("wtrmrk", "watermarks"),
            ("whole screen", "zoom"), ("auto-reply", "replies"),
        ])
    func fuzzy(typed: String, name: String) {
        #expect(CommandPalette(model(typed))?.entries.first?.name == name)
    }

    @Test("what is wrong with a command is shown in place of the palette, until it is changed")
    func wrong() {
        var model = model("connect 127.0.0.1:x")
        model.press(.enter)
        #expect(screen(model).contains("the port x is not a number"))
        model.press(.backspace)
        #expect(!screen(model).contains("the port x is not a number") && screen(model).contains("connect ADDRESS"))
    }

    @Test("only what means something here is offered")
    func context() {
        let list = CommandPalette(model(""))?.entries.map(\.name) ?? []
        #expect(list.contains("columns") && !list.contains("save") && !list.contains("accept"))
        let traffic = CommandPalette(model("", from: "2"))?.entries.map(\.name) ?? []
        #expect(traffic.contains("save") && !traffic.contains("columns"))
        var model = World.model()
        model.press(.enter, .alt("x"))
        let composer = CommandPalette(model)?.entries ?? []
        #expect(
            composer.contains { $0.name == "template" && $0.keys == "Alt-o" } && composer.contains { $0.name == "save" }
        )
        for entry in list {
            #expect(Action.named(entry) != nil, "\(entry)")
        }
    }

    @Test("Enter runs the row that is marked, and writes it where arguments are needed")
    func enter() {
        var model = model("det")
        model.press(.enter)
        #expect(model.tab == .detail && model.field.open == nil)
        model = self.model("se")
        let row = CommandPalette(model)?.entries.firstIndex { $0.name == "send" } ?? -1
        for _ in 0..<row { model.press(.down) }
        #expect(model.press(.enter).isEmpty)
        #expect(model.field.open?.editor.text == "send ")
        #expect(screen(model).contains("send TEXT: send exactly these bytes"))
        model.type("x")
        #expect(model.press(.enter) == [.send(.write(SocketID(7), WriteRequest([120], tag: 1)))])
    }

    @Test("a word that is a command runs it, whatever else begins so")
    func exact() {
        var model = model("close")
        #expect(CommandPalette(model)?.target == nil)
        model.press(.enter)
        #expect(model.context == .menu)
        model = self.model("qqqq")
        model.press(.enter)
        #expect(model.field.open?.error == "qqqq: no such command")
        model = self.model("")
        model.press(.enter)
        #expect(model.field.open == nil)
    }

    @Test("Down goes through the rows; Up above the first one recalls what was typed before")
    func choosing() {
        var model = model("detail")
        model.press(.enter, "1", ":")
        model.press(.down)
        #expect(CommandPalette(model)?.target == 0)
        model.press(.down)
        #expect(CommandPalette(model)?.target == 1)
        model.press(.up, .up)
        #expect(CommandPalette(model)?.target == nil)
        model.press(.up)
        #expect(model.field.open?.editor.text == "detail")
        model.press(.down)
        #expect(model.field.open?.editor.text == "")
        for _ in 0..<500 { model.press(.down) }
        #expect(CommandPalette(model).map { $0.target == $0.entries.count - 1 } == true)
    }

    @Test("arguments are completed as well")
    func arguments() {
        var model = model("view he")
        #expect(CommandPalette(model)?.entries.map(\.name) == ["hex+text"])
        model.press(.tab)
        #expect(model.field.open?.editor.text == "view hex+text ")
        model = self.model("view ")
        model.press(.down, .enter)
        #expect(model.field.open?.editor.text == "view auto ")
        model.press(.enter)
        #expect(model.field.open == nil && model.traffic.viewMode == .auto)
    }

    @Test("Enter in the help runs the entry under the cursor where the help was opened")
    func help() {
        var model = World.model()
        model.press("2", "?", "/")
        model.type("automatic, hex")
        model.press(.enter, .enter)
        #expect(model.help == nil && model.tab == .traffic && model.traffic.viewMode != .auto)
        model.press("?", "/")
        model.type("send text")
        model.press(.enter, .enter)
        #expect(model.help == nil && model.context == .field && model.field.open?.editor.text == "send ")
        model.press(.escape, "1", "?", "/")
        model.type("regular expression")
        model.press(.enter, .enter)
        #expect(model.help != nil && model.notice?.isError == false, "a row that only explains")
        model.press(.escape, "r", .function(1), "/")
        model.type("next field")
        model.press(.enter, .enter)
        #expect(model.help == nil && model.context == .form, "the dialog stays")
    }

    @Test("the help opened over a field has the keys")
    func overField() {
        var model = World.model()
        model.press("f")
        model.type("a")
        model.press(.function(1), "j", "j")
        #expect(model.help?.cursor == 2 && model.field.open?.editor.text == "a")
        model.press(.escape)
        #expect(model.help == nil && model.context == .field)
    }

    @Test("nothing is told twice, cut or glued together, at any width", arguments: [40, 60, 80, 100, 120, 160, 200])
    func whole(width: Int) {
        var model = World.model()
        _ = model.update(.resized(Size(width, 30)))
        for context in KeyContext.allCases {
            let help = HelpState(context: context)
            let keys = HelpContents(model, help).entries.filter { !$0.name.isEmpty }
            #expect(keys.indices.allSatisfy { !keys[..<$0].contains(keys[$0]) }, "\(context)")
            let layout = HelpLayout(HelpContents(model, help), model.size)
            let room = HelpLayout.box(model.size).width - 4
            #expect(layout.rows.allSatisfy { $0.width <= room })
            #expect(layout.places.count == HelpContents(model, help).entries.count)
            #expect(!layout.rows.contains { $0.text.contains(String(model.glyphs.ellipsis)) })
            for entry in keys {
                #expect(!layout.rows.contains { $0.text.contains(entry.text + entry.name) }, "\(entry)")
            }
        }
    }

    @Test("the cursor of the help stays in sight")
    func sight() {
        var model = World.model()
        model.press("?")
        for _ in 0..<400 {
            model.press("j")
            guard let help = model.help else { return }
            let layout = HelpLayout(HelpContents(model, help), model.size)
            let row = layout.places[help.cursor].row - help.top
            guard (0..<HelpLayout.height(model.size)).contains(row) else {
                Issue.record("entry \(help.cursor) is in row \(row)")
                return
            }
        }
        model.press(.home)
        #expect(model.help?.top == 0 && model.help?.cursor == 0)
    }
}

@Suite("The start screen")
struct StartTests {
    private var model: Model {
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.start(World.offers))
        return model
    }

    private func screen(_ model: Model) -> String { draw(model, model.size).text }

    @Test("it narrows as one types, and Tab completes what answers")
    func narrows() {
        var model = model
        model.type("redis")
        #expect(model.start.matches.map(\.line) == ["127.0.0.1:6379"])
        #expect(screen(model).contains(">  3  127.0.0.1:6379   redis-server[812]") && !screen(model).contains("imap"))
        model.press(.tab)
        #expect(model.start.editor.text == "127.0.0.1:6379")
        #expect(model.press(.enter) == [.connect(OpenRequest(.tcp(host: "127.0.0.1", port: 6379)))])
        model.press(.control("u"))
        model.type("redis")
        #expect(model.press(.enter) == [.connect(OpenRequest(.tcp(host: "127.0.0.1", port: 6379)))])
        model.press(.control("u"))
        model.type("nowhere")
        #expect(screen(model).contains("no matches below") && model.press(.enter).isEmpty)
        #expect(model.start.error?.contains("the port is missing") == true)
    }

    @Test("an address that is whole is opened as it stands, whatever is listed")
    func typed() {
        var model = model
        model.type("imap.example:99")
        #expect(model.start.target == nil)
        #expect(model.press(.enter) == [.connect(OpenRequest(.tcp(host: "imap.example", port: 99)))])
    }

    @Test("Down goes through all that is listed, and scrolls it")
    func scrolls() {
        var model = model
        var offers = World.offers
        offers.listening += (1...40).map { .init(address: "127.0.0.1:\(9000 + $0)", program: "") }
        _ = model.update(.start(offers))
        #expect(screen(model).contains("more (Down)") && screen(model).contains("demo"))
        for index in 0..<40 {
            model.press(.down)
            let title = model.start.matches[index].title
            #expect(
                screen(model).split(separator: "\n").contains { $0.hasPrefix(">") && $0.contains(title) }, "\(title)")
        }
        model.press(.home, .down, .pageDown)
        #expect(model.start.target == 11)
        for _ in 0..<60 { model.press(.up) }
        #expect(model.start.choice == nil && model.start.editor.text == "listen 127.0.0.1:8080")
    }

    @Test("an error is shown whole")
    func error() {
        var model = model
        let sentence =
            "25702: process 25702 is not inspectable; run it with SOCKETKIT_INSPECT=1, or let it call serve()"
        _ = model.update(.refused(sentence))
        let words = screen(model).split { $0 == " " || $0 == "\n" }.map(String.init)
        #expect(sentence.split(separator: " ").allSatisfy { words.contains(String($0)) })
    }

    @Test("? is the help on an empty line, and a character on any other")
    func question() {
        var model = model
        #expect(screen(model).contains("? help") && screen(model).contains("attach PID"))
        model.press("?")
        #expect(model.help?.context == .start)
        model.press(.escape)
        model.type("ws://host/path")
        #expect(!screen(model).contains("? help"))
        model.press("?")
        #expect(model.help == nil && model.start.editor.text == "ws://host/path?")
    }

    @Test("a listener that other hosts reach is said to be, and no other")
    func reach() {
        for (host, isReachable) in [("0.0.0.0", true), ("::", true), ("127.0.0.1", false), ("::1", false)] {
            var model = model
            var socket = World.make(1, .listener, .listening, target: ":8080")
            socket.local = host.contains(":") ? .v6(host: host, port: 8080) : .v4(host: host, port: 8080)
            _ = model.update(.opened(SocketID(1), OpenRequest(.tcp(host: "", port: 8080))))
            _ = model.update(.snapshot(World.snapshot([socket])))
            #expect((model.notice?.text.contains("reachable from other hosts") ?? false) == isReachable, "\(host)")
        }
    }
}
