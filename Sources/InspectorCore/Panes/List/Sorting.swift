import SocketCore

/// The order of the list. Live connections come first, then those whose value is unknown, listeners after the others,
/// then what is closed, the latest first; equal ones keep the order of their ids.
package struct Sorting: Hashable, Sendable {
    /// The name of the column.
    package var name: String
    package var descending: Bool

    package init(_ name: String = "id") {
        self.name = name
        descending = ListColumn.named(name)?.startsDescending ?? false
    }

    /// The column, or ID if the name is not one of a column.
    package var column: ListColumn { ListColumn.named(name) ?? ListColumn.standard[0] }

    /// What one row is ordered by.
    private struct SortKey {
        var index: Int
        /// 0: live with a value, 1: live without, 2: listener without, 3: closed.
        var group: Int
        var number: Double
        var text: String
    }

    /// The ids of these sessions in order. Those given are in the order of their ids. In `pairedIn` are both legs of the
    /// relayed pairs that are one row each, in the place of the client's leg; `nil` orders each leg apart.
    package func ids(
        of sockets: [SocketSnapshot], _ now: MonotonicTime, _ findings: Findings, pairedIn pairs: EngineSnapshot? = nil
    ) -> [SocketID] {
        let column = column
        let keepsClosed = column.name == "id" || column.name == "peer"
        var keys: [SortKey] = []
        keys.reserveCapacity(sockets.count)
        for index in sockets.indices {
            keys.append(key(sockets[index], index, column, pairs, keepsClosed: keepsClosed, now, findings))
        }
        return sorted(keys).map { sockets[$0.index].id }
    }

    /// Most rows are quiet and share one value: they are in order already, so only the others are sorted.
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
            let descending = left.group == 3 && name != "id" ? true : self.descending
            return descending ? left.number > right.number : left.number < right.number
        }
        if left.text != right.text { return descending ? left.text > right.text : left.text < right.text }
        return left.index < right.index
    }

    private func key(
        _ socket: SocketSnapshot, _ index: Int, _ column: ListColumn, _ pairs: EngineSnapshot?, keepsClosed: Bool,
        _ now: MonotonicTime, _ findings: Findings
    ) -> SortKey {
        let pair = pairs?.pair(of: socket)
        if let closed = pair == nil ? socket.closed : pair?.closed, !keepsClosed {
            return SortKey(index: index, group: 3, number: Double(closed.time.nanoseconds), text: "")
        }
        switch pair.map({ column.value(of: $0, now, findings) }) ?? column.value(socket, now, findings) {
        case .number(let number):
            return SortKey(index: index, group: 0, number: number.isNaN ? 0 : number, text: "")
        case .text(let text): return SortKey(index: index, group: 0, number: 0, text: text)
        case nil: return SortKey(index: index, group: socket.role == .listener ? 2 : 1, number: 0, text: "")
        }
    }
}
