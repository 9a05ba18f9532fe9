import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("Talking with a connection")
struct TrafficTests {
    private let size = Size(80, 24)
    private var model: Model { Conversation.model(ascii: true, size: size) }

    @Test("What was opened is shown with the cursor in its composer, and Enter sends")
    func sends() {
        var model = model
        #expect(model.tab == .traffic && model.isComposing)
        model.type("quit?")
        #expect(model.press(.enter) == [.send(.write(Conversation.id, WriteRequest(Array("quit?\r\n".utf8), tag: 1)))])
        #expect(model.press(.enter) == [.send(.write(Conversation.id, WriteRequest([13, 10], tag: 2)))])
        model.press(.alt("e"))
        #expect(model.press(.enter) == [.send(.write(Conversation.id, WriteRequest([10], tag: 3)))])
        model.press(.alt("e"))
        #expect(model.press(.enter).isEmpty)
        model.press(.up)
        #expect(model.press(.enter) == [.send(.write(Conversation.id, WriteRequest(Array("quit?".utf8), tag: 4)))])
    }

    @Test("A bad escape blocks sending and names its column")
    func badEscape() {
        var model = model
        model.press(.alt("t"))
        model.type("GET \\x0")
        #expect(model.press(.enter).isEmpty)
        #expect(model.notice?.text.contains("column 5") == true)
        #expect(draw(model, size).text.contains("column 5"))
        model.type("1")
        #expect(
            model.press(.enter)
                == [.send(.write(Conversation.id, WriteRequest(Array("GET ".utf8) + [1, 13, 10], tag: 1)))])
    }

    @Test("The draft is kept when the cursor leaves")
    func draft() {
        var model = model
        model.type("half a li")
        model.press(.escape, .character("1"), .enter)
        #expect(model.composer.editor.text == "half a li")
        model.type("ne")
        #expect(
            model.press(.enter) == [.send(.write(Conversation.id, WriteRequest(Array("half a line\r\n".utf8), tag: 1)))]
        )
    }

    @Test("^D ends our stream on an empty line, and deletes on any other")
    func halfClose() {
        var model = model
        model.type("ab")
        #expect(model.press(.home, .control("d")).isEmpty)
        #expect(model.composer.editor.text == "b")
        model.press(.delete)
        #expect(model.press(.control("d")) == [.send(.halfClose(Conversation.id))])
    }

    @Test("Letters in the composer are text, whatever they mean elsewhere")
    func letters() {
        var model = model
        #expect(model.type("qQxr?12 jk").isEmpty)
        #expect(model.composer.editor.text == "qQxr?12 jk")
        #expect(model.dialogs.open == nil && model.tab == .traffic)
        model.press(.alt("3"))
        #expect(model.tab == .detail)
    }

    @Test("A paste goes into the composer with its line ends made ours")
    func paste() {
        var model = model
        _ = model.update(.paste("GET /\r\nHost: x\r"))
        #expect(
            model.press(.enter)
                == [.send(.write(Conversation.id, WriteRequest(Array("GET /\r\nHost: x\r\n\r\n".utf8), tag: 1)))])
        model.press(.escape, .character("1"))
        #expect(model.update(.paste("qx")).isEmpty)
        #expect(model.context == .menu && model.selected != nil, "elsewhere it is asked what becomes of it")
    }

    @Test("After the peer closed the traffic stays, says why, and takes no more text")
    func closed() {
        var model = Conversation.closed(ascii: true, size: size)
        #expect(model.tab == .traffic)
        #expect(draw(model, size).text.contains("closed: peer closed its side (FIN)"))
        #expect(model.press(.enter).isEmpty)
        #expect(model.type("qc").isEmpty)
        #expect(model.tab == .traffic && model.dialogs.open == nil)
        model.press(.escape, .character("c"))
        #expect(model.press(.enter) == [.connect(OpenRequest(.tcp(host: "localhost", port: 8000)))])
    }

    @Test("Connecting to the same address again keeps the lines sent before")
    func again() {
        var model = model
        model.type("hello")
        model.press(.alt("e"), .enter)
        _ = model.update(.opened(SocketID(2), Conversation.request))
        #expect(model.composer.ending == .lf)
        model.press(.up)
        #expect(model.press(.enter) == [.send(.write(SocketID(2), WriteRequest(Array("hello\n".utf8), tag: 1)))])
    }

    @Test("When a connect fails, the line stays until Esc; then the same address is offered again")
    func refused() {
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.opened(Conversation.id, Conversation.request))
        var socket = World.make(1, .client, .closed, target: "localhost:8000")
        socket.connect = ConnectSnapshot(
            addressCount: 1,
            attempts: [
                .init(
                    address: .v6(host: "::1", port: 8000), outcome: .failed(errno: 111), duration: .milliseconds(1))
            ])
        socket.closed = CloseRecord(
            time: World.now,
            error: SocketError(.system(errno: 111), operation: "connect", detail: "refused by [::1]:8000"))
        var snapshot = World.snapshot([socket])
        snapshot.events = [
            SocketEvent(sequence: 0, time: World.now, socket: socket.id, kind: .connectRefused, first: 0, second: 111)
        ]
        snapshot.nextEvent = 1
        _ = model.update(.snapshot(snapshot))
        #expect(model.isComposing && model.tab == .traffic)
        model.press(.escape)
        let text = draw(model, size).text
        #expect(text.contains("connect: [::1]:8000: refused") && text.contains("closed: refused by [::1]:8000"))
        model.press(.character("c"))
        #expect(model.press(.enter) == [.connect(Conversation.request)])
    }

    @Test("A listener waits, and its first connection is shown when nobody went elsewhere")
    func listener() {
        var model = Model(options: .init(ascii: true, version: "0"))
        let listen = OpenRequest(.tcp(host: "", port: 8080))
        _ = model.update(.opened(SocketID(3), listen))
        var alone = World.listener
        alone.accepted = 0
        _ = model.update(.snapshot(World.snapshot([alone])))
        #expect(model.tab == .traffic && !model.isComposing)
        #expect(draw(model, size).text.contains("waiting for connections on [::]:8080"))
        var elsewhere = model
        elsewhere.press(.character("4"))
        for step in [0, 1] {
            _ =
                step == 0
                ? model.update(.snapshot(World.snapshot([World.listener, World.lineReader])))
                : elsewhere.update(.snapshot(World.snapshot([World.listener, World.lineReader])))
        }
        #expect(model.list.selected == SocketID(8) && model.tab == .traffic && !model.isComposing)
        model.press(.character("j"), .character("j"))
        #expect(!model.isComposing && model.composer.editor.isEmpty)
        model.press(.character("w"))
        #expect(model.isComposing)
        #expect(elsewhere.tab == .events && elsewhere.list.selected == SocketID(3))
    }

    @Test("Going to a listener that has connections does not jump away from it")
    func oldListener() {
        var model = World.model()
        _ = model.update(.command("select 3"))
        model.press(.enter)
        _ = model.update(.snapshot(World.full))
        #expect(model.list.selected == SocketID(3) && model.tab == .traffic)
    }

    @Test("Scrolling up leaves following; new bytes do not move the page; the end takes it up again")
    func scrolling() {
        var model = World.model()
        model.press(.character("2"), .up, .up, .up)
        #expect(model.traffic.scrolls[SocketID(7)]?.isFollowing == false)
        let before = draw(model, size).text.split(separator: "\n", omittingEmptySubsequences: false)[6..<18]
        var more = World.full
        more.traffic?.items.append(
            TrafficItem(
                sequence: 9, operation: OperationID(200), time: World.at(14, 2, 13), direction: .sent, tag: 12,
                kind: .write, done: 3, total: 3, state: .complete(after: .zero), bytes: [65, 66, 67]))
        _ = model.update(.snapshot(more))
        let after = draw(model, size).text.split(separator: "\n", omittingEmptySubsequences: false)[6..<18]
        #expect(before == after)
        model.press(.character("G"))
        #expect(model.traffic.scrolls[SocketID(7)]?.isFollowing == true)
        #expect(draw(model, size).text.contains("  ABC"))
        model.press(.character("F"), .character("F"))
        #expect(model.traffic.scrolls[SocketID(7)]?.isFollowing == true)
    }

    @Test("A long item is folded, and Enter unfolds it")
    func folding() {
        var model = World.model()
        model.press(.character("2"))
        for _ in ViewMode.allCases where model.traffic.viewMode != .hexText { model.press(.character("v")) }
        #expect(draw(model, size).text.contains("992 more bytes"))
        model.press(.enter, .character("g"))
        let text = draw(model, size).text
        #expect(!text.contains("992 more bytes") && text.contains("  0020  "))
        model.press(.character("j"), .character("j"), .character("j"), .character("j"), .enter)
        #expect(draw(model, size).text.contains("992 more bytes"))
    }

    @Test("A long text is folded in its middle, so that its end is seen")
    func foldedText() {
        var model = model
        var long = Conversation.snapshot()
        let text = (1...500).map { "line \($0)\n" }.joined()
        long.traffic?.items = [
            TrafficItem(
                sequence: 0, operation: OperationID(1), time: World.now, direction: .received, tag: 0,
                kind: .read(.available(limit: nil)), done: text.utf8.count, total: nil, state: .complete(after: .zero),
                bytes: Array(text.utf8))
        ]
        _ = model.update(.snapshot(long))
        #expect(draw(model, size).text.contains("line 500"))
        let all = TrafficDocument(model, width: 80).page(from: .init(block: 0, line: 0), rows: 1000).map(\.line.text)
        let fold = all.firstIndex { $0.contains("more bytes") } ?? 0
        #expect(all[fold - 1] == "  line 20")
        let hidden = all[fold].split(separator: " ").compactMap { Int($0) }.first
        let tail = all[(fold + 1)...].first.flatMap { Int($0.dropFirst(7)) } ?? 0
        let lengths = (21..<tail).map { number in "line \(number)\n".utf8.count }
        #expect(hidden == lengths.reduce(0, +))
        model.press(.escape, .enter)
        #expect(TrafficDocument(model, width: 80).page(from: .init(block: 0, line: 0), rows: 1000).count > 500)
    }

    @Test("Every line of the traffic can be reached from either end")
    func walk() {
        var model = World.model()
        model.press(.character("2"), .character("g"))
        let document = TrafficDocument(model, width: 80)
        let all = document.page(from: .init(block: 0, line: 0), rows: 10_000)
        #expect(all.count > 15)
        for (index, entry) in all.enumerated() {
            #expect(document.moved(.init(block: 0, line: 0), by: index) == entry.place)
            #expect(document.moved(document.end, by: index + 1 - all.count) == entry.place)
        }
    }

    @Test("What a vanished connection left behind is forgotten")
    func forgotten() {
        var model = model
        model.type("draft")
        _ = model.update(.snapshot(World.snapshot([World.busy])))
        #expect(model.composers.isEmpty && model.traffic.scrolls.isEmpty)
        #expect(model.shared.histories.count <= 1)
        #expect(model.list.selected == Conversation.id)
        #expect(draw(model, size).text.contains("#1 is no longer listed"))
        #expect(model.press(.enter).isEmpty)
        #expect(model.type("x").isEmpty && model.composers[SocketID(7)] == nil)
    }
}
