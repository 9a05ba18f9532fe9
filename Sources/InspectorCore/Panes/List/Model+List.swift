import SocketCore

extension Model {
    /// How long the order rests after a key press, so that no row runs away from under the hand.
    static let orderRests = Duration.seconds(1)

    /// Filters and orders the rows. The cursor stays with its connection; when that is no longer listed, with its row.
    mutating func refreshRows(_ snapshot: EngineSnapshot) {
        let row = list.selected.flatMap { list.rows.firstIndex(of: $0) }
        var sockets = snapshot.sockets
        if !list.filter.isEmpty { sockets = list.filter.matching(sockets, snapshot.time, findings) }
        if list.showsMarked { sockets = sockets.filter { list.marked.contains($0.id) } }
        if let pressed = list.keyPressed, snapshot.time - pressed < Self.orderRests, !list.rows.isEmpty {
            list.rows = keepingOrder(list.rows, sockets, snapshot.time)
        } else {
            list.rows = list.sorting.ids(of: sockets, snapshot.time, findings)
        }
        followNewest()
        reselect(row)
        traffic.watch(list.selected)
    }

    /// The rows as they stand without what has gone, and what has come behind them.
    private func keepingOrder(
        _ rows: [SocketID], _ sockets: [SocketSnapshot], _ now: MonotonicTime
    ) -> [SocketID] {
        var fresh = Set(sockets.lazy.map(\.id))
        let kept = rows.filter { fresh.remove($0) != nil }
        guard !fresh.isEmpty else { return kept }
        return kept + list.sorting.ids(of: sockets.filter { fresh.contains($0.id) }, now, findings)
    }

    private mutating func reselect(_ row: Int?) {
        leaveListener()
        if let selected = list.selected {
            if selected == expected || list.rows.contains(selected) { return }
            // What is being looked at stays, listed or not: what is typed must never go to another connection.
            if tab != .list { return }
        }
        list.selected = list.rows.isEmpty ? nil : list.rows[min(max(0, row ?? 0), list.rows.count - 1)]
    }

    /// Nobody has moved the cursor yet and it stands on what was there first, a listener or something that is over:
    /// the first connection that lives is more worth a look.
    private mutating func leaveListener() {
        guard !list.isChosen, tab == .list, let first = list.rows.first.flatMap({ shown?.socket($0) }) else { return }
        let isIdle = selected.map { $0.role == .listener || !$0.isLive } ?? false
        if isIdle && first.role != .listener && first.isLive { list.selected = first.id }
    }

    /// Puts the cursor on a connection.
    mutating func select(_ id: SocketID?) {
        list.isChosen = true
        guard id != list.selected else { return }
        list.selected = id
        detail = DetailState()
        traffic.watch(id)
    }

    /// Moves the cursor so many rows.
    mutating func moveSelection(_ step: Int) {
        list.follows = false
        guard !list.rows.isEmpty else { return }
        let row = list.selected.flatMap { list.rows.firstIndex(of: $0) }
        let target = row.map { $0 + step } ?? 0
        select(list.rows[min(max(0, target), list.rows.count - 1)])
    }

    /// Orders at once, whether the order rests or not.
    mutating func sort(_ sorting: Sorting) {
        list.sorting = sorting
        list.keyPressed = nil
        refresh()
        notice = hint(
            "sorted by \(sorting.name == "warnings" ? "warnings" : sorting.column.title)\(sorting.descending ? ", largest first" : "")"
        )
    }

    mutating func reverseOrder() {
        var sorting = list.sorting
        sorting.descending.toggle()
        sort(sorting)
    }

    /// Sets the filter at once.
    mutating func setFilter(_ filter: Filter) {
        list.filter = filter
        list.keyPressed = nil
        filterRuns += 1
        // Sums and findings are of all sessions, whatever is listed.
        if let snapshot = shown { refreshRows(snapshot) }
    }

    /// Scrolls list, detail and traffic so that what the cursor is on is in sight.
    mutating func keepInSight() {
        let layout = self.layout
        let rows = max(1, layout.listRows)
        let last = max(0, list.rows.count - rows)
        if let selected = list.selected, let row = list.rows.firstIndex(of: selected) {
            list.top = min(list.top, row)
            list.top = max(list.top, row - rows + 1)
        }
        list.top = min(max(0, list.top), last)
    }
}
