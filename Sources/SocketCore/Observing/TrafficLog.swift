/// What was kept of one session's traffic: the latest operations with their first bytes, within bounds.
package struct TrafficLog: Sendable {
    /// Items before `head` are dropped; those behind it are the ones kept, oldest first.
    private var items: [TrafficItem] = []
    private var head = 0
    private var keptBytes = 0
    private var inProgress = 0
    private var nextSequence: UInt64 = 0
    private var dropped: UInt64 = 0
    /// Items kept at most.
    package let maximumItems: Int
    private let maximumBytes: Int
    private let snapLength: Int

    /// Items, and bytes of them together, that are kept unless said otherwise.
    package static let standardItems = 512
    package static let standardBytes = 262_144

    /// Keeps at most `maximumItems` items (at least 1) with `maximumBytes` bytes together, and of each the first
    /// `snapLength` bytes.
    package init(
        maximumItems: Int = standardItems, maximumBytes: Int = standardBytes, snapLength: Int = 16_384
    ) {
        self.maximumItems = max(1, maximumItems)
        self.maximumBytes = max(0, maximumBytes)
        self.snapLength = max(0, min(snapLength, maximumBytes))
    }

    /// What is kept now.
    package var snapshot: TrafficSnapshot {
        TrafficSnapshot(items: Array(items[head...]), dropped: dropped)
    }

    /// Records how an operation stands. While the latest item of that operation and direction is in progress it is
    /// updated, else there is a new one, of this time.
    ///
    /// `bytes` gives the operation's first bytes, at most so many as it is asked for; it is asked only when fewer are
    /// kept than could be.
    package mutating func record(
        _ operation: OperationID, direction: TrafficItem.Direction, tag: Int, kind: OperationSnapshot.Kind, done: Int,
        total: Int?, state: TrafficItem.State, now: MonotonicTime, address: SocketAddress? = nil,
        webSocket: WebSocketTraffic? = nil, bytes: (Int) -> [UInt8]
    ) {
        let index = openItem(of: operation, direction) ?? items.count
        if index == items.count {
            let item = TrafficItem(
                sequence: nextSequence, operation: operation, time: now, direction: direction, tag: tag, kind: kind,
                done: 0, total: total, state: .inProgress, bytes: [], address: address, webSocket: webSocket)
            nextSequence += 1
            inProgress += 1
            items.append(item)
        }
        update(index, done: done, total: total, state: state, bytes: bytes)
        dropOldest()
    }

    /// Counts items as dropped that are not even recorded: as many follow them at once as are kept.
    package mutating func passOver(_ count: Int) {
        nextSequence += UInt64(count)
        dropped += UInt64(count)
    }

    /// Whether the latest item of that operation and direction is in progress.
    package func isOpen(_ operation: OperationID, _ direction: TrafficItem.Direction) -> Bool {
        openItem(of: operation, direction) != nil
    }

    /// Where the latest item of that operation and direction is, if it is in progress. The search ends when it has seen
    /// every item in progress, so that it is short: there are seldom more than two, and they are among the last.
    private func openItem(of operation: OperationID, _ direction: TrafficItem.Direction) -> Int? {
        var unseen = inProgress
        var index = items.count
        while unseen > 0, index > head {
            index -= 1
            let item = items[index]
            if item.state == .inProgress { unseen -= 1 }
            guard item.operation == operation, item.direction == direction else { continue }
            return item.state == .inProgress ? index : nil
        }
        return nil
    }

    /// Ends the item in progress of something sent, if it is still kept.
    package mutating func settle(_ operation: OperationID, error: String?, now: MonotonicTime) {
        guard let index = openItem(of: operation, .sent) else { return }
        inProgress -= 1
        items[index].state = error.map { .failed($0) } ?? .complete(after: now - items[index].time)
    }

    /// Adds a frame to the item of that operation, if it is in progress.
    package mutating func add(_ frame: WebSocketFrameRecord, to operation: OperationID) {
        guard let index = openItem(of: operation, .sent) else { return }
        items[index].webSocket?.add(frame)
    }

    private mutating func update(
        _ index: Int, done: Int, total: Int?, state: TrafficItem.State, bytes: (Int) -> [UInt8]
    ) {
        items[index].done = done
        items[index].total = total
        items[index].state = state
        if state != .inProgress { inProgress -= 1 }
        let most = min(done, snapLength)
        let kept = items[index].bytes.count
        guard kept < most else { return }
        items[index].bytes = Array(bytes(most).prefix(most))
        keptBytes += items[index].bytes.count - kept
    }

    /// Drops items until the rest is within bounds. The latest one always is, since `snapLength` is.
    private mutating func dropOldest() {
        while items.count - head > maximumItems || keptBytes > maximumBytes {
            keptBytes -= items[head].bytes.count
            if items[head].state == .inProgress { inProgress -= 1 }
            items[head].bytes = []
            head += 1
            dropped += 1
        }
        guard head > maximumItems else { return }
        items.removeSubrange(0..<head)
        head = 0
    }
}
