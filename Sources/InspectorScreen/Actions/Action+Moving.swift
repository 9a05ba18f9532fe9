extension Action {
    private static let rows = KeyContext.views + [.menu, .help]
    private static let pages = KeyContext.views + [.help, .composer, .start]

    /// Moving the cursor.
    static let moving: [Action] = [
        Action("up", .change { $0.move(.rows(-1)) }, .key(["k", .up, .control("p")], in: rows, "up one row")),
        Action("down", .change { $0.move(.rows(1)) }, .key(["j", .down, .control("n")], in: rows, "down one row")),
        Action(
            "first", .change { $0.move(.toFirst) },
            .key(["g", .home], in: KeyContext.views + [.help], "to the first row")),
        Action(
            "last", .change { $0.move(.toLast) },
            .key(["G", .end], in: KeyContext.views + [.help], "to the last row, and follow")),
        Action("page-up", .change { $0.move(.pages(-1)) }, .key([.pageUp], in: pages, "up one page")),
        Action("page-down", .change { $0.move(.pages(1)) }, .key([.pageDown], in: pages, "down one page")),
        Action(
            "half-page-up", .change { $0.move(.halfPages(-1)) },
            .key([.control("u")], in: KeyContext.views, "up half a page")),
        Action(
            "half-page-down", .change { $0.move(.halfPages(1)) },
            .key([.control("d")], in: KeyContext.views, "down half a page")),
    ]

    /// Switching to another screen, pane or connection.
    static let screens: [Action] = [
        Action(
            "list", .change { $0.show(.list) }, .key(["1"], in: KeyContext.views, "the list"),
            .key([.alt("1")], in: [.composer], "the list")),
        Action(
            "talk", .change { $0.showTraffic(composing: false) },
            .key(["2"], in: KeyContext.views, "the traffic, and the line to send"),
            .key([.alt("2")], in: [.composer], "the traffic")),
        Action(
            "detail", .change { $0.show(.detail) },
            .key(["3"], in: KeyContext.views, "the detail: queues, flags, kernel"),
            .key([.alt("3")], in: [.composer], "the detail")),
        Action(
            "events", .change { $0.show(.events) }, .key(["4"], in: KeyContext.views, "the events"),
            .key([.alt("4")], in: [.composer], "the events")),
        Action(
            "output", .change { $0.showOutput() },
            .key(["5"], in: KeyContext.views, "output of the program that socktui run started"),
            .key([.alt("5")], in: [.composer], "the output of the running program")),
        Action(
            "type", .change { $0.startTyping() },
            .key(
                ["i", .enter], in: [.output], "type into the program's terminal; ^] leaves it", hint: "type",
                if: \.canTypeToChild)),
        Action(
            "next-pane", .change { $0.stepPane(1) }, .key([.tab], in: KeyContext.views, "next pane"),
            .key(
                [.tab], in: [.composer], "next pane; the draft is kept; in file mode: complete the path",
                .effects { $0.completePathOrStep() })),
        Action(
            "previous-pane", .change { $0.stepPane(-1) },
            .key([.backTab], in: KeyContext.views + [.composer], "previous pane")),
        Action(
            "previous", .change { $0.stepConnection(-1) },
            .key(["["], in: [.traffic, .detail], "the previous connection in the list")),
        Action(
            "next", .change { $0.stepConnection(1) },
            .key(["]"], in: [.traffic, .detail], "the next connection in the list")),
    ]
}
