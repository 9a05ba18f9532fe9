import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("Bytes that passed")
struct PayloadTests {
    private let size = Size(80, 24)
    /// On the traffic of the conversation, not in its composer.
    private var model: Model {
        var model = Conversation.model(ascii: true, size: size)
        model.press(.escape)
        return model
    }

    @Test(
        "What is looked for",
        arguments: [
            ("OK", [15, 20]), ("\"OK\"", [15]), ("hex:4f4b", [15]), ("\"OK", [15]), ("ttp", [1]),
            ("hex:0d0a0d0a", [24]),
            ("zzz", []),
        ] as [(String, [Int])])
    func search(_ text: String, _ expected: [Int]) throws {
        let bytes = Array("HTTP/1.0 200   OK ok\r\n\r\n".utf8)
        let places = try PayloadSearch.parse(text).get().matches(in: bytes)
        let known: [String: [Int]] = ["OK": [15, 18], "hex:0d0a0d0a": [20]]
        #expect(places == known[text] ?? expected)
    }

    @Test("What cannot be looked for is refused while it is typed", arguments: ["hex:0g", "hex:", "\"\"", "hex:123"])
    func badSearch(_ text: String) {
        var model = model
        model.press(.character("/"))
        model.type(text)
        #expect(model.field.open?.error != nil)
        model.press(.enter)
        #expect(model.field.open != nil, "it stays open")
    }

    @Test("Matches do not overlap, and a pattern longer than the bytes matches nowhere")
    func overlap() throws {
        let search = try PayloadSearch.parse("aa").get()
        #expect(search.matches(in: Array("aaaaa".utf8)) == [0, 2])
        #expect(search.matches(in: [0x61]).isEmpty && search.matches(in: []).isEmpty)
    }

    @Test(
        "n and N go through the places and around the end, with the cursor in the row of each",
        arguments: ViewMode.allCases.filter { $0 != .dissected })
    func places(_ mode: ViewMode) throws {
        var model = model
        for _ in ViewMode.allCases where model.traffic.viewMode != mode { model.press(.character("v")) }
        model.press(.character("/"))
        model.type("http/1.0")
        model.press(.enter)
        #expect(model.notice?.text == "match 1 of 2 for http/1.0")
        func row() -> String {
            let document = TrafficDocument(model, width: size.width)
            let place = model.traffic.scrolls[Conversation.id]?.cursor.map(document.place) ?? document.end
            return document.page(from: place, rows: 1).first?.line.text ?? ""
        }
        #expect(row().contains("GET / HTTP/1.0") || mode == .hexText)
        model.press(.character("n"))
        #expect(model.notice?.text.hasPrefix("match 2 of 2") == true)
        #expect(row().contains("HTTP/1.0 200") || mode == .hexText)
        model.press(.character("n"))
        #expect(model.notice?.text.hasPrefix("match 1 of 2") == true)
        model.press(.character("N"))
        #expect(model.notice?.text.hasPrefix("match 2 of 2") == true)
        #expect(model.traffic.scrolls[Conversation.id]?.isFollowing == false)
    }

    @Test(
        "A place in the folded part of an item unfolds it and is in sight",
        arguments: ViewMode.allCases.filter { $0 != .dissected })
    func folded(_ mode: ViewMode) {
        var model = model
        var snapshot = Conversation.snapshot()
        let text = (1...500).map { "line \($0) of it\n" }.joined()
        snapshot.traffic?.items = [
            TrafficItem(
                sequence: 0, operation: OperationID(1), time: World.now, direction: .received, tag: 0,
                kind: .read(.available(limit: nil)), done: text.utf8.count, total: nil, state: .complete(after: .zero),
                bytes: Array(text.utf8))
        ]
        _ = model.update(.snapshot(snapshot))
        for _ in ViewMode.allCases where model.traffic.viewMode != mode { model.press(.character("v")) }
        model.press(.character("/"))
        model.type("line 250 of")
        model.press(.enter)
        let picture = draw(model, size).text
        #expect(
            mode == .hexText ? picture.contains("250 of") || picture.contains("25") : picture.contains("line 250 of it")
        )
    }

    @Test("Nothing that matches is said, and so is nothing searched")
    func nothing() {
        var model = model
        model.press(.character("n"))
        #expect(model.notice?.text == "no search: / starts one")
        model.press(.character("/"))
        model.type("nowhere")
        model.press(.enter)
        #expect(model.notice?.text == "not found: nowhere; :find nowhere searches all connections")
    }

    @Test("The item at the cursor is copied and edited, its bytes unaltered")
    func copy() {
        var model = model
        let last = Conversation.traffic.items[2].bytes
        #expect(model.press(.character("y")) == [.screen(.copy(last))])
        #expect(model.press(.character("e")) == [.screen(.edit(.item(Conversation.id), last))])
        model.press(.character("g"), .character("j"), .character("j"))
        #expect(model.press(.character("y")) == [.screen(.copy(Array("GET / HTTP/1.0\r\n\r\n".utf8)))])
    }

    @Test("One item, or one direction, is saved; what was not kept is counted")
    func save() {
        var model = model
        var snapshot = Conversation.snapshot()
        snapshot.traffic?.items[2].done += 50
        snapshot.traffic?.dropped = 3
        _ = model.update(.snapshot(snapshot))
        let items = Conversation.traffic.items
        model.press(.character("o"))
        #expect(draw(model, size).text.contains("socktui-1-received-2.bin"))
        #expect(
            model.press(.enter)
                == [.save("socktui-1-received-2.bin", items[2].bytes, missing: 50, droppedItems: 0)])
        model.press(.character("o"), .control("u"))
        #expect(model.press(.enter).isEmpty)
        #expect(draw(model, size).text.contains("a path is missing"))
        model.type("all")
        model.press(.tab, .right)
        #expect(
            model.press(.enter) == [.save("all", items[1].bytes + items[2].bytes, missing: 50, droppedItems: 3)])
        _ = model.update(.told("saved 5 bytes to all"))
        #expect(draw(model, size).text.contains("saved 5 bytes to all"))
    }

    @Test("Every item says how long after the one before it came, and a reply how long after the request")
    func gaps() {
        let text = draw(model, size).text
        #expect(text.contains("reply after 2.1ms") && text.contains("+2.2ms"))
    }

    @Test("What was edited goes to the composer as escapes, and no macro comes of it")
    func edited() throws {
        var model = model
        let bytes = Array("\u{0}${seq}\r\n\\".utf8)
        _ = model.update(.edited(.item(Conversation.id), bytes, wasChanged: false))
        #expect(model.composer.editor.isEmpty)
        _ = model.update(.edited(.item(Conversation.id), bytes, wasChanged: true))
        #expect(model.isComposing && model.composer.mode == .escapes)
        #expect(model.press(.enter) == [.send(.write(Conversation.id, WriteRequest(bytes, tag: 1)))])
    }

    @Test("^X^E opens the line in the editor, and another key after ^X is itself")
    func chord() {
        var model = Conversation.model(ascii: true, size: size)
        model.type("abc")
        #expect(
            model.press(.control("x"), .control("e")) == [.screen(.edit(.line(Conversation.id), Array("abc".utf8)))])
        _ = model.update(.edited(.line(Conversation.id), Array("two\nlines\n".utf8), wasChanged: true))
        #expect(model.composer.editor.text == "two\nlines")
        model.press(.control("x"), .character("!"))
        #expect(model.composer.editor.text == "two\nlines!")
    }
}

@Suite("Lines that were sent")
struct SentLineTests {
    private let line = SentLine(text: "0d 0a", mode: .hex, ending: .lf)

    private func model() -> Model {
        var options = Model.Options(ascii: true, version: "0")
        options.keepsHistory = true
        return Model(options: options)
    }

    @Test("What was sent to the same address in another run is recalled, and read as it was then")
    func recalled() {
        var model = model()
        _ = model.update(.sentLines(["localhost:8000": [SentLine(text: "text", mode: .text, ending: .none), line]]))
        _ = model.update(.opened(Conversation.id, Conversation.request))
        _ = model.update(.snapshot(Conversation.snapshot()))
        model.press(.up)
        #expect(model.composer.mode == .hex && model.composer.editor.text == "0d 0a")
        let sent = Effect.send(.write(Conversation.id, WriteRequest([13, 10], tag: 1)))
        #expect(model.press(.enter) == [sent, .remember("localhost:8000", line)])
        model.press(.up, .up)
        #expect(model.composer.mode == .text)
    }

    @Test("A file that was sent last does not make the next run begin with files, but can be recalled as one")
    func file() {
        var model = model()
        let file = SentLine(text: "/tmp/a", mode: .file, ending: .lf)
        _ = model.update(.sentLines(["localhost:8000": [file]]))
        _ = model.update(.opened(Conversation.id, Conversation.request))
        _ = model.update(.snapshot(Conversation.snapshot()))
        #expect(model.composer.mode == .text)
        model.press(.up)
        #expect(model.composer.mode == .file && model.composer.editor.text == "/tmp/a")
    }

    @Test("What was sent to those who connect is kept under the listener's address")
    func accepted() {
        var model = model()
        var socket = World.lineReader
        socket.target = ":8080"
        _ = model.update(.sentLines(["listen :8080": [line]]))
        _ = model.update(.snapshot(World.snapshot([socket])))
        model.press(.enter, .up)
        #expect(model.composer.editor.text == "0d 0a")
    }

    @Test("Switched off, nothing is told to be kept")
    func off() {
        var model = Conversation.model(ascii: true, size: Size(80, 24))
        model.type("secret")
        #expect(model.press(.enter).count == 1)
    }
}

@Suite("Replying by itself")
struct ReplyRuleTests {
    private let size = Size(80, 24)

    @Test("Rules are added and dropped, and shown while they hold")
    func rules() throws {
        var model = World.model()
        model.press(.character("R"))
        #expect(model.press(.enter).isEmpty)
        #expect(draw(model, size).text.contains("a regular expression is missing"))
        model.type("(a)\\1")
        model.press(.tab)
        model.type("x")
        #expect(model.press(.enter).isEmpty)
        #expect(draw(model, size).text.contains("\\1: back-references are not supported"))
        model.press(.control("u"))
        model.type("^PING")
        model.press(.tab)
        model.press(.control("u"))
        model.press(.backTab)
        model.press(.tab)
        model.type("+P${oops}")
        #expect(model.press(.enter).isEmpty)
        #expect(draw(model, size).text.contains("column 3: no such macro"))
        model.press(.control("u"))
        model.type("+PONG\\r\\n")
        let rule = try ReplyRule(pattern: "^PING", text: "+PONG\\r\\n", reply: [.bytes(Array("+PONG\r\n".utf8))])
        #expect(model.press(.enter) == [.setReplies(SocketID(7), [rule])])
        #expect(model.shared.replies.isEmpty, "the shell has not said yes")
        _ = model.update(.replies(SocketID(7), [rule]))
        model.press(.character("2"))
        #expect(draw(model, size).text.contains("auto-reply: when /^PING/ send +PONG\\r\\n"))
        model.press(.character("R"), .character("a"))
        model.type("x")
        model.press(.tab)
        model.type("${file:/x}")
        #expect(model.press(.enter).isEmpty)
        #expect(draw(model, size).text.contains("a rule cannot send files"))
        model.press(.escape, .character("R"))
        #expect(model.press(.character("1")) == [.setReplies(SocketID(7), [])])
    }

    @Test("A listener's rules hold for those that it takes")
    func listener() throws {
        var model = World.model()
        let rule = try ReplyRule(pattern: "x", text: "y", reply: [.bytes([0x79])])
        _ = model.update(.replies(SocketID(3), [rule]))
        #expect(model.replies(for: World.lineReader) == [rule])
        #expect(model.replies(for: World.busy).isEmpty)
        _ = model.update(.command("select 3"))
        model.press(.character("2"))
        #expect(draw(model, size).text.contains("REPLY  when /x/ send y"))
    }
}
