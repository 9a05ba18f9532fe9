import SocketCore

/// What a program sent of the watched session's traffic, within the viewer's own limits, because a program may claim to
/// keep any amount.
struct MirroredTraffic: Sendable {
    private var store = TrafficStore()
    private var dropped: UInt64 = 0
    /// Whether any traffic was received.
    private(set) var wasTold = false

    /// The items kept, oldest first.
    var snapshot: TrafficSnapshot {
        TrafficSnapshot(items: store.items, dropped: max(dropped, store.dropped))
    }

    /// The size of the kept items, in bytes.
    var cost: Int { store.cost }

    mutating func trim(to limit: Int) { store.makeRoom(limit, keepsLast: false) }

    /// Frees the memory of dropped items.
    mutating func compact() { store.compact() }

    /// Applies changes. Throws if their items are not in ascending order, as any program's are.
    mutating func absorb(_ change: InspectionTraffic) throws(WireError) {
        guard zip(change.items, change.items.dropFirst()).allSatisfy({ $0.sequence < $1.sequence }) else {
            throw .malformed("traffic items are not in ascending order")
        }
        wasTold = true
        dropped = change.dropped
        merge(change.items, from: change.first)
        store.makeRoom(TrafficLog.standardTotal)
    }

    /// Drops items that the program no longer keeps, and adds ascending items. A new item replaces one with the same
    /// number. The work is proportional to what is added and dropped, because a program resends items where it changed
    /// them, and appends others.
    private mutating func merge(_ new: [TrafficItem], from first: UInt64) {
        store.drop(before: first)
        for item in new where item.sequence >= first {
            let index = store.index(of: item.sequence)
            store.put(item.plausible, at: index)
            // The items that were dropped there are still kept here.
            for place in [index, index + 1] where store.isAfterItsPredecessor(place) {
                store.change(place) { $0.skipped = 0 }
            }
        }
    }
}
