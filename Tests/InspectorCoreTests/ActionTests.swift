import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("Keys that the user has bound")
struct ActionTests {
    private func keys(_ text: String) throws -> Model.Options {
        var options = Model.Options(ascii: true, version: "0.1")
        options.keys = try Configuration.parse(text).get().keys
        return options
    }

    /// A model with connections, in the list.
    private func model(_ text: String) throws -> Model {
        var model = Model(options: try keys(text))
        _ = model.update(.resized(Size(80, 24)))
        _ = model.update(.snapshot(World.full))
        model.press("1")
        return model
    }

    private func lastRow(_ model: Model) -> Substring {
        draw(model, Size(80, 24)).text.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
    }

    @Test("A hint shows the key that the user has bound, in place of the default key")
    func hints() throws {
        let model = try model("[keys.list]\nc = \"\"\nX = \"connect\"\nl = \"freeze\"")
        #expect(lastRow(model).contains("  X connect  "))
        #expect(!lastRow(model).contains(" listen"))
        #expect(HelpView.lines(model, HelpState(context: .list)).contains { $0.text.hasPrefix("l Space ") })
    }

    @Test("Actions of a line do not depend on their default keys")
    func composer() throws {
        var model = try model(
            """
            [keys.composer]
            Enter = "insert-line"
            "^S" = "send"
            "^R" = "history-up"
            Up = ""
            F5 = "word-left"
            "^W" = ""
            """)
        model.press("w")
        model.type("a")
        model.press(.enter)
        model.type("b")
        #expect(model.composer.editor.text == "a\nb")
        #expect(lastRow(model).contains("^S send"))
        model.press(.control("s"))
        #expect(model.composer.editor.isEmpty && lastRow(model).contains("^R history"))
        model.press(.up)
        #expect(model.composer.editor.isEmpty)
        model.press(.control("r"))
        #expect(model.composer.editor.text == "a\nb")
        model.press(.function(5), .control("w"))
        model.type("x")
        #expect(model.composer.editor.text == "a\nxb")
    }

    @Test("Keys of dialogs, menus and fields can be bound, and what they show names them")
    func dialogs() throws {
        var model = try model(
            """
            [keys.form]
            "^T" = "toggle"
            F2 = "accept"
            Enter = ""
            [keys.menu]
            F2 = "accept"
            Enter = ""
            z = "down"
            n = "down"
            [keys.field]
            F2 = "accept"
            """)
        model.press("r")
        #expect(draw(model, Size(80, 24)).text.contains("F2 queue it"))
        model.press(.control("t"), .enter)
        model.type("64")
        #expect(draw(model, Size(80, 24)).text.contains("(*) length") && model.context == .form)
        model.press(.tab, .control("t"))
        model.type("64")
        let read = SocketCommand.read(SocketID(7), ReadRequest(.length(64), tag: 1))
        #expect(model.update(.key(.function(2))) == [.send(read)])
        model.press("x", "z", .enter)
        #expect(model.context == .menu && draw(model, Size(80, 24)).text.contains("and F2; Esc cancel"))
        #expect(model.update(.key(.function(2))) == [.send(.close(SocketID(7), .afterWriting))])
        model.press("x")
        #expect(model.update(.key("n")) == [.send(.close(SocketID(7), .now))], "the letter that the menu shows")
        model.press(":")
        model.type("detail")
        model.press(.function(2))
        #expect(model.tab == .detail && model.field.open == nil)
    }

    @Test("No key has two meanings in one context", arguments: KeyContext.allCases)
    func once(_ context: KeyContext) {
        var meaning: [Key: String] = [:]
        for action in Action.all {
            for use in action.uses where use.contexts.contains(context) {
                for key in use.keys {
                    #expect(meaning[key] == nil, "\(key.label): \(meaning[key] ?? ""), \(action.name)")
                    meaning[key] = action.name
                }
            }
        }
        #expect(!meaning.isEmpty)
    }

    @Test("No letter of a menu is a key of the menus")
    func letters() {
        var model = World.model()
        for open: [Key] in [["x"], ["C"], ["d"], ["Q"]] {
            for key in open { model.press(key) }
            guard case .menu(let menu)? = model.dialogs.open else {
                Issue.record("\(open) opens no menu")
                continue
            }
            for letter in menu.items.compactMap(\.key) {
                let binding = KeyTable.standard.binding(for: .character(letter), in: .menu)
                #expect(binding == nil, "\(letter) in \(menu.title)")
            }
            model.press(.escape)
        }
    }

    @Test("On a screen that is too small, the keys that quit the list do so")
    func tooSmall() throws {
        var model = try model("[keys.list]\nq = \"\"\nF3 = \"quit\"")
        _ = model.update(.resized(Size(30, 5)))
        model.press("q")
        #expect(model.dialogs.open == nil)
        model.press(.function(3))
        #expect(model.context == .menu)
        #expect(model.update(.key("y")) == [.screen(.quit)])
    }
}
