import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("What a source allows")
struct SocketSourceTests {
    private static let id = SocketID(3, of: 1)

    private func info(_ rights: InspectionRights, isOurs: Bool = false) -> ProgramInfo {
        ProgramInfo(ordinal: 1, name: "chatd", process: 7, rights: rights, isOurs: isOurs)
    }

    private static let effects: [Effect] = [
        .send(.close(id, .now)), .startTLS(id, .client()), .setReplies(id, []),
        .transmit(Transmission(id, .file("x"), tag: 0)),
    ]

    @Test("its own sockets can be done everything to, an attached program's what its rights say")
    func refusals() {
        let own = info(.control, isOurs: true)
        #expect(Self.effects.allSatisfy { own.refusal(of: $0) == nil })
        let controlled = info(.control)
        #expect(Self.effects.map { controlled.refusal(of: $0) != nil } == [false, true, true, true])
        let watched = info(.watch)
        #expect(Self.effects.allSatisfy { watched.refusal(of: $0) != nil })
        #expect(
            watched.refusal(of: Self.effects[0])
                == "chatd[7] is read-only; changes need SOCKETKIT_INSPECT=control")
    }

    private func model(_ programs: [ProgramInfo], size: Size = Size(80, 24)) -> Model {
        var model = Model(options: Model.Options(ascii: true, version: "test"))
        _ = model.update(.resized(size))
        _ = model.update(.programs(ProgramNews(programs: programs)))
        var socket = SocketSnapshot(id: Self.id, role: .client, phase: .connected, target: "a:1", opened: .zero)
        socket.received = 18
        var snapshot = EngineSnapshot(engine: "e", time: .zero, wallNanoseconds: 0)
        snapshot.sockets = [socket]
        _ = model.update(.snapshot(snapshot))
        return model
    }

    private func hints(_ model: Model) -> Substring {
        draw(model, model.size).text.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
    }

    @Test("keys that a program refuses are not shown, and say why where they are pressed")
    func keys() {
        var watched = model([info(.watch)])
        #expect(!hints(watched).contains("r read") && !hints(watched).contains("x close"))
        #expect(hints(model([info(.control)])).contains("r read  x close"))
        #expect(!hints(model([info(.control)])).contains("T tls"), "which needs more than commands")
        for key in ["r", "x", "d", "b", "P", "T", "R"] as [Character] {
            watched.press(.character(key))
            #expect(
                watched.dialogs.open == nil && watched.notice?.text.contains("is read-only") == true, "\(key)")
        }
        watched.press(.character("2"))
        let talk = draw(watched, watched.size).text
        #expect(talk.contains("chatd[7] does not show payload; it needs SOCKETKIT_INSPECT=payload"))
        #expect(!talk.contains("w injects") && !talk.contains("to add"))
        watched.press(.character("w"))
        #expect(!watched.isComposing)
        var shown = model([info(.payload)])
        shown.press(.character("2"))
        #expect(!draw(shown, shown.size).text.contains("does not show payload"))
    }

    @Test("a refusal is shown whole where it is longer than a row")
    func wholeRefusal() {
        for size in [Size(40, 10), Size(60, 16), Size(80, 24)] {
            var model = model([info(.watch)], size: size)
            model.press(.character("x"))
            let words = draw(model, size).text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("is read-only; changes need SOCKETKIT_INSPECT=control"), "\(words)")
        }
    }

    @Test("a typed line stays where what it asks for is refused")
    func lineStays() {
        var model = model([info(.control)])
        model.press(.character("w"))
        #expect(model.isComposing)
        model.press(.alt("t"))
        model.type("${time}")
        #expect(
            model.press(.enter) == [] && model.notice?.text == "chatd[7]: only connections opened here can be changed")
        #expect(model.composer.editor.text == "${time}")
        _ = model.update(.programs(ProgramNews(programs: [info(.watch)])))
        #expect(model.press(.enter) == [])
        #expect(model.composer.editor.text == "${time}" && draw(model, model.size).text.contains("is read-only"))
    }

    @Test("a command that the program does not allow is refused with the reason, and goes nowhere")
    func reducer() {
        var model = Model(options: Model.Options(ascii: true, version: "test"))
        _ = model.update(.programs(ProgramNews(programs: [info(.watch)])))
        var snapshot = EngineSnapshot(engine: "e", time: .zero, wallNanoseconds: 0)
        snapshot.sockets = [
            SocketSnapshot(id: Self.id, role: .client, phase: .connected, target: "a:1", opened: .zero)
        ]
        _ = model.update(.snapshot(snapshot))
        #expect(model.update(.command("close now")) == [])
        #expect(model.notice?.text.hasPrefix("chatd[7] is read-only") == true)
        _ = model.update(.programs(ProgramNews(programs: [info(.control)])))
        #expect(model.update(.command("close now")) == [.send(.close(Self.id, .now))])
    }
}
