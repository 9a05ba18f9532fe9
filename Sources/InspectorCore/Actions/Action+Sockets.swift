import SocketCore

extension Action {
    /// Opening sockets and going to them.
    static let sockets: [Action] = [
        Action(
            "open", .change { $0.openSelected() },
            .key([.enter], in: [.list], "talk with the connection", hint: "talk", if: { $0.selected != nil }),
            .key([.enter], in: [.detail], "talk with the connection").leading),
        Action(
            "jump", .change { $0.jumpToEvent() },
            .key([.enter], in: [.events], "talk with the connection of this event", hint: "jump")),
        Action(
            "write", .change { $0.startComposing() },
            .key(["w", "i"], in: [.talk], "write: to the composer", hint: "write", if: \.acceptsText),
            .key(["w"], in: [.list], "write: to the composer"),
            .key(["w"], in: [.detail], "write: to the composer").leading),
        Action(
            "expand", .change { $0.toggleExpanded() },
            .key([.enter], in: [.talk], "expand or fold the item at the cursor", hint: "expand")),
        Action(
            "connect", .change { $0.openConnectForm() },
            .key(["c"], in: [.list, .events], "connect to an address", hint: "connect"),
            .key(["c"], in: [.talk, .detail], "connect to an address, or again")),
        Action(
            "listen", .change { $0.openListenForm() }, .key(["l"], in: [.list], "listen on an address", hint: "listen"),
            .key(["l"], in: [.talk, .detail, .events], "listen on an address")),
    ]

    /// What is done to the selected connection.
    static let operations: [Action] = [
        Action(
            "read", .change { $0.openReadForm() },
            .key(
                ["r"], in: KeyContext.connections, "queue a read", hint: "read",
                if: { $0.selected.map { $0.acceptsReads && $0.ownWebSocket == nil } ?? false })),
        Action(
            "close", .change { $0.openCloseMenu() },
            .key(
                ["x"], in: KeyContext.connections, "close, at once or later", hint: "close",
                if: { $0.selected?.isLive ?? false })),
        Action(
            "answer", .change { $0.openAnswer() },
            .key(["A"], in: [.list, .talk], "answer a timeout, or who waits", hint: "answer", if: \.awaitsAnswer),
            .key(["A"], in: [.detail], "answer a timeout, or who waits", hint: "answer", if: \.awaitsAnswer).leading,
            .key([.alt("a")], in: [.composer], "answer what timed out")),
        Action(
            "operations", .change { $0.openOperations() },
            .key(["d"], in: KeyContext.connections, "cancel an operation, change its timeout")),
        Action(
            "replies", .change { $0.openReplies() },
            .key(["R"], in: KeyContext.connections, "auto-reply: when /re/ send X")),
        Action(
            "watermarks", .change { $0.openWatermarks() },
            .key(["b"], in: KeyContext.connections, "bounds of the write queue: watermarks")),
    ]
}

extension Model {
    /// Whether something can be written to the selected connection.
    fileprivate var acceptsText: Bool { selected.map { TalkWords.whyNoWriting($0) == nil } ?? false }

    /// Whether the selected connection, or a connection that waits at the selected listener, needs an answer.
    fileprivate var awaitsAnswer: Bool {
        guard let selected else { return false }
        let isAwaited = selected.role == .listener && (selected.kernel?.receiveQueue ?? 0) > 0
        return selected.asking != nil || selected.tls?.question != nil || isAwaited
    }
}
