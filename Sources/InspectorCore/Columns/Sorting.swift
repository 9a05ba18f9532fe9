import SocketCore

/// The order of the list. Live connections come first, then those whose value is unknown, then listeners, then closed
/// ones, the latest first. Equal ones are sorted by id.
package struct Sorting: Equatable, Sendable {
    package var column: ListColumn
    package var descending: Bool

    package init(_ column: ListColumn) { (self.column, descending) = (column, column.startsDescending) }

    /// The sort key of one row.
    private struct SortKey {
        var index: Int
        /// 0 for live with a value, 1 for live without one, 2 for a listener without one, 3 for closed.
        var group: Int
        var number: Double
        var text: String
    }

    /// Returns the ids of these sessions in order. `sockets` must be sorted by id. `pairedIn` has both legs of the
    /// relayed pairs that are one row each, in the place of the client's leg. If it is `nil`, each leg is sorted
    /// separately.
    package func ids(
        of sockets: [SocketSnapshot], _ now: MonotonicTime, _ findings: Findings, pairedIn pairs: EngineSnapshot? = nil
    ) -> [SocketID] {
        let sight = Sight(now, findings)
        var keys: [SortKey] = []
        keys.reserveCapacity(sockets.count)
        for index in sockets.indices {
            let row = Listed(sockets[index], pairs?.pair(of: sockets[index]))
            keys.append(key(row, index, sight))
        }
        return sorted(keys).map { sockets[$0.index].id }
    }

    /// Sorts the rows. Most are quiet, share one value and are already in order, so only the others are sorted.
    private func sorted(_ keys: [SortKey]) -> [SortKey] {
        var quiet: [SortKey] = []
        var rest: [SortKey] = []
        quiet.reserveCapacity(keys.count)
        for key in keys {
            if key.group == 0 && key.number == 0 && key.text.isEmpty { quiet.append(key) } else { rest.append(key) }
        }
        rest.sort(by: comesFirst)
        guard let sample = quiet.first else { return rest }
        let place = rest.firstIndex { comesFirst(sample, $0) && !isEqual(sample, $0) } ?? rest.count
        return Array(rest[..<place]) + quiet + rest[place...]
    }

    private func isEqual(_ left: SortKey, _ right: SortKey) -> Bool {
        left.group == right.group && left.number == right.number && left.text == right.text
    }

    private func comesFirst(_ left: SortKey, _ right: SortKey) -> Bool {
        if left.group != right.group { return left.group < right.group }
        if left.number != right.number {
            let descending = left.group == 3 || self.descending
            return descending ? left.number > right.number : left.number < right.number
        }
        if left.text != right.text { return descending ? left.text > right.text : left.text < right.text }
        return left.index < right.index
    }

    private func key(_ row: Listed, _ index: Int, _ sight: Sight) -> SortKey {
        if let closed = row.closed, !column.ordersClosed {
            return SortKey(index: index, group: 3, number: Double(closed.time.nanoseconds), text: "")
        }
        switch column.value(row, sight) {
        case .number(let number):
            return SortKey(index: index, group: 0, number: number.isNaN ? 0 : number, text: "")
        case .text(let text): return SortKey(index: index, group: 0, number: 0, text: text)
        case nil: return SortKey(index: index, group: row.socket.role == .listener ? 2 : 1, number: 0, text: "")
        }
    }
}
