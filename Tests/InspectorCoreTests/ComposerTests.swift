import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// The line that is typed: where it goes, what its keys do, and what the screen says of both.
@Suite("The composer")
struct ComposerTests {
    private let size = Size(80, 24)

    private func text(_ model: Model) -> String { draw(model, size).text }

    private func lastRow(_ model: Model) -> Substring {
        text(model).split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
    }

    // MARK: Connections of others

    /// A relayed pair, #2 from the client and #3 to the server, with the cursor on one of them.
    private func relayed(on row: UInt64, linked: Bool = true) -> Model {
        var model = Model(options: .init(ascii: true, version: "0.1"))
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(World.snapshot(RelayWorld.sockets)))
        _ = model.update(.command("select \(row)"))
        return model
    }

    @Test("Opening a relayed row shows its traffic, by whatever way", arguments: [2, 3] as [UInt64])
    func opening(row: UInt64) {
        var model = relayed(on: row)
        model.press(.enter)
        #expect(model.tab == .traffic && model.context == .traffic)
        model.press(.tab, .backTab, .backTab)
        #expect(model.context == .list)
        let list = model.layout(model.size, .list).list
        let place = model.list.row(of: SocketID(row), in: model.shared) ?? 0
        _ = model.update(.mouse(MouseEvent(.press, x: 5, y: list.y + 1 + place)))
        #expect(model.context == .traffic && model.list.selected == SocketID(row))
        _ = model.update(.paste("PING\n"))
        #expect(model.context == .menu, "a paste is asked about")
        model.press(.character("n"))
        let composer = model.layout.trafficLayout.composer
        _ = model.update(.mouse(MouseEvent(.press, x: 5, y: composer.y + 2)))
        #expect(model.context == .traffic && !text(model).contains("INJECT"))
    }

    @Test("w says INJECT and for whom; Alt-d changes the direction", arguments: [2, 3] as [UInt64])
    func injecting(row: UInt64) throws {
        var model = relayed(on: row)
        model.press(.character("w"))
        #expect(model.context == .composer && text(model).contains(" INJECT ") && !text(model).contains("  WRITE  "))
        #expect(text(model).contains("into #3 for the server db.example:6379 (Alt-d)"))
        #expect(lastRow(model).contains("Enter inject") && !lastRow(model).contains("half-close"))
        model.type("PING")
        let write = WriteRequest(Array("PING\r\n".utf8), tag: 1)
        #expect(model.press(.enter) == [.send(SocketCommand(SocketID(3), .write(write)))])
        #expect(text(model).contains("injected 6 bytes into #3, for the server"))
        model.press(.alt("d"))
        #expect(text(model).contains("into #2 for the client 192.0.2.77"))
        model.type("PONG")
        let reply = WriteRequest(Array("PONG\r\n".utf8), tag: 2)
        #expect(model.press(.enter) == [.send(SocketCommand(SocketID(2), .write(reply)))])
        #expect(model.press(.control("d")).isEmpty, "FIN would end the connection of others")
        model.press(.escape)
        #expect(model.context == .traffic && !text(model).contains("INJECT"))
    }

    @Test("Into a relayed WebSocket a line goes as a message, until a Close went that way", arguments: [false, true])
    func injectingMessages(isClosing: Bool) {
        var sockets = RelayWorld.sockets
        for index in sockets.indices where [2, 3].contains(sockets[index].id.number) {
            var picture = WebSocketPicture(role: index == 1 ? .server : .client, stage: .open, target: "/")
            picture.observation = WebSocketObservation()
            picture.traffic = WebSocketSnapshot(role: .client)
            if isClosing { picture.traffic?.closeSent = WebSocketCloseFrame(code: .normal, reason: "") }
            sockets[index].webSocket = picture
        }
        var model = relayed(on: 2)
        _ = model.update(.snapshot(World.snapshot(sockets)))
        model.press(.character("w"))
        guard !isClosing else {
            #expect(text(model).contains("a Close was sent: no message can follow it"))
            return
        }
        model.type("hi")
        let message = WebSocketCommand.message(.text("hi"))
        #expect(model.press(.enter) == [.send(.webSocket(SocketID(3), message))])
        model.press(.alt("d"))
        model.type("ho")
        #expect(model.press(.enter) == [.send(.webSocket(SocketID(2), .message(.text("ho"))))])
        #expect(model.update(.command("send x\\n")) == [.send(.webSocket(SocketID(2), .message(.text("x\n"))))])
    }

    @Test("A leg that is gone takes nothing, and the line says so")
    func gone() {
        var model = relayed(on: 2)
        model.press(.character("w"))
        model.type("PING")
        var sockets = RelayWorld.sockets
        for index in sockets.indices where sockets[index].id == SocketID(3) {
            sockets[index].phase = .closed
            sockets[index].closed = CloseRecord(
                time: World.now, error: SocketError(.closedByPeer, operation: "read", detail: "peer closed"))
        }
        _ = model.update(.snapshot(World.snapshot(sockets, time: World.at(14, 2, 20))))
        #expect(model.context == .composer && text(model).contains(" CLOSED ") && text(model).contains(">PING"))
        #expect(model.press(.enter).isEmpty && model.composer.editor.text == "PING")
    }

    @Test("What was injected is marked in traffic and events, and is no answer to a script")
    func marked() {
        var model = relayed(on: 3)
        model.press(.enter)
        var snapshot = World.snapshot(RelayWorld.sockets, time: World.at(14, 2, 20))
        var items = Conversation.traffic.items.prefix(1)
        items[0].isInjected = true
        snapshot.traffic = TrafficSnapshot(items: Array(items))
        snapshot.trafficOf = SocketID(3)
        snapshot.events = [
            SocketEvent(sequence: 0, time: World.at(14, 2, 5), socket: SocketID(3), kind: .injected, tag: 1, first: 16)
        ]
        snapshot.nextEvent = 1
        _ = model.update(.snapshot(snapshot))
        #expect(text(model).contains("> t1   INJECTED write 18 B, done"))
        #expect(text(model).contains("injected 16 B"))
        #expect(!draw(model.withoutOwnInput, size).text.contains("GET / HTTP"))
        model.press(.character("4"))
        #expect(text(model).contains("injected") && text(model).contains("16 B"))
        _ = model.update(.command("select 2"))
        model.press(.character("2"))
        #expect(text(model).contains("injected 16 B into #3"), "the pair's other leg says it too")
    }

    // MARK: Connections that end

    /// A connect that is refused while its user types.
    private func refused(typing first: String, then rest: String) -> Model {
        var model = Model(options: .init(ascii: true, version: "0.1"))
        _ = model.update(.resized(size))
        _ = model.update(.opened(Conversation.id, Conversation.request))
        model.type(first)
        var socket = World.make(1, .client, .closed, target: "localhost:8000")
        socket.closed = CloseRecord(
            time: World.at(14, 2, 2),
            error: SocketError(.system(errno: 111), operation: "connect", detail: "Connection refused"))
        // Long after the last key.
        for second in [2.0, 4, 8, 16] {
            _ = model.update(.snapshot(World.snapshot([socket], time: World.at(14, 2, second))))
        }
        model.type(rest)
        return model
    }

    @Test(
        "What is typed for a connection that failed is kept, no letter of it is a command", arguments: [true, false])
    func failed(hasBegun: Bool) {
        var model = refused(typing: hasBegun ? "GE" : "", then: hasBegun ? "T v" : "GET v")
        #expect(model.context == .composer && model.composer.editor.text == "GET v")
        #expect(model.shared.frozen == nil && model.traffic.viewMode == .auto)
        #expect(text(model).contains(" CLOSED ") && text(model).contains(">GET v"))
        #expect(text(model).contains("Connection refused") && text(model).contains("Esc c connects again"))
        #expect(!lastRow(model).contains("send"))
        #expect(model.press(.enter).isEmpty && model.composer.editor.text == "GET v")
        model.press(.escape)
        #expect(model.context == .traffic && text(model).contains("c connects again, with the typed text: GET v"))
        model.press(.character(" "))
        #expect(model.shared.frozen != nil, "letters are commands again")
    }

    @Test("A connection to the same address takes the line over")
    func again() {
        var model = refused(typing: "GET", then: " v")
        model.press(.escape, .character("c"))
        #expect(model.context == .form)
        model.press(.escape)
        _ = model.update(.opened(SocketID(2), Conversation.request))
        #expect(model.context == .composer && model.composer.editor.text == "GET v")
    }

    @Test("A rule typed on a closed connection is refused in its dialog, and no letter of it is a command")
    func rule() {
        var model = refused(typing: "", then: "")
        model.press(.escape, .character("R"))
        #expect(text(model).contains("auto-reply needs a listener or an open connection"))
        model.type("^e v q/")
        #expect(model.context == .form && model.shared.frozen == nil && model.field.open == nil)
    }

    @Test("A listener has no line to type into")
    func listener() {
        var model = Model(options: .init(ascii: true, version: "0.1"))
        _ = model.update(.opened(SocketID(3), OpenRequest(.tcp(host: "", port: 8080))))
        _ = model.update(.snapshot(World.snapshot([World.listener])))
        #expect(model.context == .traffic)
    }

    // MARK: What is said of keys

    @Test("The title says whether letters are text or commands, in ASCII and in Unicode", arguments: [true, false])
    func mode(ascii: Bool) {
        var model = Conversation.model(ascii: ascii, size: size)
        let typing = draw(model, size)
        #expect(typing.text.contains("  WRITE  ") && typing.cursor != nil)
        model.press(.escape)
        let commands = draw(model, size)
        #expect(!commands.text.contains("  WRITE  ") && commands.text.contains(" keys ") && commands.cursor == nil)
        #expect(commands.text.contains("w writes here"))
    }

    @Test("While a line is typed no hint names a letter, and each hint works where it stands")
    func hints() {
        var model = Conversation.model(ascii: true, size: size)
        #expect(text(model).contains("(Esc r to add)") && text(model).contains("text (Alt-v)"))
        #expect(text(model).contains("following (Esc F)") && text(model).contains("Alt-1 List"))
        #expect(text(model).contains("ends with CRLF (Alt-e)"))
        model.press(.escape)
        #expect(text(model).contains("(r to add)") && text(model).contains("text (v)"))
        #expect(text(model).contains(" 1 List") && !text(model).contains("Alt-"))
        let wide = Size(140, 40)
        _ = model.update(.resized(wide))
        model.press(.character("1"))
        #expect(draw(model, wide).text.contains("text (2 v)"), "v does nothing in the list")
        #expect(draw(model, wide).text.contains("following (2 F)"), "F follows in the list, not in the traffic")
    }

    @Test("Every key that a hint names does that where the hint stands")
    func ways() {
        let keys = KeyTable.standard
        #expect(keys.naming("{read}", in: .composer) == "Esc r" && keys.naming("{read}", in: .list) == "r")
        #expect(keys.naming("{mark}", in: .composer) == "Alt-1 m" && keys.naming("{mark}", in: .detail) == "1 m")
        #expect(keys.naming("{expand}", in: .events) == "2 Enter" && keys.naming("{answer}", in: .events) == "A")
        #expect(keys.naming("{follow}", in: .list, of: .traffic) == "2 F")
        #expect(keys.naming("{follow}", in: .composer, of: .traffic) == "Esc F")
        #expect(keys.naming("{up} {down}", in: .menu) == "Up Down" && keys.naming("{up}", in: .help) == "k")
        #expect(keys.naming("{pace}", in: .traffic) == "Alt-r" && keys.naming("{pace}", in: .composer) == "Alt-r")
    }

    @Test("^D is offered only while it would send FIN, and the history once it has a line")
    func offers() {
        var model = Conversation.model(ascii: true, size: size)
        #expect(lastRow(model).contains("half-close") && !lastRow(model).contains("history"))
        model.type("a")
        #expect(!lastRow(model).contains("half-close"))
        model.press(.enter)
        #expect(lastRow(model).contains("Up history"))
    }

    @Test("A line break looks unlike the two characters of an escape", arguments: [true, false])
    func lineBreak(ascii: Bool) {
        var model = Conversation.model(ascii: ascii, size: size)
        _ = model.update(.paste("*1\n$4"))
        #expect(text(model).contains(ascii ? ">*1^J$4" : ">*1\u{21B5}$4"))
        model.press(.control("u"))
        model.type("*1\\n$4")
        #expect(text(model).contains(">*1\\n$4"))
    }

    @Test("A paste whose line ends are all doubled is kept as it is, and its cause is named")
    func doubled() {
        var model = Conversation.model(ascii: true, size: size)
        _ = model.update(.paste("GET / HTTP/1.0\n\n"))
        #expect(model.notice == nil, "one blank line is usual")
        model.press(.control("u"))
        _ = model.update(.paste("a\n\nb\n\nc"))
        #expect(model.composer.editor.text == "a\n\nb\n\nc" && model.notice?.text.contains("paste-buffer -pr") == true)
    }

    // MARK: History and paths

    private func talked(_ lines: String...) -> Model {
        var model = Conversation.model(ascii: true, size: size)
        for line in lines {
            model.type(line)
            model.press(.enter)
        }
        return model
    }

    @Test("Up goes to lines that begin with what is typed")
    func prefix() {
        var model = talked("GET a", "PING", "GET b")
        model.type("GE")
        model.press(.up)
        #expect(model.composer.editor.text == "GET b")
        model.press(.up)
        #expect(model.composer.editor.text == "GET a")
        model.press(.up)
        #expect(model.composer.editor.text == "GET a", "there is no other")
        model.press(.down, .down)
        #expect(model.composer.editor.text == "GE")
        model.press(.control("u"), .up, .up)
        #expect(model.composer.editor.text == "PING", "with nothing typed all lines count")
        model.press(.control("u"))
        model.type("x")
        model.press(.up)
        #expect(model.composer.editor.text == "GET b", "and where no line begins so")
    }

    @Test("^R searches as one types, again goes on; Enter takes the line unsent, Esc brings back the draft")
    func search() {
        var model = talked("GET /a", "PING", "GET /b")
        model.type("draft")
        model.press(.control("r"))
        model.type("ET")
        #expect(model.composer.editor.text == "GET /b" && text(model).contains("earlier line with \"ET\""))
        model.press(.control("r"))
        #expect(model.composer.editor.text == "GET /a")
        model.type("x")
        #expect(text(model).contains("not found") && model.composer.editor.text == "GET /a")
        model.press(.backspace, .control("r"))
        #expect(model.press(.enter).isEmpty && model.composer.editor.text == "GET /a" && model.composer.search == nil)
        model.press(.control("r"))
        model.type("PI")
        #expect(model.composer.editor.text == "PING")
        model.press(.escape)
        #expect(model.context == .composer && model.composer.editor.text == "GET /a")
        model.press(.control("r"))
        model.type("PI")
        model.press(.end)
        model.type("!")
        #expect(model.composer.editor.text == "PING!", "another key goes on with the line")
    }

    @Test("In file mode Tab completes the path, then lists what it can become; elsewhere it goes to the next pane")
    func paths() {
        var model = Conversation.model(ascii: true, size: size)
        model.press(.alt("t"), .alt("t"), .alt("t"))
        model.type("/tmp/b")
        #expect(model.press(.tab) == [.completePath("/tmp/b")])
        let both = PathMatches(typed: "/tmp/b", paths: ["/tmp/big.bin", "/tmp/big/"])
        #expect(model.update(.paths(both)) == [.examine("/tmp/big")])
        #expect(model.composer.editor.text == "/tmp/big")
        _ = model.update(.paths(PathMatches(typed: "/tmp/big", paths: both.paths)))
        #expect(text(model).contains("big.bin  big"))
        model.type(".")
        _ = model.update(.paths(PathMatches(typed: "/tmp/big", paths: both.paths)))
        #expect(model.composer.editor.text == "/tmp/big.", "an answer that comes late changes nothing")
        _ = model.update(.paths(PathMatches(typed: "/tmp/big.", paths: [])))
        #expect(model.notice?.text == "no path begins with /tmp/big.")
        model.press(.alt("t"), .tab)
        #expect(model.tab == .detail)
    }

    // MARK: The mouse

    @Test("The first drag says how to select text, once")
    func drag() {
        var model = World.model()
        func drag() {
            _ = model.update(.mouse(MouseEvent(.press, x: 5, y: 5)))
            _ = model.update(.mouse(MouseEvent(.release, x: 15, y: 7)))
        }
        _ = model.update(.mouse(MouseEvent(.press, x: 5, y: 5)))
        _ = model.update(.mouse(MouseEvent(.release, x: 5, y: 5)))
        #expect(model.notice == nil, "a click is no drag")
        drag()
        #expect(model.notice?.text.contains(":mouse off") == true)
        model.press(.character("j"))
        drag()
        #expect(model.notice == nil)
    }

    @Test("A click on another row leaves the line that was typed with its own connection")
    func click() {
        var model = World.model(size: Size(140, 40))
        model.press(.character("w"))
        model.type("abc")
        let list = model.layout.list
        let other = model.list.rows.firstIndex { $0 != model.list.selected } ?? 0
        _ = model.update(.mouse(MouseEvent(.press, x: 5, y: list.y + 1 + other)))
        #expect(model.context == .traffic && model.composer.editor.isEmpty)
    }
}
