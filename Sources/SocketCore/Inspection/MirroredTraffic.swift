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

    /// What it keeps, in bytes.
    var cost: Int { store.cost }

    /// Drops what goes beyond a limit.
    mutating func trim(to limit: Int) { store.makeRoom(limit, keepsLast: false) }

    /// Gives back the room of what was dropped.
    mutating func compact() { store.compact() }

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

    /// Drops what the program keeps no more, and adds ascending items; of an item that is here already, the new one
    /// counts. The work is that of what comes and goes: a program sends items once more where it changed them, and others
    /// after all that it has sent.
    private mutating func merge(_ new: [TrafficItem], from first: UInt64) {
        store.drop(before: first)
        for item in new where item.sequence >= first {
            let index = store.index(of: item.sequence)
            store.put(item.plausible, at: index)
            // What was dropped there is still here.
            for place in [index, index + 1] where store.isAfterItsPredecessor(place) {
                store.change(place) { $0.skipped = 0 }
            }
        }
    }
}
