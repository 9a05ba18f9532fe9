/// How much of one session's traffic a viewer was told.
struct ToldTraffic: Sendable {
    /// Items from this one on are new to it.
    private var next: UInt64 = 0
    /// Those before `next` that were in progress when they were told, and how far each was.
    private var open: [UInt64: Int] = [:]
    /// How many dropped items it was told of.
    private(set) var dropped: UInt64 = 0

    /// Of a message, at most the first and the last so many bytes are told: a frame of the wire holds a mebibyte.
    static let edge = 128 << 10

    /// Adds the items that are new, or have grown, until they come to `most` bytes; whether there are no more.
    mutating func takeNews(
        of traffic: TrafficSnapshot, into news: inout [TrafficItem], most: Int, edge: Int = edge
    ) -> Bool {
        dropped = traffic.dropped
        let first = min(open.keys.min() ?? next, next)
        var size = 0
        for index in start(of: first, in: traffic.items)..<traffic.items.count {
            let item = traffic.items[index]
            guard isNews(item) else { continue }
            guard size == 0 || size + item.keptBytes <= most else { return false }
            var told = item
            told.shrink(to: edge)
            news.append(told)
            size += told.keptBytes + TrafficStore.standardItemCost / 4
            open[item.sequence] = item.state == .inProgress ? item.done : nil
            next = max(next, item.sequence + 1)
        }
        if !open.isEmpty, let oldest = traffic.items.first?.sequence { open = open.filter { $0.key >= oldest } }
        return true
    }

    private func isNews(_ item: TrafficItem) -> Bool {
        guard item.sequence < next else { return true }
        guard let done = open[item.sequence] else { return false }
        return done != item.done || item.state != .inProgress
    }

    /// Where the items from a sequence number on begin.
    private func start(of sequence: UInt64, in items: [TrafficItem]) -> Int {
        var low = 0
        var high = items.count
        while low < high {
            let middle = (low + high) / 2
            if items[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
