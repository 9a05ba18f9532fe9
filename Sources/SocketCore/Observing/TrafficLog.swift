/// The traffic kept of one session: each operation with its bytes, in a `TrafficStore`.
package struct TrafficLog: Sendable {
    private var store: TrafficStore
    private var inProgress = 0
    private var nextSequence: UInt64 = 0
    /// Incremented with each change, so that a reader can tell whether there is anything new.
    package private(set) var version: UInt64 = 0
    /// Writes that a user injected and that have no item yet.
    private var injected: Set<OperationID> = []
    private static let mostInjected = 1_024
    /// The most that it keeps, counted as `TrafficStore.cost`.
    private let limit: Int
    /// The most items that it keeps.
    package let maximumItems: Int

    /// The default limits for one session's log, and for all logs of an engine together.
    package static let standardLimit = 4 << 20
    package static let standardTotal = 64 << 20

    /// Keeps at most `limit` bytes, where each item takes `itemCost` in addition to its own, and at least the latest
    /// item.
    package init(limit: Int = standardLimit, itemCost: Int = TrafficStore.standardItemCost) {
        self.limit = max(0, limit)
        maximumItems = max(1, self.limit / max(1, itemCost))
        store = TrafficStore(itemCost: itemCost)
    }

    /// The cost of what it keeps, in bytes.
    package var cost: Int { store.cost }

    /// When the latest item started, or `nil` if there is none.
    package var latest: MonotonicTime? { store.items.last?.time }

    /// A snapshot of what is kept. It shares its memory with this log until the log changes.
    package var snapshot: TrafficSnapshot { TrafficSnapshot(items: store.items, dropped: store.dropped) }

    /// Records the state of an operation. Updates the latest item of that operation and direction if it is in progress,
    /// or else adds a new one that starts at `now`.
    ///
    /// `bytes` returns some of the operation's bytes, or the first few of them. For an operation in progress, only the
    /// start is requested. For one that has ended, all of them are requested if they fit, or else the start and the
    /// end.
    package mutating func record(
        _ operation: OperationID, direction: TrafficItem.Direction, tag: Int, kind: OperationSnapshot.Kind, done: Int,
        total: Int?, state: TrafficItem.State, now: MonotonicTime, address: SocketAddress? = nil,
        webSocket: WebSocketTraffic? = nil, bytes: (Range<Int>) -> [UInt8]
    ) {
        version &+= 1
        let index = openItem(of: operation, direction) ?? store.items.count
        if index == store.items.count {
            var item = TrafficItem(
                sequence: nextSequence, operation: operation, time: now, direction: direction, tag: tag, kind: kind,
                done: 0, total: total, state: .inProgress, bytes: [], address: address, webSocket: webSocket)
            if !injected.isEmpty, direction == .sent { item.isInjected = injected.remove(operation) != nil }
            nextSequence += 1
            inProgress += 1
            store.append(item)
        }
        if state != .inProgress { inProgress -= 1 }
        // A quarter can always be freed, from other items or from this one if it is the longest.
        let room = max(limit / 4, limit - store.cost)
        let edge = TrafficStore.edge(limit)
        store.change(index) { item in
            item.done = done
            item.total = total
            item.state = state
            Self.keep(bytes, in: &item, room: room, edge: edge)
        }
        trim(to: limit, keepsLast: true)
    }

    /// Adds the bytes that the item still lacks.
    private static func keep(
        _ bytes: (Range<Int>) -> [UInt8], in item: inout TrafficItem, room: Int, edge: Int
    ) {
        // Bytes that a cancelled operation gives back belong to the next one.
        if item.bytes.count > item.done {
            item.bytes.removeLast(item.bytes.count - max(0, item.done))
            item.tail = []
        }
        let isWhole = item.done <= max(2 * edge, item.bytes.count + room)
        // A message that waits to be sent is complete from the start.
        let isAllThere = item.state != .inProgress || item.done == item.total
        let most = isWhole && isAllThere ? item.done : min(item.done, edge)
        if item.bytes.count < most {
            item.bytes += bytes(item.bytes.count..<most).prefix(most - item.bytes.count)
        }
        guard isAllThere, !isWhole, item.bytes.count == edge else { return }
        let ending = bytes(max(edge, item.done - edge)..<item.done)
        // An operation that can return fewer bytes than it has done does not know its end.
        if ending.count == min(edge, item.done - edge) { item.tail = ending }
    }

    /// Drops what exceeds a limit. If the limit is too small for one item, drops everything, unless `keepsLast` is set.
    package mutating func trim(to limit: Int, keepsLast: Bool = false) {
        guard store.cost > limit else { return }
        version &+= 1
        store.makeRoom(limit, keepsLast: keepsLast)
        inProgress = store.items.reduce(0) { $0 + ($1.state == .inProgress ? 1 : 0) }
    }

    /// Marks the item that this write will have. The number of marks is limited, because a write that never sends a
    /// byte has no item.
    package mutating func markInjected(_ operation: OperationID) {
        if injected.count >= Self.mostInjected { injected = [] }
        injected.insert(operation)
    }

    /// Counts items as dropped without recording them, because as many newer ones follow at once as the log keeps.
    package mutating func passOver(_ count: Int) {
        version &+= 1
        nextSequence += UInt64(count)
        store.passOver(count)
    }

    /// Whether the latest item of that operation and direction is in progress.
    package func isOpen(_ operation: OperationID, _ direction: TrafficItem.Direction) -> Bool {
        openItem(of: operation, direction) != nil
    }

    /// Returns the index of the latest item of that operation and direction, if it is in progress. The search stops
    /// once it has seen every item in progress. It is short, because there are seldom more than two and they are among
    /// the last.
    private func openItem(of operation: OperationID, _ direction: TrafficItem.Direction) -> Int? {
        var unseen = inProgress
        var index = store.items.count
        while unseen > 0, index > 0 {
            index -= 1
            let isOpen = store.items[index].state == .inProgress
            if isOpen { unseen -= 1 }
            guard store.items[index].operation == operation, store.items[index].direction == direction else { continue }
            return isOpen ? index : nil
        }
        return nil
    }

    /// Ends the item in progress of a sent operation, if it is still kept.
    package mutating func settle(_ operation: OperationID, error: String?, now: MonotonicTime) {
        guard let index = openItem(of: operation, .sent) else { return }
        inProgress -= 1
        version &+= 1
        store.change(index) { $0.state = error.map { .failed($0) } ?? .complete(after: now - $0.time) }
    }

    /// Adds a frame to the item of that operation, if it is in progress.
    package mutating func add(_ frame: WebSocketFrameRecord, to operation: OperationID) {
        guard let index = openItem(of: operation, .sent) else { return }
        version &+= 1
        store.change(index) { $0.webSocket?.add(frame) }
    }
}
