/// What a program told of the traffic of the session that is watched, within bounds of its own: a program may claim to
/// keep any amount.
struct MirroredTraffic: Sendable {
    private var store = TrafficStore()
    private var dropped: UInt64 = 0
    /// Whether anything was told.
    private(set) var wasTold = false

    /// The items kept, oldest first.
    var snapshot: TrafficSnapshot {
        TrafficSnapshot(items: store.items, dropped: max(dropped, store.dropped))
    }

    /// Takes what changed. Throws when its items do not ascend, as those of a program do.
    mutating func take(_ change: InspectionTraffic) throws(WireError) {
        guard zip(change.items, change.items.dropFirst()).allSatisfy({ $0.sequence < $1.sequence }) else {
            throw .malformed("items of traffic that do not ascend")
        }
        wasTold = true
        dropped = change.dropped
        merge(change.items, from: change.first)
        store.makeRoom(TrafficLog.standardTotal)
    }

    /// Puts two ascending lists into one; of an item that is in both, the new one counts.
    private mutating func merge(_ new: [TrafficItem], from first: UInt64) {
        let items = store.items
        guard !new.isEmpty || items.first.map({ $0.sequence < first }) == true else { return }
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
        // What was dropped there is still here.
        for index in merged.indices.dropFirst() where merged[index - 1].sequence + 1 == merged[index].sequence {
            merged[index].skipped = 0
        }
        store.replace(merged)
    }
}
