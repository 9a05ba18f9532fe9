import SocketCore

/// How much of one session's traffic a viewer has received.
struct ToldTraffic: Sendable {
    /// Items from this sequence number on are new to the viewer.
    private var next: UInt64 = 0
    /// The progress of items before `next` that were incomplete when they were sent.
    private var open: [UInt64: Int] = [:]
    /// The number of dropped items that the viewer knows of.
    private(set) var dropped: UInt64 = 0

    /// The maximum number of bytes sent from each end of a message. A frame of the wire holds one mebibyte.
    static let edge = 128 << 10

    /// Adds items that are new or have grown, up to about `most` bytes. Returns whether no more are left.
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

    /// Returns the index of the first item from a sequence number on.
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
