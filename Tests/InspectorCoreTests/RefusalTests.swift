import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// What a key or a command cannot do, and what the screen says of it.
@Suite("What cannot be done is said")
struct RefusalTests {
    private let size = Size(80, 24)

    private func text(_ model: Model) -> String { draw(model, size).text }

    @Test("a connection that the filter hides is not selected")
    func hidden() {
        var model = World.model()
        let former = model.list.selected
        _ = model.update(.command("filter role:listener"))
        let before = model.list.selected
        _ = model.update(.command("select 9"))
        #expect(model.list.selected == before && before != SocketID(9))
        #expect(model.notice?.text == "#9 is not listed: the filter hides it (Esc)")
        model.press(.escape)
        _ = model.update(.command("select 9"))
        #expect(model.list.selected == SocketID(9) && former != SocketID(9))
    }

    @Test("z says so where the pane has the whole screen already")
    func zoom() {
        var model = Conversation.model(ascii: true, size: size)
        model.press(.escape, .character("z"))
        #expect(!model.isZoomed && !text(model).contains("ZOOM"))
        #expect(text(model).contains("this pane already fills the screen"))
        _ = model.update(.resized(Size(140, 40)))
        model.press(.character("z"))
        #expect(model.isZoomed && draw(model, Size(140, 40)).text.contains("ZOOM"))
        _ = model.update(.resized(size))
        model.press(.character("z"))
        #expect(!model.isZoomed)
    }

    @Test(
        "escapes that end the line are not ended twice",
        arguments: [
            ("PING\\r\\n", "PING\r\n"), ("PING", "PING\r\n"), ("PING\\n", "PING\n\r\n"), ("\\r\\n\\r\\n", "\r\n\r\n"),
        ])
    func ownEnding(typed: String, sent: String) {
        var composer = Composer()
        composer.mode = .escapes
        composer.editor.set(typed)
        guard case .success(let pieces) = composer.message else {
            Issue.record("\(typed) was not read")
            return
        }
        #expect(MessageText.preview(pieces, sequence: 1).bytes == sent.utf8.map { Optional($0) })
    }

    @Test("a program that is seen from outside is not changed")
    func outside() {
        var program = ProgramInfo(ordinal: 1, name: "redis-server", process: 12_675)
        program.isOutside = true
        #expect(program.title == "redis-server[12675]")
        #expect(
            program.refusal(needing: .commands)?.hasSuffix("is seen from outside: its sockets cannot be changed here")
                == true)
    }

    @Test("a connection of a file has no ends and no operations to tell of")
    func captured() {
        var socket = Conversation.socket
        socket.ends = CapturedEnds()
        var model = World.model()
        _ = model.update(.snapshot(World.snapshot([socket])))
        _ = model.update(.command("select 1"))
        model.press(.character("3"))
        let all = draw(model, Size(80, 60)).text
        for words in ["reads done", "prebuffer", "not seen here", "not on this host"] {
            #expect(!all.contains(words), "\(all)")
        }
        #expect(all.contains("totals"))
    }

    @Test(
        "the last row names at most a dozen keys, however wide the screen is",
        arguments: ["1", "2", "3", "4", "?", ":"] as [Character])
    func hints(key: Character) {
        var model = World.model(size: Size(300, 60))
        model.press(.character(key))
        let row = draw(model, Size(300, 60)).text.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
        let keys = row.split(separator: "  ").filter { !$0.allSatisfy { $0 == " " } }
        #expect(keys.count <= Footer.mostKeys, "\(row)")
    }
}
