import SocketCore

/// Marks, search, following, and the choice of columns.
extension Model {
    /// Marks the selected session, or takes its mark away.
    mutating func toggleMark() {
        guard let selected = list.selected else { return }
        if list.marked.remove(selected) == nil { list.marked.insert(selected) }
        if list.marked.isEmpty { list.showsMarked = false }
        refresh()
    }

    /// Lists marked sessions only, or all again.
    mutating func toggleMarkedOnly() {
        guard list.showsMarked || !list.marked.isEmpty else {
            notice = hint(naming("nothing is marked: {mark} marks"))
            return
        }
        list.showsMarked.toggle()
        list.keyPressed = nil
        refresh()
        notice = hint(
            naming(list.showsMarked ? "marked ones only; {show-marked} lists all" : "all are listed again"))
    }

    /// Follows what is new in the list, or stops doing so; elsewhere what comes in there.
    mutating func followInList() {
        list.follows.toggle()
        refresh()
        notice = hint(list.follows ? "the cursor goes to each new connection" : "the cursor stays")
    }

    /// Puts the cursor on the newest connection, where that is wanted and nothing else is being done.
    mutating func followNewest() {
        guard list.follows, tab == .list, dialog == nil, field == nil else { return }
        guard let newest = list.rows.max(), newest != list.selected else { return }
        select(newest)
    }

    /// Whether a session is one that is searched.
    package func isSearched(_ socket: SocketSnapshot) -> Bool {
        let wanted = list.search.lowercased()
        return !wanted.isEmpty && FilterTerm.words(socket).contains { $0.lowercased().contains(wanted) }
    }

    /// What `/` searches where the cursor is.
    var searchPurpose: OpenField.Purpose { tab == .list ? .listSearch : tab == .talk ? .talkSearch : .eventSearch }

    /// What is filtered where the cursor is.
    var filterPurpose: OpenField.Purpose {
        help != nil ? .helpFilter : tab == .events ? .eventFilter : .listFilter
    }

    /// Goes to the next match, or to the one before.
    mutating func searchAgain(_ step: Int) {
        switch searchPurpose {
        case .listSearch: searchList(step)
        case .talkSearch: searchTraffic(step)
        case .eventSearch, .listFilter, .eventFilter, .helpFilter, .command: searchEvents(step)
        }
    }

    /// Goes to the next row that holds what is searched, and around the end.
    mutating func searchList(_ step: Int) {
        guard !list.search.isEmpty, !list.rows.isEmpty else {
            notice = hint(naming("nothing is searched: {search} begins"))
            return
        }
        let count = list.rows.count
        let begin = list.selected.flatMap { list.rows.firstIndex(of: $0) } ?? 0
        for offset in 1...count {
            let id = list.rows[((begin + offset * step) % count + count) % count]
            guard let socket = shown?.socket(id), isSearched(socket) else { continue }
            list.follows = false
            return select(id)
        }
        notice = error("not found: \(list.search)")
    }

    // MARK: Columns

    /// The columns that are in sight and can be sorted by, from left to right.
    private var sortable: [String] {
        let layout = layout(size, .list)
        let columns = ListColumns(width: layout.list.width, idWidth: summary.idWidth, chosen: list.columns)
        var names = ["id"]
        if columns.state != nil { names.append("state") }
        names += ["peer", "reading"]
        if columns.writing != nil { names.append("writing") }
        if columns.receiveRate != nil { names.append("rx") }
        if columns.sendRate != nil { names.append("tx") }
        return names + columns.optional.map(\.column.name) + ["warnings"]
    }

    /// Sorts by the column so many places to the right.
    mutating func sortByColumn(_ step: Int) {
        let names = sortable
        let index = names.firstIndex(of: list.sorting.name) ?? -1
        sort(Sorting(names[((index + step) % names.count + names.count) % names.count]))
    }

    /// Asks which optional columns are wanted.
    mutating func openColumnsMenu(selected: Int = 0) {
        // Without those that move the cursor or close the menu. A column beyond them is reached by the cursor.
        let keys = Array("abcdefghilmnoprstuvwxyz")
        let items = ListColumn.optional.enumerated().map { index, column in
            Menu.Item(
                key: index < keys.count ? keys[index] : nil,
                label: "[\(list.columns.contains(column.name) ? "x" : " ")] "
                    + Format.padded(column.title, to: 8) + column.meaning, choice: .column(column.name))
        }
        var menu = Menu(title: "columns, as far as there is room", items: items)
        menu.selected = selected
        dialog = .menu(menu)
    }

    /// Shows a column or leaves it out; the menu stays.
    mutating func toggleColumn(_ name: String) {
        if list.columns.remove(name) == nil { list.columns.insert(name) }
        openColumnsMenu(selected: ListColumn.optional.firstIndex { $0.name == name } ?? 0)
    }
}
