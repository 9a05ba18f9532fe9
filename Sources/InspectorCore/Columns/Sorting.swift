import SocketCore

/// The order of the list. Live connections come first, then those whose value is unknown, then listeners, sockets in
/// TIME-WAIT, and closed ones, the latest first. Equal ones are sorted by id.
package struct Sorting: Equatable, Sendable {
    package var column: ListColumn
    package var descending: Bool

    package init(_ column: ListColumn) { (self.column, descending) = (column, column.startsDescending) }

    /// What is not obvious about the order: closed rows have an ID too, and are not sorted by it.
    package var exception: String? { column.name == "id" && !column.ordersClosed ? "closed last" : nil }

    /// Those without a value follow those with one. The first look at a host proves nothing yet, so what seems to be
    /// stuck comes before what is not.
    private enum Group: Int { case valued, stuck, unknown, listener, timeWait, closed }

    /// The sort key of one row.
    private struct SortKey {
        var index: Int
        var group: Group
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
            let isQuiet = key.group == .valued && key.number == 0 && key.text.isEmpty
            if isQuiet { quiet.append(key) } else { rest.append(key) }
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
        if left.group != right.group { return left.group.rawValue < right.group.rawValue }
        if left.number != right.number {
            let descending = left.group == .closed || self.descending
            return descending ? left.number > right.number : left.number < right.number
        }
        if left.text != right.text { return descending ? left.text > right.text : left.text < right.text }
        return left.index < right.index
    }

    private func key(_ row: Listed, _ index: Int, _ sight: Sight) -> SortKey {
        if let closed = row.closed, !column.ordersClosed {
            let number = Double(closed.time.nanoseconds)
            return SortKey(index: index, group: .closed, number: number, text: "")
        }
        switch column.value(row, sight) {
        case .number(let number):
            return SortKey(index: index, group: .valued, number: number.isNaN ? 0 : number, text: "")
        case .text(let text): return SortKey(index: index, group: .valued, number: 0, text: text)
        case nil: return SortKey(index: index, group: group(row.socket), number: 0, text: "")
        }
    }

    /// Returns the group of a live row without a value.
    private func group(_ socket: SocketSnapshot) -> Group {
        if socket.role == .listener { return .listener }
        guard let host = socket.host else { return .unknown }
        if host.state == .timeWait { return .timeWait }
        let hasBytes = host.unread ?? 0 > 0 || host.unsent ?? 0 > 0
        return hasBytes && host.asksFor ?? .zero > .seconds(1) ? .stuck : .unknown
    }
}
