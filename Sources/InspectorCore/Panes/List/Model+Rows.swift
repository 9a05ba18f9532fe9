import SocketCore

/// Marks, search, following, and the choice of columns.
extension Model {
    /// Marks the selected session, or takes its mark away.
    mutating func toggleMark() {
        list.toggleMark(in: shared)
        refresh()
    }

    /// Lists marked sessions only, or all again.
    mutating func toggleMarkedOnly() {
        guard list.showsMarked || !list.marked.isEmpty else {
            notice = hint(naming("nothing is marked: {mark} marks a row, {mark-all} all that are listed"))
            return
        }
        list.showsMarked.toggle()
        list.keyPressed = nil
        refresh()
        notice = hint(
            naming(list.showsMarked ? "marked ones only; {show-marked} lists all" : "all are listed again"))
    }

    /// Lets the cursor keep its connection, keep its place, or go to each new connection.
    mutating func followInList() {
        list.cursor = list.cursor.next
        list.isChosen = true
        refresh()
        notice = hint(list.cursor.sentence)
    }

    /// Whether a session matches the search.
    package func isSearched(_ socket: SocketSnapshot) -> Bool { list.isSearched(socket, in: shared) }

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

    /// Goes to the next row that matches the search, and around the end.
    mutating func searchList(_ step: Int) {
        if list.found != nil { return moveInFound(step) }
        guard !list.search.isEmpty, !list.rows.isEmpty else {
            notice = hint(naming("nothing is searched: {search} begins"))
            return
        }
        guard let match = list.match(step, in: shared) else {
            notice = error("not found: \(list.search); :find \(list.search) searches payloads")
            return
        }
        list.stopFollowing()
        select(match)
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
