import InspectorCore
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
                == "chatd[7] gives the right to watch only; with SOCKETKIT_INSPECT=control it would do that")
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
        #expect(model.notice?.text.hasPrefix("chatd[7] gives the right to watch only") == true)
        _ = model.update(.programs(ProgramNews(programs: [info(.control)])))
        #expect(model.update(.command("close now")) == [.send(.close(Self.id, .now))])
    }
}
