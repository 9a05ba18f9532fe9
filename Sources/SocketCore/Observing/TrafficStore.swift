/// Items of one session's traffic, within a limit of bytes.
///
/// When it is full, long messages lose their middle first: the most expensive run of items in one direction keeps its
/// start and its end. A large answer therefore never pushes out the conversation before it. If no run is long, the
/// oldest items are dropped.
package struct TrafficStore: Sendable {
    /// The items, oldest first, in ascending order of sequence number. A gap in the numbers means that items were
    /// dropped.
    package private(set) var items: [TrafficItem] = []
    /// The total cost of the items: their bytes, and `itemCost` each.
    package private(set) var cost = 0
    /// The number of items dropped so far.
    package private(set) var dropped: UInt64 = 0
    /// The cost of an item in addition to its bytes, about the memory that it uses.
    private let itemCost: Int

    /// The default cost of an item in addition to its bytes.
    package static let standardItemCost = 1_024

    /// Creates an empty store.
    package init(itemCost: Int = standardItemCost) { self.itemCost = itemCost }

    /// Adds an item after all others.
    package mutating func append(_ item: TrafficItem) {
        items.append(item)
        cost += item.keptBytes + itemCost
    }

    /// Changes an item in place.
    package mutating func change(_ index: Int, _ change: (inout TrafficItem) -> Void) {
        let before = items[index].keptBytes
        change(&items[index])
        cost += items[index].keptBytes - before
    }

    /// Drops the items before a sequence number, without counting them.
    package mutating func drop(before sequence: UInt64) {
        let count = index(of: sequence)
        guard count > 0 else { return }
        for item in items[..<count] { cost -= cost(of: item) }
        items.removeFirst(count)
    }

    /// Returns the index of the item with this sequence number, or where it belongs. Checks the last item first,
    /// because most numbers come after it.
    package func index(of sequence: UInt64) -> Int {
        guard let last = items.last, last.sequence >= sequence else { return items.count }
        var (low, high) = (0, items.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Puts an item at the index from `index(of:)`, replacing the one with its sequence number, if there is one.
    package mutating func put(_ item: TrafficItem, at index: Int) {
        if items.indices.contains(index), items[index].sequence == item.sequence {
            change(index) { $0 = item }
        } else {
            items.insert(item, at: index)
            cost += cost(of: item)
        }
    }

    /// Whether there is an item at `index` and the one before it has the preceding sequence number.
    package func isAfterItsPredecessor(_ index: Int) -> Bool {
        items.indices.contains(index) && index > 0 && items[index].sequence - 1 == items[index - 1].sequence
    }

    /// Counts items as dropped that were never added.
    package mutating func passOver(_ count: Int) { dropped += UInt64(max(0, count)) }

    /// The number of bytes that a long message always keeps, both at its start and at its end.
    package static func edge(_ limit: Int) -> Int { limit / 64 }

    /// Drops what exceeds `limit`, and an eighth more to leave some room. The last item stays unless `keepsLast` is
    /// `false`.
    package mutating func makeRoom(_ limit: Int, keepsLast: Bool = true) {
        guard cost > limit else { return }
        let goal = limit - limit / 8
        while cost > goal, let run = costliestRun(above: limit / 8) {
            let before = cost
            shrinkItems(of: run, to: Self.edge(limit), goal)
            if cost > goal { dropMiddle(of: run, edge: Self.edge(limit), goal) }
            guard cost < before else { break }
        }
        dropOldest(goal, keepsLast: keepsLast)
    }

    /// Releases the memory of dropped items, which an array keeps, even in a copy made for a change.
    package mutating func compact() {
        var fresh: [TrafficItem] = []
        fresh.reserveCapacity(items.count)
        fresh += items
        items = fresh
    }

    private func cost(of item: TrafficItem) -> Int { item.keptBytes + itemCost }

    /// Returns the most expensive run of items in one direction, or `nil` if none costs more than `least`.
    private func costliestRun(above least: Int) -> Range<Int>? {
        var best: Range<Int>?
        var most = least
        var start = 0
        var sum = 0
        for index in items.indices {
            if items[index].direction != items[start].direction { (start, sum) = (index, 0) }
            sum += cost(of: items[index])
            if sum > most { (best, most) = (start..<(index + 1), sum) }
        }
        return best
    }

    private mutating func shrinkItems(of run: Range<Int>, to edge: Int, _ goal: Int) {
        for index in run where items[index].keptBytes > 2 * edge && items[index].state != .inProgress {
            guard cost > goal else { return }
            change(index) { $0.shrink(to: edge) }
        }
    }

    /// Drops items in the middle of a run, oldest first. The first and the last ones stay.
    private mutating func dropMiddle(of run: Range<Int>, edge: Int, _ goal: Int) {
        var first = run.lowerBound
        var last = run.upperBound
        var sum = 0
        while first < last, sum < max(1, edge) {
            sum += cost(of: items[first])
            first += 1
        }
        sum = 0
        while first < last, sum < max(1, edge) {
            last -= 1
            sum += cost(of: items[last])
        }
        var end = first
        var bytes: UInt64 = 0
        while end < last, cost > goal, items[end].state != .inProgress {
            cost -= cost(of: items[end])
            bytes = bytes.saturatingAdd(UInt64(max(0, items[end].done))).saturatingAdd(items[end].skipped)
            end += 1
        }
        guard end > first else { return }
        items[end].skipped = items[end].skipped.saturatingAdd(bytes)
        dropped += UInt64(end - first)
        items.removeSubrange(first..<end)
    }

    private mutating func dropOldest(_ goal: Int, keepsLast: Bool) {
        let most = items.count - (keepsLast ? 1 : 0)
        var count = 0
        while count < most, cost > goal {
            cost -= cost(of: items[count])
            count += 1
        }
        guard count > 0 else { return }
        dropped += UInt64(count)
        items.removeFirst(count)
    }
}
