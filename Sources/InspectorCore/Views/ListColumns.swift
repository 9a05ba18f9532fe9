import SocketCore

/// Where the columns of the list stand at a width. What matters least is left out first: send rate, receive rate,
/// writes, state; the kernel's queues come in where there is room for them.
package struct ListColumns: Hashable {
    package struct Column: Hashable {
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
    package var receiveQueue: Column?
    package var sendQueue: Column?

    private static let leastPeer = 17

    package init(width: Int, idWidth: Int) {
        let fixed = idWidth + 4
        var room = width - fixed - (Self.leastPeer + 1) - 15 - 2
        func take(_ columns: Int) -> Bool {
            guard room >= columns else { return false }
            room -= columns
            return true
        }
        let hasState = take(11)
        let hasWriting = take(12)
        let hasReceiveRate = take(6)
        let hasSendRate = take(6)
        let hasQueues = room >= 18 && take(14)
        let morePeer = min(room, 4 + max(0, room - 4) * 2 / 3)
        room -= morePeer
        let moreReading = min(room, 12)
        id = Column(x: 1, width: idWidth)
        role = Column(x: idWidth + 2, width: 1)
        var x = fixed
        func place(_ columns: Int) -> Column {
            defer { x += columns + 1 }
            return Column(x: x, width: columns)
        }
        if hasState { state = place(10) }
        peer = place(Self.leastPeer + morePeer)
        reading = place(14 + moreReading)
        if hasWriting { writing = place(11) }
        if hasReceiveRate { receiveRate = place(5) }
        if hasSendRate { sendRate = place(5) }
        if hasQueues {
            receiveQueue = place(6)
            sendQueue = place(6)
        }
        warnings = Column(x: width - 2, width: 2)
    }

    /// From READING to the last column before the totals: where a closed row says why.
    package var reason: Column {
        let end = writing ?? reading
        return Column(x: reading.x, width: end.x + end.width - reading.x)
    }
}
