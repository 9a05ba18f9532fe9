/// The tabs in the second row of the screen.
enum TabBar {
    /// Returns each tab with its text: the key that leads there, and its name. A narrow screen has no room for five
    /// keys, or for those that lead there while a line is typed.
    static func tabs(_ model: Model) -> [(tab: Model.Tab, text: String)] {
        let isShort =
            model.paneContext == .composer && model.size.width < 76
            || model.shared.child != nil && model.size.width < 52
        let tabs: [(Model.Tab, text: String)] = [
            (.list, "{list} List"), (.traffic, "{talk} Traffic"), (.detail, "{detail} Detail"),
            (.events, "{events} Events"),
        ]
        let output: [(Model.Tab, text: String)] = model.shared.child == nil ? [] : [(.output, "{output} Output")]
        return (tabs + output).map { tab, text in
            (tab, isShort ? String(text.drop { $0 != " " }.dropFirst()) : model.naming(text))
        }
    }

    /// Returns the tab at this column.
    static func tab(at column: Int, _ model: Model) -> Model.Tab? {
        var end = 0
        for (tab, text) in tabs(model) {
            end += text.count + 2
            if column < end { return tab }
        }
        return nil
    }
}
