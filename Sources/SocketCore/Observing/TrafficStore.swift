/// Items of one session's traffic, within a limit of bytes.
///
/// When it is full, long messages lose their middle first: the costliest run of items in one direction keeps its beginning
/// and its end. So a large answer never pushes out the conversation before it. Where no run is long, the oldest items go.
package struct TrafficStore: Sendable {
    /// Oldest first, ascending by sequence number; a gap in the numbers is of items that were dropped.
    package private(set) var items: [TrafficItem] = []
    /// What the items count: their bytes, and `itemCost` each.
    package private(set) var cost = 0
    /// Items dropped so far.
    package private(set) var dropped: UInt64 = 0
    /// What an item counts beside its bytes: about what it takes up.
    private let itemCost: Int

    /// What an item counts beside its bytes, unless said otherwise.
    package static let standardItemCost = 1_024

    /// An empty store.
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

    /// Drops the items before a sequence number, uncounted.
    package mutating func drop(before sequence: UInt64) {
        let count = index(of: sequence)
        guard count > 0 else { return }
        for item in items[..<count] { cost -= cost(of: item) }
        items.removeFirst(count)
    }

    /// Where the item of a sequence number is, or belongs. Looks at the last one first, since most are for after it.
    package func index(of sequence: UInt64) -> Int {
        guard let last = items.last, last.sequence >= sequence else { return items.count }
        var (low, high) = (0, items.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Puts an item where `index(of:)` says, in the place of the one of that number, if there is one.
    package mutating func put(_ item: TrafficItem, at index: Int) {
        if items.indices.contains(index), items[index].sequence == item.sequence {
            change(index) { $0 = item }
        } else {
            items.insert(item, at: index)
            cost += cost(of: item)
        }
    }

    /// Whether an item is there, and the one before it has the number before its own.
    package func isAfterItsPredecessor(_ index: Int) -> Bool {
        items.indices.contains(index) && index > 0 && items[index].sequence - 1 == items[index - 1].sequence
    }

    /// Counts items as dropped that are not even added.
    package mutating func passOver(_ count: Int) { dropped += UInt64(max(0, count)) }

    /// How many bytes of the beginning, and of the end, of a long message are kept in any case.
    package static func edge(_ limit: Int) -> Int { limit / 64 }

    /// Drops what does not fit into `limit`, and an eighth more, so that there is room for a while. The last item stays
    /// unless `keepsLast` is false.
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

    /// Gives back the room of items that were dropped: an array keeps it, also where it is copied to be changed.
    package mutating func compact() {
        var fresh: [TrafficItem] = []
        fresh.reserveCapacity(items.count)
        fresh += items
        items = fresh
    }

    private func cost(of item: TrafficItem) -> Int { item.keptBytes + itemCost }

    /// The items in one direction, one after another, that count most; nil: none count more than `least`.
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

    /// Drops items of a run after its first ones, oldest first; the last ones stay.
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
