/// What a program told of the traffic of the session that is watched, within the bounds that every program has.
struct MirroredTraffic: Sendable {
    private var items: [TrafficItem] = []
    private var dropped: UInt64 = 0

    /// The items kept, oldest first.
    var snapshot: TrafficSnapshot { TrafficSnapshot(items: items, dropped: dropped) }

    /// Takes what changed. Throws when its items do not ascend, as those of a program do.
    mutating func take(_ change: InspectionTraffic) throws(WireError) {
        guard zip(change.items, change.items.dropFirst()).allSatisfy({ $0.sequence < $1.sequence }) else {
            throw .malformed("items of traffic that do not ascend")
        }
        dropped = change.dropped
        merge(change.items, from: change.first)
        dropOldest()
    }

    /// Puts two ascending lists into one; of an item that is in both, the new one counts.
    private mutating func merge(_ new: [TrafficItem], from first: UInt64) {
        var merged: [TrafficItem] = []
        merged.reserveCapacity(items.count + new.count)
        var next = new.startIndex
        for item in items where item.sequence >= first {
            while next < new.endIndex, new[next].sequence < item.sequence {
                merged.append(new[next].plausible)
                next += 1
            }
            if next == new.endIndex || new[next].sequence != item.sequence { merged.append(item) }
        }
        for item in new[next...] { merged.append(item.plausible) }
        items = merged
    }

    /// Holds it to what a program keeps, so that one which claims to keep more is no danger.
    private mutating func dropOldest() {
        var bytes = items.reduce(0) { $0 + $1.bytes.count }
        var excess = 0
        while items.count - excess > TrafficLog.standardItems || bytes > TrafficLog.standardBytes {
            bytes -= items[excess].bytes.count
            excess += 1
        }
        guard excess > 0 else { return }
        items.removeFirst(excess)
        // Sequence numbers count all items of the session, so those before the first one are dropped.
        dropped = max(dropped, items.first?.sequence ?? dropped)
    }
}
