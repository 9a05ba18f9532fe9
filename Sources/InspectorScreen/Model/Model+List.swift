import InspectorCore
import SocketCore

/// Interaction between the list and other panes.
extension Model {
    private var pursuit: ListPane.Pursuit {
        ListPane.Pursuit(tab: tab, hasDialog: dialogs.open != nil, field: field.open?.purpose, expected: expected)
    }

    /// Sorts the rows, and places the cursor by its rule.
    mutating func refreshRows(_ snapshot: EngineSnapshot) {
        let row = list.selected.flatMap { list.row(of: $0, in: shared) }
        list.orderRows(snapshot, in: shared)
        if let newest = list.newest(during: pursuit) { select(newest) }
        list.reselect(row, during: pursuit, in: shared)
        traffic.watch(list.selected)
    }

    /// Moves the cursor to a connection.
    mutating func select(_ id: SocketID?) {
        list.isChosen = true
        guard id != list.selected else { return }
        list.selected = id
        detail.leaveSocket()
        traffic.watch(id)
        // Only `w` opens a line that injects.
        if isComposing, injection != nil { isComposing = false }
    }

    /// Moves the cursor by `step` rows.
    mutating func moveSelection(_ step: Int) {
        if tab == .list, list.found != nil { return moveInFound(step) }
        if showsPrograms { return moveInPrograms(step) }
        if showsHosts { return moveInHosts(step) }
        list.stopFollowing()
        if let target = list.row(step, in: shared) { select(target) }
    }

    /// Changes the selection or the order of rows, and lists them at once.
    private mutating func rearrange(_ change: (inout ListPane, Shared) -> Notice?) {
        let said = change(&list, shared)
        refresh()
        tell(said)
    }

    /// Sorts by a column of what is listed. Before anything is listed, any column may follow.
    mutating func sort(by order: Instruction.Order) -> [Effect] {
        let kinds = shown == nil ? ListKind.allCases : [list.kind]
        guard let column = kinds.lazy.compactMap({ $0.column(order.name) }).first else {
            let names = list.kind.sortable.map(\.name).joined(separator: ", ")
            notice = error("sort: \(order.name) is not a column of this list; it has \(names)")
            return []
        }
        var sorting = Sorting(column)
        if order.isReversed { sorting.descending.toggle() }
        rearrange { list, _ in list.sort(sorting) }
        return []
    }

    mutating func openColumns() {
        guard !list.kind.optional.isEmpty else {
            notice = hint("this list has no more columns")
            return
        }
        dialogs.openColumns(list)
    }

    mutating func reverseOrder() { rearrange { list, _ in list.reverse() } }

    /// Sorts by the column `step` columns to the right.
    mutating func sortByColumn(_ step: Int) {
        let width = layout(size, .list).list.width
        rearrange { $0.sortByColumn(step, width: width, in: $1) }
    }

    mutating func toggleMark() {
        rearrange {
            $0.toggleMark(in: $1)
            return nil
        }
    }

    mutating func toggleMarks() { rearrange { $0.toggleMarks(in: $1) } }

    mutating func toggleMarkedOnly() { rearrange { $0.toggleMarkedOnly(in: $1) } }

    mutating func toggleLegs() { rearrange { $0.toggleLegs(in: $1) } }

    /// Steps the cursor rule: keep the connection, keep the position, or move to each new connection.
    mutating func followInList() { rearrange { list, _ in list.stepCursorRule() } }

    /// Applies the filter at once.
    mutating func setFilter(_ filter: Filter) {
        list.set(filter)
        // Sums and findings cover all sessions, whatever is listed.
        if let snapshot = shared.shown { refreshRows(snapshot) }
    }

    /// Scrolls the list so that the row with the cursor is visible.
    mutating func keepInSight() { list.keepInSight(height: layout.listRows, in: shared) }

    /// Moves to the next row that matches the search, and wraps around.
    mutating func searchList(_ step: Int) {
        if list.found != nil { return moveInFound(step) }
        guard !list.search.isEmpty, !list.rows.isEmpty else {
            notice = hint(naming("no search: {search} starts one"))
            return
        }
        guard let match = list.match(step, in: shared) else {
            notice = error("not found: \(list.search); :find \(list.search) searches payloads")
            return
        }
        list.stopFollowing()
        select(match)
    }

    /// Shows or hides a column. The menu stays open.
    mutating func toggleColumn(_ name: String) {
        list.toggleColumn(name)
        dialogs.openColumns(list, selected: list.kind.optional.firstIndex { $0.name == name } ?? 0)
    }

    /// Moves to the other leg of the relayed pair, or to the other end of a connection inspected from outside.
    mutating func goToOtherLeg() {
        if selected?.host != nil, selected?.host?.peer == nil {
            notice = hint("the other end is not on this host, or cannot be seen")
            return
        }
        guard let linked = selected?.linked ?? selected?.host?.peer, shared.shown?.socket(linked) != nil else {
            notice = hint("only a relayed connection has another leg")
            return
        }
        list.scroll(along: linked, height: layout.listRows, in: shared)
        select(linked)
    }

    // MARK: Marked connections

    /// Asks what to do with the marked connections.
    mutating func openMarkedMenu() {
        guard !list.marked.isEmpty else {
            notice = list.nothingMarked(in: shared)
            return
        }
        dialogs.openMarked(list.markCount(in: shared))
    }

    /// Asks how to close the selected connection, or in the list the marked ones.
    mutating func openClose() {
        if tab == .list, !list.marked.isEmpty { return openMarkedClose() }
        ask { dialogs, subject, _ in dialogs.openCloseMenu(subject) }
    }

    private mutating func openMarkedClose() { tell(dialogs.openMarkedClose(list.liveMarkCount(in: shared))) }

    mutating func act(onMarked act: MarkedAct) -> [Effect] {
        let sockets = list.markedSockets(in: shared)
        switch act {
        case .askHow: openMarkedClose()
        case .close(let mode): return sockets.map { .send(.close($0.id, mode)) }
        case .pause(let pauses):
            return sockets.filter { $0.isReadingPaused != pauses }.map { .send(.pauseReading($0.id, pauses)) }
        case .list: if !list.showsMarked { toggleMarkedOnly() }
        case .save: dialogs.openSaveMarked(list.savable(in: shared))
        case .unmark:
            rearrange { list, _ in
                list.unmark()
                return nil
            }
        }
        return []
    }
}

/// `:find`: a search through the payloads of all connections, which the shell performs in the background.
extension Model {
    /// Starts a search. Earlier results are dropped.
    mutating func find(_ search: PayloadSearch) -> [Effect] {
        let request = list.find(search, in: shared)
        show(.list)
        return [.find(request)]
    }

    /// Searches again what was searched while the file was being read: the connections after those had not been there.
    mutating func findAgain() -> [Effect] {
        guard let found = list.found, let request = found.request, request.until == nil else { return [] }
        return [.find(list.find(request.search, keeping: found.current, in: shared))]
    }

    /// Lists the exchanges of the selected connection instead of the rows.
    mutating func listExchanges(slowestFirst: Bool) -> [Effect] {
        guard let socket = selected, socket.role != .listener else {
            notice = hint("no connection is selected")
            return []
        }
        guard let facts = socket.exchanges, !facts.overlaps else {
            let why = socket.exchanges == nil ? "it is not known who sends requests" : "its requests overlap"
            notice = hint("\(socket.id) has no answer times: \(why)")
            return []
        }
        let kept = traffic.shown(in: shared)
        let list = Exchange.list(kept, client: socket.clientDirection, count: facts.count) ?? []
        guard !list.isEmpty else {
            notice = hint(payloadRefusal ?? "no request of \(socket.id) is kept")
            return []
        }
        let matches = list.map { FoundMatch($0, of: socket.id, socket.clientDirection) }
        self.list.found = FoundPane(matches, slowestFirst: slowestFirst)
        show(.list)
        return [.stopFind]
    }

    /// Adds the matches since the last message.
    mutating func found(_ news: FindProgress) {
        let isFirst = list.found?.current == nil && list.found?.kept == nil
        list.found?.absorb(news)
        // A typed line or an open dialog concerns the connection that was selected when it was opened.
        if isFirst, tab == .list, field.open == nil, dialogs.open == nil, help == nil { selectFound() }
    }

    mutating func moveInFound(_ step: Int) {
        list.found?.move(step)
        selectFound()
    }

    mutating func selectFound() {
        guard let match = list.found?.current, match.call == nil || match.call?.id != nil else { return }
        select(match.socket)
    }

    /// Shows the result at the cursor, in the traffic of its connection.
    mutating func jumpToFound() {
        guard let found = list.found, let match = found.current else {
            notice = hint(list.found?.progress.isOver == false ? "nothing found yet" : "nothing was found")
            return
        }
        guard match.call == nil || match.call?.id != nil else {
            notice = hint("fd \(match.call?.descriptor ?? 0) is not a connection through the relay")
            return
        }
        guard shared.shown?.socket(match.socket) != nil else {
            notice = hint("\(match.socket) is no longer listed")
            return
        }
        select(match.socket)
        showTraffic(composing: false)
        // A call has no place there.
        guard match.call == nil else { return }
        traffic.awaitTraffic(
            at: TrafficMatch(item: match.item, offset: match.offset), of: match.socket, for: found.request?.search)
        showAwaitedMatch()
    }

    /// Drops the results, or else the filter.
    mutating func goBackInList() -> [Effect] {
        guard list.found != nil else {
            if list.hosts != nil {
                toggleHosts()
            } else if list.programs != nil {
                togglePrograms()
            } else if !goBackToPrograms() {
                goBack()
            }
            return []
        }
        list.found = nil
        refresh()
        return [.stopFind]
    }
}
