import SocketCore

/// What is done to all marked connections at once.
package enum MarkedAct: Hashable, Sendable {
    case askHow
    case close(CloseMode)
    case pause(Bool)
    case list
    case save
    case unmark
}

extension Model {
    /// Marks all rows that are listed, or takes their marks away.
    mutating func toggleMarks() {
        list.toggleMarks()
        refresh()
        let count = list.markCount(in: shared)
        notice = hint(
            count == 0
                ? "nothing is marked" : naming("\(count) marked; {close} closes them, {act-on-marked} does more"))
    }

    /// `3 marked connections`
    private var markedWords: String { Format.count(list.markCount(in: shared), "marked connection") }

    /// Asks what shall be done with the marked connections.
    mutating func openMarkedMenu() {
        guard !list.marked.isEmpty else {
            notice = hint(naming("nothing is marked: {mark} marks a row, {mark-all} all that are listed"))
            return
        }
        func item(_ key: Character, _ label: String, _ act: MarkedAct) -> Menu.Item {
            Menu.Item(key: key, label: label, choice: .marked(act))
        }
        dialog = .menu(
            Menu(
                title: "\(markedWords): do what?",
                items: [
                    item("c", "close them; asks how", .askHow), item("p", "pause reading", .pause(true)),
                    item("r", "resume reading", .pause(false)), item("f", "list only these", .list),
                    item("s", "save what was received and sent; asks where", .save),
                    item("u", "remove the marks", .unmark),
                ]))
    }

    /// Asks how to close the selected connection, or in the list the marked ones.
    mutating func openClose() {
        if tab == .list, !list.marked.isEmpty { return openMarkedClose() }
        ask { dialogs, subject, _ in dialogs.openCloseMenu(subject) }
    }

    /// Asks how to close the marked connections.
    mutating func openMarkedClose() {
        let live = list.liveMarkCount(in: shared)
        guard live > 0 else {
            notice = hint("the marked connections are closed already")
            return
        }
        dialog = .menu(
            Menu(
                title: "close \(Format.count(live, "marked connection"))?",
                items: [CloseMode.now, .afterWriting, .reset].map { mode in
                    Menu.Item(key: mode.words.key, label: mode.words.label, choice: .marked(.close(mode)))
                }))
    }

    mutating func act(onMarked act: MarkedAct) -> [Effect] {
        let sockets = list.markedSockets(in: shared)
        switch act {
        case .askHow: openMarkedClose()
        case .close(let mode): return sockets.map { .send(.close($0.id, mode)) }
        case .pause(let pauses):
            return sockets.filter { $0.isReadingPaused != pauses }.map { .send(.pauseReading($0.id, pauses)) }
        case .list: if !list.showsMarked { toggleMarkedOnly() }
        case .save: askWhereToSave()
        case .unmark:
            list.marked = []
            list.showsMarked = false
            refresh()
        }
        return []
    }

    private mutating func askWhereToSave() {
        let all = list.marked.sorted().filter { id in shown?.socket(id).map { $0.role != .listener } ?? false }
        dialog = .form(
            Form(.saveMarked(all), [.text(.path, "Folder", "socktui-saved", hint: "made if it is not there")]))
    }
}
