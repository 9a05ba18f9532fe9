import InspectorCore
import SocketCore

/// Dialogs about the list: its columns, and the marked rows.
extension DialogsState {
    /// Asks which optional columns to show.
    mutating func openColumns(_ list: ListPane, selected: Int = 0) {
        // Without the keys that move the cursor or close the menu. Further columns are reached with the cursor.
        let keys = Array("abcdefghilmnoprstuvwxyz")
        let items = list.kind.optional.enumerated().map { index, column in
            Menu.Item(
                key: index < keys.count ? keys[index] : nil,
                label: "[\(list.columns.contains(column.name) ? "x" : " ")] "
                    + Format.padded(column.title, to: 8) + column.meaning, choice: .column(column.name))
        }
        var menu = Menu(title: "columns (as many as fit are shown)", items: items)
        menu.selected = selected
        open = .menu(menu)
    }

    /// Asks what to do with the marked connections.
    mutating func openMarked(_ count: Int) {
        func item(_ key: Character, _ label: String, _ act: MarkedAct) -> Menu.Item {
            Menu.Item(key: key, label: label, choice: .marked(act))
        }
        open = .menu(
            Menu(
                title: "\(Format.count(count, "marked connection")): what to do?",
                items: [
                    item("c", "close them; asks how", .askHow), item("p", "pause reading", .pause(true)),
                    item("r", "resume reading", .pause(false)), item("f", "list only these", .list),
                    item("s", "save the received and sent bytes; asks where", .save),
                    item("u", "remove the marks", .unmark),
                ]))
    }

    /// Asks how to close the marked connections.
    mutating func openMarkedClose(_ live: Int) -> Model.Notice? {
        guard live > 0 else { return .hint("the marked connections are already closed") }
        open = .menu(
            Menu(
                title: "close \(Format.count(live, "marked connection"))?",
                items: [CloseMode.now, .afterWriting, .reset].map { mode in
                    Menu.Item(key: mode.words.key, label: mode.words.label, choice: .marked(.close(mode)))
                }))
        return nil
    }

    /// Asks where to save the traffic of the marked connections.
    mutating func openSaveMarked(_ sockets: [SocketID]) {
        open = .form(
            Form(.saveMarked(sockets), [.text(.path, "Folder", "socktui-saved", hint: "created if missing")]))
    }
}
