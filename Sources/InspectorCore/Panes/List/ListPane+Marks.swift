import SocketCore

/// What is done to all marked connections at once.
package enum MarkedAct: Hashable, Sendable {
    case askHow
    case close(CloseMode)
    case pause(Bool)
    case list
    case save
    case unmark
}

/// Marks: many connections that are acted on together.
extension ListPane {
    /// Marks the row with the cursor, or takes its mark away.
    mutating func toggleMark(in shared: Shared) {
        guard let selected else { return }
        let legs = shared.shown?.socket(selected).flatMap { pair(of: $0, in: shared)?.legs.map(\.id) } ?? [selected]
        if marked.isDisjoint(with: legs) { marked.insert(listed(selected, in: shared)) } else { marked.subtract(legs) }
        if marked.isEmpty { showsMarked = false }
    }

    /// Marks all rows that are listed. If all of them are marked, takes their marks away.
    mutating func toggleMarks(in shared: Shared) -> Model.Notice {
        if marked.isSuperset(of: rows) { marked.subtract(rows) } else { marked.formUnion(rows) }
        if marked.isEmpty { showsMarked = false }
        let count = markCount(in: shared)
        let keys = shared.options.keys
        return .hint(
            count == 0
                ? "nothing is marked" : keys.naming("\(count) marked; {close} closes them, {act-on-marked} does more"))
    }

    /// Takes the marks of sessions away that are gone.
    mutating func forget(_ isGone: (SocketID) -> Bool) {
        for id in marked where isGone(id) { marked.remove(id) }
        if marked.isEmpty { showsMarked = false }
    }

    mutating func unmark() {
        marked = []
        showsMarked = false
    }

    /// Lists marked sessions only, or all again.
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

    /// The marked sessions that have traffic to save, in the order of their numbers.
    func savable(in shared: Shared) -> [SocketID] {
        marked.sorted().filter { id in shared.shown?.socket(id).map { $0.role != .listener } ?? false }
    }

    /// How many rows are marked: a relayed pair counts once, whichever leg is marked.
    func markCount(in shared: Shared) -> Int { Set(marked.map { listed($0, in: shared) }).count }

    /// How many marked rows are not over.
    func liveMarkCount(in shared: Shared) -> Int {
        Set(markedSockets(in: shared).map { listed($0.id, in: shared) }).count
    }

    /// The live marked sessions, both legs of each pair that is one row, in the order of their numbers.
    func markedSockets(in shared: Shared) -> [SocketSnapshot] {
        guard let shown = shared.shown else { return [] }
        let sockets = marked.compactMap(shown.socket).flatMap { pair(of: $0, in: shared)?.legs ?? [$0] }
        var seen: Set<SocketID> = []
        return sockets.filter { $0.isLive && seen.insert($0.id).inserted }.sorted { $0.id < $1.id }
    }
}
