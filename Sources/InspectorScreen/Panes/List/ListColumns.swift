import SocketCore

/// The columns of the list at a given width. The least important ones are left out first: optional columns from the
/// last to the first, then send rate, receive rate, writes, state.
package struct ListColumns {
    package struct Column: Equatable {
        package var x: Int
        package var width: Int
    }

    package var id: Column
    package var role: Column
    package var peer: Column
    package var reading: Column
    package var state: Column?
    package var writing: Column?
    package var receiveRate: Column?
    package var sendRate: Column?
    package var warnings: Column
    /// The chosen columns that have room, in order.
    package var optional: [(column: ListColumn, place: Column)] = []

    private static let leastPeer = 17

    package init(width: Int, idWidth: Int, chosen: Set<String>) {
        let fixed = idWidth + 4
        let leastPeer = min(Self.leastPeer, max(1, width - fixed - 1 - 15 - 2))
        var room = width - fixed - (leastPeer + 1) - 15 - 2
        func reserve(_ columns: Int) -> Bool {
            // A less important column is never shown if a more important one had no room.
            guard room >= columns else {
                room = min(room, 5)
                return false
            }
            room -= columns
            return true
        }
        let hasState = reserve(11)
        let hasWriting = reserve(12)
        let hasReceiveRate = reserve(6)
        let hasSendRate = reserve(6)
        // Amounts are shown in full before the peer gets more room.
        var (moreReading, moreWriting) = (0, 0)
        func widen(_ column: inout Int, by columns: Int) {
            let more = min(room, columns)
            column += more
            room -= more
        }
        if hasWriting { widen(&moreWriting, by: 1) }
        widen(&moreReading, by: 2)
        if hasWriting { widen(&moreWriting, by: 3) }
        // More room for the peer is better than an optional column that was not chosen.
        let wanted = ListColumn.optional.filter { chosen.contains($0.name) }
        let shown = wanted.prefix { reserve($0.width + 1) }
        let morePeer = min(room, 4 + max(0, room - 4) * 2 / 3)
        room -= morePeer
        widen(&moreReading, by: 10)
        id = Column(x: 1, width: idWidth)
        role = Column(x: idWidth + 2, width: 1)
        warnings = Column(x: width - 2, width: 2)
        var x = fixed
        func place(_ columns: Int) -> Column {
            defer { x += columns + 1 }
            return Column(x: x, width: columns)
        }
        if hasState { state = place(10) }
        peer = place(leastPeer + morePeer)
        reading = place(14 + moreReading)
        if hasWriting { writing = place(11 + moreWriting) }
        if hasReceiveRate { receiveRate = place(5) }
        if hasSendRate { sendRate = place(5) }
        for column in shown { optional.append((column, place(column.width))) }
    }

    /// From READING to the last column before the totals, where a closed row shows the reason.
    package var reason: Column {
        let end = writing ?? reading
        return Column(x: reading.x, width: end.x + end.width - reading.x)
    }

    /// PEER and READING, where a relayed pair shows both of its ends.
    package var pair: Column { Column(x: peer.x, width: reading.x + reading.width - peer.x) }
}
