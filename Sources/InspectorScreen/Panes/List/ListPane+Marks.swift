import SocketCore

/// An action on all marked connections.
package enum MarkedAct: Equatable, Sendable {
    case askHow
    case close(CloseMode)
    case pause(Bool)
    case list
    case save
    case unmark
}

/// Marks, for acting on several connections at once.
extension ListPane {
    /// Marks the row with the cursor, or removes its mark.
    mutating func toggleMark(in shared: Shared) {
        guard let selected else { return }
        let legs = shared.shown?.socket(selected).flatMap { pair(of: $0, in: shared)?.legs.map(\.id) } ?? [selected]
        if marked.isDisjoint(with: legs) { marked.insert(listed(selected, in: shared)) } else { marked.subtract(legs) }
        if marked.isEmpty { showsMarked = false }
    }

    /// Marks all listed rows, or removes their marks if all are marked.
    mutating func toggleMarks(in shared: Shared) -> Model.Notice {
        if marked.isSuperset(of: rows) { marked.subtract(rows) } else { marked.formUnion(rows) }
        if marked.isEmpty { showsMarked = false }
        let count = markCount(in: shared)
        let keys = shared.options.keys
        return .hint(
            count == 0
                ? "nothing is marked" : keys.naming("\(count) marked; {close} closes them, {act-on-marked} does more"))
    }

    /// Removes the marks of sessions that are gone.
    mutating func forget(_ isGone: (SocketID) -> Bool) {
        for id in marked where isGone(id) { marked.remove(id) }
        if marked.isEmpty { showsMarked = false }
    }

    mutating func unmark() {
        marked = []
        showsMarked = false
    }

    /// Lists only marked sessions, or all of them.
    mutating func toggleMarkedOnly(in shared: Shared) -> Model.Notice {
        guard showsMarked || !marked.isEmpty else { return nothingMarked(in: shared) }
        showsMarked.toggle()
        keyPressed = nil
        return .hint(
            shared.options.keys.naming(
                showsMarked ? "marked ones only; {show-marked} lists all" : "all are listed again"))
    }

    func nothingMarked(in shared: Shared) -> Model.Notice {
        .hint(
            shared.options.keys.naming("nothing is marked: {mark} marks a row, {mark-all} all that are listed"))
    }

    /// Returns the marked sessions that have traffic to save, sorted by number.
    func savable(in shared: Shared) -> [SocketID] {
        marked.sorted().filter { id in shared.shown?.socket(id).map { $0.role != .listener } ?? false }
    }

    /// Returns the number of marked rows. A relayed pair counts once, whichever leg is marked.
    func markCount(in shared: Shared) -> Int { Set(marked.map { listed($0, in: shared) }).count }

    /// Returns the number of marked rows that have not ended.
    func liveMarkCount(in shared: Shared) -> Int {
        Set(markedSockets(in: shared).map { listed($0.id, in: shared) }).count
    }

    /// Returns the live marked sessions, with both legs of each pair shown as one row, sorted by number.
    func markedSockets(in shared: Shared) -> [SocketSnapshot] {
        guard let shown = shared.shown else { return [] }
        let sockets = marked.compactMap(shown.socket).flatMap { pair(of: $0, in: shared)?.legs ?? [$0] }
        var seen: Set<SocketID> = []
        return sockets.filter { $0.isLive && seen.insert($0.id).inserted }.sorted { $0.id < $1.id }
    }
}
