/// The tabs in the second row of the screen.
enum TabBar {
    /// Each tab with what it shows: the key that goes there, and its name. While a line is typed those are other keys, for
    /// which a narrow screen has no room.
    static func tabs(_ model: Model) -> [(tab: Model.Tab, text: String)] {
        let isShort = model.paneContext == .composer && model.size.width < 76
        let tabs: [(Model.Tab, text: String)] = [
            (.list, "{list} List"), (.talk, "{talk} Traffic"), (.detail, "{detail} Detail"),
            (.events, "{events} Events"),
        ]
        return tabs.map { tab, text in
            (tab, isShort ? String(text.drop { $0 != " " }.dropFirst()) : model.naming(text))
        }
    }

    /// The tab whose name stands in this column.
    static func tab(at column: Int, _ model: Model) -> Model.Tab? {
        var end = 0
        for (tab, text) in tabs(model) {
            end += text.count + 2
            if column < end { return tab }
        }
        return nil
    }
}
