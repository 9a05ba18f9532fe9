import InspectorCore

extension Action {
    /// Actions that concern the whole program.
    static let program: [Action] = [
        Action(
            "help", .change { $0.help = HelpState(context: $0.context) },
            takes: .arguments("WORD", "show help entries with this word", { $0.text }) { model, word in
                model.help = HelpState(context: model.context, filter: word)
                return []
            },
            .key(["?", .function(1)], in: KeyContext.views, "help"),
            .key([.function(1)], in: [.composer, .field, .form, .menu], "help"),
            .key([.function(1), "?"], in: [.start], "help; ? on an empty line", .pressed { $0.helpOrType($1) })),
        Action(
            "command-line", .change { $0.field.begin(.command) },
            .key([":"], in: KeyContext.views, "type a command; Tab completes it", hint: "command"),
            .key([.alt("x")], in: [.start, .composer], "type a command; Tab completes it")),
        Action(
            "back", .change { $0.goBack() },
            .key(["q", .escape], in: [.traffic, .detail, .events, .output], "back to the list"),
            .key([.escape], in: [.list], "clear the results of :find, or the filter", .effects { $0.goBackInList() })),
        Action(
            "quit", .effects { $0.quit() }, .key(["q"], in: [.list], "quit; asks if sockets are live"),
            .key(["Q"], in: KeyContext.views, "quit; asks if sockets are live")),
        Action(
            "interrupt", .effects { $0.quit() },
            .key([KeyTable.fixed], in: KeyContext.allCases, "quit; asks if sockets are live")),
        Action(
            "repaint", .effects { _ in [.screen(.repaint)] },
            .key([.control("l")], in: KeyContext.allCases, "redraw the screen")),
        Action(
            "suspend", .effects { _ in [.screen(.suspend)] },
            .key([.control("z")], in: KeyContext.allCases, "suspend the program")),
        Action(
            "record",
            takes: .arguments(
                "FILE|off", "record this run as pcapng, or stop",
                offers: { $0.shared.recording == nil ? [] : ["off"] }, Instruction.recording
            ) { _, path in [path.map { .record($0) } ?? .stopRecording] }),
        Action(
            "signal",
            takes: .arguments(
                "NAME", "send a signal to the program that socktui run started",
                words: SignalWords.sent.map(\.name), Instruction.signal
            ) { $0.signalChild($1) }),
        Action(
            "mouse",
            takes: .arguments("on|off", "turn the mouse on or off", words: ["on", "off"], Instruction.isOn) {
                [.screen(.mouse($1))]
            }),
    ]
}
