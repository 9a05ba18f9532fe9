import InspectorCore
import SocketCore

/// The rows: which sessions are listed, and in what order.
extension ListPane {
    /// How long the order is kept after a key press, so that no row moves just before the user acts on it.
    static let orderRests = Duration.seconds(1)

    /// Filters and sorts the rows.
    mutating func orderRows(_ snapshot: EngineSnapshot, in shared: Shared) {
        kind = shared.listKind
        var sockets = snapshot.sockets
        if !filter.isEmpty { sockets = filter.matching(sockets, snapshot.time, shared.findings) }
        programs?.absorb(sockets, shared.findings)
        if showsMarked { sockets = sockets.filter { marked.contains($0.id) } }
        let isAll = sockets.count == snapshot.sockets.count
        foldWaiting(&sockets, in: shared)
        if !showsLegs { sockets = snapshot.joiningPairs(sockets) }
        total = isAll ? sockets.count : showsLegs ? snapshot.sockets.count : snapshot.joinedCount
        if let pressed = keyPressed, snapshot.time - pressed < Self.orderRests, !rows.isEmpty {
            var fresh = Set(sockets.lazy.map(\.id))
            rows.removeAll { fresh.remove($0) == nil }
            sockets.removeAll { !fresh.contains($0.id) }
        } else {
            rows = []
        }
        guard !sockets.isEmpty else { return }
        rows += sorting.ids(of: sockets, snapshot.time, shared.findings, pairedIn: showsLegs ? nil : snapshot)
    }

    /// Leaves one row of the sockets in TIME-WAIT on a host, unless the filter names that state: the kernel keeps
    /// thousands, nobody waits for them, and what is wrong must be in sight.
    private mutating func foldWaiting(_ sockets: inout [SocketSnapshot], in shared: Shared) {
        let former = folded
        folded = nil
        guard kind == .host, shared.options.foldsWaiting, !filter.names(state: "time-wait") else { return }
        let waiting = sockets.indices.filter { sockets[$0].host?.state == .timeWait }
        let count = waiting.reduce(0) { $0 + (sockets[$1].host?.alike ?? 1) }
        guard count > 1 else { return }
        // The row stays with its socket, and the newest stays longest.
        let kept = waiting.first { sockets[$0].id == former?.row } ?? waiting[waiting.count - 1]
        folded = Folded(row: sockets[kept].id, count: count)
        let others = Set(waiting).subtracting([kept])
        sockets = sockets.indices.filter { !others.contains($0) }.map { sockets[$0] }
    }

    /// Returns what the row of a session shows.
    func listed(_ socket: SocketSnapshot, in shared: Shared) -> Listed {
        Listed(socket, pair(of: socket, in: shared), folded: folded.flatMap { $0.row == socket.id ? $0.count : nil })
    }

    /// Returns the pair of a leg, while pairs are shown as one row.
    func pair(of socket: SocketSnapshot, in shared: Shared) -> RelayPair? {
        showsLegs || socket.linked == nil ? nil : shared.shown?.pair(of: socket)
    }

    /// Returns the session that represents a session in the list and for marks.
    func listed(_ id: SocketID, in shared: Shared) -> SocketID {
        showsLegs ? id : shared.shown?.pair(of: id)?.client.id ?? id
    }

    /// Returns the row of a session, or of its pair if it is a leg of one.
    package func row(of id: SocketID, in shared: Shared) -> Int? {
        rows.firstIndex(of: id) ?? rows.firstIndex(of: listed(id, in: shared))
    }

    /// Returns the session `step` rows from the cursor, limited to the first and the last row.
    func row(_ step: Int, in shared: Shared) -> SocketID? {
        guard !rows.isEmpty else { return nil }
        let target = selected.flatMap { row(of: $0, in: shared) }.map { $0 + step } ?? 0
        return rows[min(max(0, target), rows.count - 1)]
    }

    /// Scrolls so that the row with the cursor is visible.
    mutating func keepInSight(height: Int, in shared: Shared) {
        let height = max(1, height)
        found?.keepInSight(height: height)
        programs?.keepInSight(height: height)
        hosts?.keepInSight(height: height)
        if let selected, let row = row(of: selected, in: shared) {
            top = min(top, row)
            top = max(top, row - height + 1)
        }
        top = min(max(0, top), max(0, rows.count - height))
    }

    /// Scrolls by the distance of a jump, so that the cursor stays on its line of the screen. A jump back restores the
    /// previous scroll position. If both rows are visible, does not scroll.
    mutating func scroll(along target: SocketID, height: Int, in shared: Shared) {
        guard let source = selected, let from = row(of: source, in: shared), let to = row(of: target, in: shared) else {
            return
        }
        let before = top
        defer { jump = Jump(source: source, target: target, top: before) }
        if let jump, jump.source == target, jump.target == source {
            top = jump.top
        } else if !(top..<top + max(1, height)).contains(to) {
            top += to - from
        }
    }

    /// Whether the cursor must stay in its row, which now has another connection.
    func keepsPlace(_ row: Int?, in shared: Shared) -> Bool {
        guard let row, rows.indices.contains(row), selected.map({ listed($0, in: shared) }) != rows[row] else {
            return false
        }
        switch cursor {
        case .place: return true
        case .connection: return row == 0 && !sorting.column.isSteady
        case .newest: return false
        }
    }

    // MARK: Filtering and sorting

    /// Sorts at once, even after a recent key press.
    mutating func sort(_ sorting: Sorting) -> Model.Notice {
        chosen = sorting
        keyPressed = nil
        let exception = sorting.exception.map { "; \($0), the latest first" } ?? ""
        return .hint(
            "sorted by \(sorting.column.sentenceName)\(sorting.descending ? ", largest first" : "")\(exception)")
    }

    /// Returns what is not obvious about the order of the rows, for a sentence about it.
    func exception(in shared: Shared) -> String {
        shared.summary.closed > 0 ? sorting.exception.map { ", \($0)" } ?? "" : ""
    }

    mutating func reverse() -> Model.Notice {
        var sorting = sorting
        sorting.descending.toggle()
        return sort(sorting)
    }

    /// Sorts by the column `step` columns to the right.
    mutating func sortByColumn(_ step: Int, width: Int, in shared: Shared) -> Model.Notice {
        let columns = sortable(width: width, in: shared)
        let index = columns.firstIndex(of: sorting.column) ?? -1
        return sort(Sorting(columns[((index + step) % columns.count + columns.count) % columns.count]))
    }

    mutating func set(_ filter: Filter) {
        self.filter = filter
        (keyPressed, programsFilter) = (nil, nil)
        filterRuns += 1
    }

    /// Shows one row per relayed pair, or one for each leg.
    mutating func toggleLegs(in shared: Shared) -> Model.Notice {
        showsLegs.toggle()
        keyPressed = nil
        let words = "one row per " + (showsLegs ? "leg of a relayed connection" : "relayed connection")
        return .hint(shared.options.keys.naming(words + "; {legs} \(showsLegs ? "joins" : "splits") them"))
    }

    // MARK: Search

    /// Starts a search through the payloads of all connections. Earlier results are dropped.
    /// - Parameter kept: the result that the cursor stays on, if it is found again.
    mutating func find(_ search: PayloadSearch, keeping kept: FoundMatch? = nil, in shared: Shared) -> FindRequest {
        findsBegun += 1
        let sockets = (shared.shown?.sockets ?? []).filter { socket in
            // One leg of a pair receives what the other sends, so the client's leg has everything.
            socket.role != .listener && (pair(of: socket, in: shared)?.client.id ?? socket.id) == socket.id
        }
        var request = FindRequest(number: findsBegun, search: search, sockets: sockets.map(\.id))
        if let shown = shared.shown {
            if shown.moment?.shown != nil { request.until = shown.time }
            request.unlisted = max(0, Int(clamping: shown.counters.opened) - shown.sockets.count)
        }
        found = FoundPane(request, keeping: kept)
        return request
    }

    /// Whether a session, or the other leg of its pair, matches the search.
    func isSearched(_ socket: SocketSnapshot, in shared: Shared) -> Bool {
        let wanted = search.lowercased()
        guard !wanted.isEmpty else { return false }
        return (pair(of: socket, in: shared)?.legs ?? [socket]).contains { leg in
            FilterTerm.words(leg).contains { $0.lowercased().contains(wanted) }
        }
    }

    /// Returns the next or the previous row that matches the search. Wraps around.
    func match(_ step: Int, in shared: Shared) -> SocketID? {
        guard !rows.isEmpty else { return nil }
        let begin = selected.flatMap { row(of: $0, in: shared) } ?? 0
        for offset in 1...rows.count {
            let id = rows[((begin + offset * step) % rows.count + rows.count) % rows.count]
            if let socket = shared.shown?.socket(id), isSearched(socket, in: shared) { return id }
        }
        return nil
    }

    // MARK: Columns

    /// Shows or hides a column.
    mutating func toggleColumn(_ name: String) {
        if columns.remove(name) == nil { columns.insert(name) }
    }

    /// Returns the columns that are visible at a width and can be sorted by, from left to right.
    func sortable(width: Int, in shared: Shared) -> [ListColumn] {
        let layout = ListLayout(kind, width: width, idWidth: shared.summary.idWidth, optional: columns)
        return layout.places.map(\.column).filter { !$0.title.isEmpty }
    }
}
