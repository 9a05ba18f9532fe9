import InspectorCore
import SocketCore

extension Action {
    /// Opening sockets and selecting them.
    static let sockets: [Action] = [
        Action(
            "open", .change { $0.openSelected() },
            .key(
                [.enter], in: [.list], "open the connection; go to the match", hint: "open",
                if: { $0.showsFound ? $0.list.found?.current != nil : $0.selected != nil }),
            .key([.enter], in: [.detail], "open the connection").leading),
        Action(
            "jump", .change { $0.isRewound ? $0.goToEventInstant() : $0.jumpToEvent() },
            .key(
                [.enter], in: [.events], "open the connection of this event; rewound: go to its time",
                hint: { $0.isRewound ? "go to it" : "open" })),
        Action(
            "write", .change { $0.startComposing() },
            .key(["w", "i"], in: [.traffic], "write a line", hint: "write", if: \.acceptsText),
            .key(["w"], in: [.list], "write a line"),
            .key(["w"], in: [.detail], "write a line").leading),
        Action(
            "expand", .effects { $0.expand() },
            .key(
                [.enter], in: [.traffic], "expand or fold the item at the cursor", hint: "expand", if: \.hasTraffic)),
        Action(
            "connect", .change { $0.ask { $0.openConnectForm($1, in: $2) } },
            takes: .arguments(
                "ADDRESS [timeout 10s] [no-read] [half-open] [TLS]", "connect to an address",
                words: ["timeout", "no-read", "half-open"] + TLSChoices.words,
                offers: { $0.start.offers.recent.map(\.text) + $0.start.offers.listening.map(\.address) },
                Instruction.connect
            ) { _, request in [.connect(request)] },
            .key(["c"], in: [.list, .events], "connect to an address", hint: "connect"),
            .key(["c"], in: [.traffic, .detail], "connect to an address, or reconnect")),
        Action(
            "listen", .change { $0.ask { dialogs, _, shared in dialogs.openListenForm(in: shared) } },
            takes: .arguments(
                "ADDRESS [no-read] [half-open] [TLS]", "listen on an address",
                words: ["no-read", "half-open"] + TLSChoices.words, Instruction.listen
            ) { _, request in [.listen(request)] },
            .key(["l"], in: [.list], "listen on an address", hint: "listen"),
            .key(["l"], in: [.traffic, .detail, .events], "listen on an address")),
        Action(
            "relay",
            takes: .arguments(
                "LISTEN TARGET [timeout 10s] [TLS]", "listen, and forward to a target",
                words: ["timeout"] + TLSChoices.words,
                Instruction.relay
            ) { _, request in [.relay(request)] }),
        Action(
            "other-leg", .change { $0.goToOtherLeg() },
            .key(
                ["L"], in: KeyContext.connections,
                "go to the relay's other leg, or the peer's socket on this host",
                hint: { $0.selected?.linked != nil ? "other leg" : $0.selected?.host?.peer != nil ? "other end" : nil })
        ),
    ]

    /// Operations on the selected connection.
    static let operations: [Action] = [
        Action(
            "read", needs: .commands, .change { $0.ask { $0.openReadForm($1, in: $2) } },
            takes: .arguments(
                "\(ReadRequest.Kind.usage) [timeout 5s] [tag 7] [standing]", "queue a read",
                words: ReadRequest.Kind.vocabulary + ["timeout", "tag", "standing"], Instruction.read
            ) { $0.read($1.request, hasTag: $1.hasTag) },
            .key(
                ["r"], in: KeyContext.connections, "queue a read", hint: "read",
                if: { $0.selected.map { $0.acceptsReads && $0.ownWebSocket == nil } ?? false })),
        Action(
            "close", needs: .commands, .change { $0.openClose() },
            takes: .arguments(
                Instruction.closings.map(\.word).joined(separator: "|"), "close; a WebSocket: CODE [REASON]",
                words: Instruction.closings.map(\.word) + ["1000"], Instruction.closing
            ) { $0.close($1) },
            .key(
                ["x"], in: KeyContext.connections, "close, now or later", hint: "close",
                if: { $0.selected?.isLive ?? false })),
        Action(
            "answer", needs: .commands, .change { $0.ask { $0.openAnswer($1, in: $2) } },
            takes: .arguments(
                "extend 30s|fail|close", "answer what timed out", words: ["extend", "fail", "close"],
                Instruction.verdict
            ) { $0.answer($1) },
            .key(
                ["A"], in: [.list, .traffic], "answer a timeout, a certificate or a held connection", hint: "answer",
                if: \.awaitsAnswer),
            .key(
                ["A"], in: [.events], "answer the timeout, certificate or connection of this event",
                .change {
                    $0.jumpToEvent()
                    $0.ask { $0.openAnswer($1, in: $2) }
                }),
            .key(
                ["A"], in: [.detail], "answer a timeout, a certificate or a held connection", hint: "answer",
                if: \.awaitsAnswer
            ).leading,
            .key([.alt("a")], in: [.composer], "answer what timed out")),
        Action(
            "operations", needs: .commands,
            .change { $0.ask { dialogs, subject, _ in dialogs.openOperations(subject) } },
            .key(["d"], in: KeyContext.connections, "cancel an operation, or change its timeout")),
        Action(
            "replies", needs: .sending, .change { $0.ask { $0.openReplies($1, in: $2) } },
            .key(["R"], in: KeyContext.connections, "auto-reply: when /re/ send X")),
        Action(
            "watermarks", needs: .commands,
            .change { $0.ask { dialogs, subject, _ in dialogs.openWatermarks(subject) } },
            .key(["b"], in: KeyContext.connections, "watermarks of the write queue")),
    ]

    /// Operations on a WebSocket.
    static let webSockets: [Action] = [
        Action(
            "ping",
            takes: .arguments("[TEXT]", "ping the peer of a WebSocket", Instruction.control) {
                $0.ask(.ping($1))
            }),
        Action(
            "pong",
            takes: .arguments("[TEXT]", "send an unsolicited pong", Instruction.control) { $0.ask(.pong($1)) }),
        Action(
            "fragments",
            takes: .arguments("A|B|C", "send a WebSocket message in frames", Instruction.fragments) { $0.ask($1) }),
        Action(
            "control",
            takes: .word("show or hide pings, pongs and Closes", [("on", true), ("off", false)]) {
                $0.traffic.hidesControlFrames = !$1
            }),
    ]
}
