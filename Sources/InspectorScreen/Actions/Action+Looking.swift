import SocketCore

extension Action {
    /// Searching, sorting, marking and saving what is shown.
    static let looking: [Action] =
        finding + sorting + [
            Action(
                "cycle-view", .change { $0.cycleView() },
                .key(
                    ["v"], in: [.traffic], "view: automatic, hex, escapes, text or dissected", hint: "view",
                    if: \.hasTraffic),
                .key(["v"], in: [.detail], "show unread bytes as text, hex or escapes"),
                .key([.alt("v")], in: [.composer], "view: automatic, hex, escapes, text or dissected")),
            Action(
                "programs", .change { $0.togglePrograms() },
                .key(
                    ["p"], in: [.list], "switch between programs and sockets; Enter lists a program's sockets",
                    hint: { model in
                        guard model.shared.showsHost else { return nil }
                        return model.list.programs == nil ? "programs" : "sockets"
                    })),
            Action(
                "hosts", .change { $0.toggleHosts() },
                .key(
                    ["H"], in: [.list], "switch between hosts and sockets; Enter lists a host's sockets",
                    hint: { model in
                        guard !model.shared.hosts.isEmpty else { return nil }
                        return model.list.hosts == nil ? "hosts" : "sockets"
                    })),
            Action(
                "unread", .change { $0.toggleUnread() },
                .key(
                    ["u"], in: KeyContext.connections, "show or hide the bytes that a program has left unread",
                    hint: { model in
                        guard let host = model.selected?.host, host.state != .listening else { return nil }
                        return model.unreadRequest == nil ? "unread bytes" : "unread off"
                    })),
            Action(
                "follow", .change { $0.toggleFollow() },
                .key(["F"], in: [.list], "cursor: stay on its connection or row, or go to each new connection"),
                .key(["F"], in: [.traffic, .events, .output], "follow new traffic", hint: "follow")),
            Action(
                "zoom", .change { $0.toggleZoom() },
                .key(["z"], in: KeyContext.views, "zoom this pane to the whole screen, or back"),
                .key([.alt("z")], in: [.composer], "zoom this pane to the whole screen, or back")),
            Action(
                "freeze", .change { $0.toggleFreeze() },
                .key(
                    [" "], in: KeyContext.views, "freeze the screen, not the sockets",
                    hint: { $0.shared.frozen == nil ? "freeze" : "resume" })),
        ]

    private static let finding: [Action] = [
        Action(
            "filter", .change { $0.openField($0.filterPurpose) },
            takes: .arguments("WORDS", "list only connections that match", Instruction.filter) { model, filter in
                model.tab == .events ? model.setEventFilter(filter) : model.setFilter(filter)
                return []
            },
            .key(
                ["f"], in: [.list, .events], "filter the list", hint: "filter", if: { !$0.showsFound }),
            .key(["/"], in: [.help], "show only matching entries", hint: "filter")),
        Action(
            "search", .change { $0.openField($0.searchPurpose) },
            takes: .arguments("TEXT", "search the events", { $0.whole }) { model, text in
                if model.tab != .events { model.show(.events) }
                model.events.search = text
                model.searchEvents(-1)
                return []
            },
            .key(
                ["/"], in: [.traffic], "search this traffic: text, \"Text\", hex:0d0a", hint: "search", if: \.hasTraffic
            ),
            .key(["/"], in: [.events], "search the events", hint: "search"),
            .key(["/"], in: [.list], "search the rows; :find TEXT searches payloads")),
        Action(
            "find",
            takes: .arguments(
                "TEXT", "search the traffic of all connections: text, \"Text\", hex:0d0a", Instruction.payload
            ) {
                $0.find($1)
            }),
        Action(
            "exchanges", .effects { $0.listExchanges(slowestFirst: false) },
            takes: .arguments(
                "[slowest]", "list the requests of this connection with their answer times", words: ["slowest"],
                Instruction.isSlowest
            ) {
                $0.listExchanges(slowestFirst: $1)
            },
            .key(["E"], in: KeyContext.connections, "its requests with their answer times")),
        Action(
            "calls",
            takes: .arguments(
                "[all]", "run --calls: list the system calls on this connection, or on all sockets", words: ["all"],
                Instruction.isAll
            ) {
                $0.listCalls(ofAll: $1)
            }),
        Action(
            "search-next", .change { $0.searchAgain(1) }, .key(["n"], in: [.list, .traffic, .events], "next match")),
        Action(
            "search-previous", .change { $0.searchAgain(-1) },
            .key(["N"], in: [.list, .traffic, .events], "previous match")),
        Action(
            "copy", .effects { $0.copyItem() },
            .key(
                ["y"], in: [.traffic], "copy the item to the clipboard", hint: "copy", if: \.hasTraffic)
        ),
        Action(
            "save", .effects { $0.openSave() },
            .key(["o"], in: [.traffic], "save bytes to a file, unaltered", hint: "save", if: \.hasTraffic)),
        Action(
            "edit", .effects { $0.editItem() }, .key(["e"], in: [.traffic], "edit the item in $EDITOR, and send it")),
        Action(
            "pause", needs: .commands, .effects { $0.togglePause() },
            .key(
                ["P"], in: KeyContext.connections, "pause reading, or a listener's accepting", hint: "pause",
                if: { $0.selected?.isLive ?? false })),
        Action(
            "tls", needs: .sending, .change { $0.ask { dialogs, subject, _ in dialogs.openTLSForm(subject) } },
            .key(
                ["T"], in: KeyContext.connections, "start TLS on it", hint: "tls",
                if: { model in
                    model.selected.map { $0.phase == .connected && $0.tls == nil && $0.ownWebSocket == nil } ?? false
                })),
    ]

    private static let sorting: [Action] = [
        Action(
            "sort",
            takes: .arguments(
                "COLUMN [reverse]", "sort the list", words: ["reverse"], offers: { $0.list.kind.sortable.map(\.name) },
                Instruction.sorting
            ) { $0.sort(by: $1) }),
        Action(
            "select",
            takes: .arguments(
                "ID", "put the cursor on a connection",
                offers: { $0.shown?.sockets.map { "\($0.id.number)" } ?? [] }, Instruction.socket
            ) { $0.goTo($1) }),
        Action(
            "view",
            takes: .word("choose how traffic is shown", ViewMode.allCases.map { ($0.rawValue, $0) }) {
                $0.traffic.viewMode = $1
                if $1 == .dissected { $0.dissection.beginAgainIfEnded() }
            }),
        Action(
            "decode-as",
            takes: .arguments(
                "LAYER==VALUE,PROTOCOL|off", "set a decode rule of the dissected view: tcp.port==7000,http",
                Instruction.decoding
            ) { model, rule in
                model.decode(as: rule)
                return []
            }),
        Action(
            "sort-next", .change { $0.sortByColumn(1) },
            .key(["s", ">"], in: [.list], "sort by the next column", hint: "sort", if: { !$0.showsFound })),
        Action(
            "sort-previous", .change { $0.sortByColumn(-1) }, .key(["<"], in: [.list], "sort by the previous column")),
        Action("sort-reverse", .change { $0.reverseOrder() }, .key(["S"], in: [.list], "reverse the order")),
        Action(
            "mark", .change { $0.toggleMark() }, .key(["m"], in: [.list], "toggle the mark")),
        Action(
            "mark-all", .change { $0.toggleMarks() },
            .key(["a"], in: [.list], "mark all listed connections, or unmark them")),
        Action(
            "act-on-marked", .change { $0.openMarkedMenu() },
            .key(
                ["X"], in: [.list], "close, pause, list or save the marked connections", hint: "marked",
                if: { !$0.list.marked.isEmpty })),
        Action(
            "legs", .change { $0.toggleLegs() },
            .key(["K"], in: [.list], "show one row per relay leg, or one for both legs")),
        Action(
            "show-marked", .change { $0.toggleMarkedOnly() },
            .key(["M"], in: [.list], "list only marked connections, or all")),
        Action(
            "columns", .change { $0.openColumns() }, .key(["C"], in: [.list], "choose columns")),
    ]
}
