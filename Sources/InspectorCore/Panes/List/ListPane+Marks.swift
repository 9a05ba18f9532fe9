import SocketCore

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
    mutating func toggleMarks() {
        if marked.isSuperset(of: rows) { marked.subtract(rows) } else { marked.formUnion(rows) }
        if marked.isEmpty { showsMarked = false }
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
