import SocketCore

/// By what the list is ordered.
package enum SortColumn: String, Hashable, Sendable, CaseIterable {
    case id, state, peer, reading, writing, receiveRate, sendRate

    package var title: String {
        switch self {
        case .id: "ID"
        case .state: "STATE"
        case .peer: "PEER"
        case .reading: "READING"
        case .writing: "WRITING"
        case .receiveRate: "RX/s"
        case .sendRate: "TX/s"
        }
    }

    /// Whether the largest comes first unless reversed.
    package var startsDescending: Bool {
        switch self {
        case .id, .state, .peer: false
        case .reading, .writing, .receiveRate, .sendRate: true
        }
    }

    package var next: SortColumn {
        let all = SortColumn.allCases
        let index = all.firstIndex(of: self) ?? 0
        return all[(index + 1) % all.count]
    }
}

/// The order of the list. Live connections come first, then listeners whose value is unknown, then what is closed,
/// the latest first; equal ones keep the order of their ids.
package struct Sorting: Hashable, Sendable {
    package var column: SortColumn
    package var descending: Bool

    package init(_ column: SortColumn = .receiveRate) {
        self.column = column
        descending = column.startsDescending
    }

    /// What one row is ordered by.
    private struct SortKey {
        var id: SocketID
        /// 0: live with a value, 1: live without, 2: listener without, 3: closed.
        var group: Int
        var number: Double
        var text: String
    }

    /// The ids of these sessions in order.
    package func ids(of sockets: [SocketSnapshot]) -> [SocketID] {
        sockets.map(key).sorted(by: comesFirst).map(\.id)
    }

    private func comesFirst(_ left: SortKey, _ right: SortKey) -> Bool {
        if left.group != right.group { return left.group < right.group }
        if left.number != right.number {
            let descending = left.group == 3 && column != .id ? true : self.descending
            return descending ? left.number > right.number : left.number < right.number
        }
        if left.text != right.text { return descending ? left.text > right.text : left.text < right.text }
        return left.id < right.id
    }

    private func key(_ socket: SocketSnapshot) -> SortKey {
        let none = SortKey(id: socket.id, group: socket.role == .listener ? 2 : 1, number: 0, text: "")
        if let closed = socket.closed, column != .id, column != .peer {
            return SortKey(id: socket.id, group: 3, number: Double(closed.time.nanoseconds), text: "")
        }
        func with(number: Double?, text: String = "") -> SortKey {
            guard let number else { return none }
            return SortKey(id: socket.id, group: 0, number: number, text: text)
        }
        switch column {
        case .id: return with(number: Double(socket.id.number))
        case .state: return with(number: 0, text: socket.stateWord)
        case .peer: return with(number: 0, text: socket.peerText)
        case .reading:
            let share = socket.reading.current.map { Double($0.done) }
            return with(number: share ?? (socket.unreadBytes > 0 ? Double(socket.unreadBytes) : nil))
        case .writing:
            return with(number: socket.writing.pendingBytes > 0 ? Double(socket.writing.pendingBytes) : nil)
        case .receiveRate: return with(number: socket.receiveRate)
        case .sendRate: return with(number: socket.sendRate)
        }
    }
}
