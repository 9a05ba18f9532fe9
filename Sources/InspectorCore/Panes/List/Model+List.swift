import SocketCore

extension Model {
    /// Orders the rows, and puts the cursor where its rule says.
    mutating func refreshRows(_ snapshot: EngineSnapshot) {
        let row = list.selected.flatMap(row(of:))
        list.orderRows(snapshot, in: shared)
        followNewest()
        reselect(row)
        traffic.watch(list.selected)
    }

    /// The row that a session has, its pair's if it is a leg of one.
    package func row(of id: SocketID) -> Int? { list.row(of: id, in: shared) }

    /// The pair that a session is a leg of, while pairs are shown as one.
    package func pair(of socket: SocketSnapshot) -> RelayPair? { list.pair(of: socket, in: shared) }

    private mutating func reselect(_ row: Int?) {
        if list.found != nil { return }
        defer { leaveListener() }
        if let selected = list.selected {
            if selected == expected { return }
            let isBusy = tab != .list || dialog != nil || field != nil
            if self.row(of: selected) != nil, isBusy || !list.keepsPlace(row, in: shared) { return }
            // What is being looked at stays, listed or not: what is typed must never go to another connection.
            if tab != .list || dialog != nil || field?.purpose == .command { return }
        }
        list.selected = list.rows.isEmpty ? nil : list.rows[min(max(0, row ?? 0), list.rows.count - 1)]
    }

    /// Nobody has moved the cursor yet and it is on what was there first, a listener or something that is over: the
    /// first connection that lives is more worth a look.
    private mutating func leaveListener() {
        guard !list.isChosen, tab == .list || tab == .start, dialog == nil, field?.purpose != .command,
            let shown,
            selected.map({ $0.role == .listener || !$0.isLive }) ?? false
        else { return }
        let first = list.rows.first { id in
            shown.position(of: id).map { shown.sockets[$0].role != .listener && shown.sockets[$0].isLive } ?? false
        }
        if let first { list.selected = first }
    }

    /// Puts the cursor on the newest connection, if it follows them and nothing else is being done.
    private mutating func followNewest() {
        guard list.follows, tab == .list, list.found == nil, dialog == nil, field == nil else { return }
        guard let newest = list.rows.max(), newest != list.selected else { return }
        select(newest)
    }

    /// Puts the cursor on a connection.
    mutating func select(_ id: SocketID?) {
        list.isChosen = true
        guard id != list.selected else { return }
        list.selected = id
        detail = DetailState()
        traffic.watch(id)
        // Only `w` opens a line that injects.
        if isComposing, injection != nil { isComposing = false }
    }

    /// Moves the cursor so many rows.
    mutating func moveSelection(_ step: Int) {
        if tab == .list, list.found != nil { return moveInFound(step) }
        list.stopFollowing()
        if let target = list.row(step, in: shared) { select(target) }
    }

    /// Orders at once, whether the order rests or not.
    mutating func sort(_ sorting: Sorting) {
        list.sorting = sorting
        list.keyPressed = nil
        refresh()
        let name = sorting.name == "warnings" ? "warnings" : sorting.column.title
        notice = hint("sorted by \(name)\(sorting.descending ? ", largest first" : "")")
    }

    mutating func reverseOrder() {
        var sorting = list.sorting
        sorting.descending.toggle()
        sort(sorting)
    }

    /// Sorts by the column so many places to the right.
    mutating func sortByColumn(_ step: Int) {
        let names = list.sortable(width: layout(size, .list).list.width, in: shared)
        let index = names.firstIndex(of: list.sorting.name) ?? -1
        sort(Sorting(names[((index + step) % names.count + names.count) % names.count]))
    }

    /// Sets the filter at once.
    mutating func setFilter(_ filter: Filter) {
        list.filter = filter
        list.keyPressed = nil
        filterRuns += 1
        // Sums and findings are of all sessions, whatever is listed.
        if let snapshot = shown { refreshRows(snapshot) }
    }

    /// Scrolls the list so that the row with the cursor is in sight.
    mutating func keepInSight() { list.keepInSight(height: layout.listRows, in: shared) }

    // MARK: Relayed pairs

    /// Shows one row for each relayed pair, or one for each leg.
    mutating func toggleLegs() {
        list.showsLegs.toggle()
        list.keyPressed = nil
        refresh()
        let words = "one row for each " + (list.showsLegs ? "leg of a relayed connection" : "relayed connection")
        notice = hint(naming(words + "; {legs} \(list.showsLegs ? "joins" : "splits") them"))
    }

    /// Goes to the other leg of the relayed pair.
    mutating func goToOtherLeg() {
        guard let linked = selected?.linked, shown?.socket(linked) != nil else {
            notice = hint("only a relayed connection has another leg")
            return
        }
        select(linked)
    }
}
