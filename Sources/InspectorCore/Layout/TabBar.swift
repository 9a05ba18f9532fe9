/// The tabs in the second row of the screen.
enum TabBar {
    /// Each tab with what stands in it: the key that goes there, and its name.
    static func tabs(_ keys: KeyTable) -> [(tab: Model.Tab, text: String)] {
        [
            (.list, "{list} List"), (.talk, "{talk} Talk"), (.detail, "{detail} Detail"), (.events, "{events} Events"),
        ].map { ($0, keys.naming($1)) }
    }

    /// The tab whose name stands in this column.
    static func tab(at column: Int, _ keys: KeyTable) -> Model.Tab? {
        var end = 0
        for (tab, text) in tabs(keys) {
            end += text.count + 2
            if column < end { return tab }
        }
        return nil
    }
}
