/// Who wants to be woken when: a binary heap that may hold outdated entries.
///
/// Putting a deadline off is the common case and costs nothing: the old entry stays, comes up early, and its owner
/// says when it really wants to be woken. Only a deadline that moved closer is entered anew. Outdated
/// entries are removed when they could be half of all, so the heap stays within twice its use, or a few hundred entries.
package struct DeadlineHeap {
    private struct Entry {
        var time: MonotonicTime
        var socket: SocketID
    }

    private var entries: [Entry] = []
    /// Entries at which the outdated ones are worth looking for.
    private var crowd = DeadlineHeap.leastCrowd
    private static let leastCrowd = 256

    package init() {}

    /// The earliest time at which somebody may want to be woken; nil: nobody does.
    package var earliest: MonotonicTime? { entries.first?.time }

    /// Asks for a wake-up of `socket` at `time`.
    package mutating func insert(_ time: MonotonicTime, _ socket: SocketID) {
        entries.append(Entry(time: time, socket: socket))
        var child = entries.count - 1
        while child > 0, entries[child].time < entries[(child - 1) / 2].time {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes out one entry that is due; nil when none is.
    package mutating func popDue(_ now: MonotonicTime) -> SocketID? {
        guard let first = entries.first, first.time <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return first.socket
    }

    /// Whether it is time to remove outdated entries.
    package var isCrowded: Bool { entries.count > crowd }

    /// Removes entries that are not the one that `current` gives for their socket; nil: that socket wants none.
    package mutating func removeOutdated(current: (SocketID) -> MonotonicTime?) {
        var seen: Set<SocketID> = []
        entries.removeAll { current($0.socket) != $0.time || !seen.insert($0.socket).inserted }
        for parent in stride(from: entries.count / 2 - 1, through: 0, by: -1) { sink(from: parent) }
        crowd = max(Self.leastCrowd, entries.count * 2)
    }

    /// How many entries there are, outdated ones included.
    package var count: Int { entries.count }

    private mutating func sink(from start: Int = 0) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child].time < entries[least].time { least = child }
            }
            guard least != parent else { return }
            entries.swapAt(least, parent)
            parent = least
        }
    }
}
