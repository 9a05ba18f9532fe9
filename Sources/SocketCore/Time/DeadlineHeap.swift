/// The sockets' deadlines: a binary heap that can contain outdated entries.
///
/// Postponing a deadline is the common case and costs nothing: the old entry stays and comes due early, and its owner
/// then supplies the real deadline. Only a deadline that moves closer adds an entry. Outdated entries are removed once
/// they could be half of all, so the heap stays within twice its use, or a few hundred entries.
package struct DeadlineHeap {
    private struct Entry {
        var time: MonotonicTime
        var socket: SocketID
    }

    private var entries: [Entry] = []
    /// The number of entries above which outdated ones are removed.
    private var crowd = DeadlineHeap.leastCrowd
    private static let leastCrowd = 256

    package init() {}

    /// The earliest deadline in the heap, which may be outdated, or `nil` if the heap is empty.
    package var earliest: MonotonicTime? { entries.first?.time }

    /// Adds a deadline for `socket` at `time`.
    package mutating func insert(_ time: MonotonicTime, _ socket: SocketID) {
        entries.append(Entry(time: time, socket: socket))
        var child = entries.count - 1
        while child > 0, entries[child].time < entries[(child - 1) / 2].time {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes one due entry and returns its socket, or returns `nil` if none is due.
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

    /// Removes entries that differ from the deadline that `current` returns for their socket, which is `nil` if the
    /// socket has none.
    package mutating func removeOutdated(current: (SocketID) -> MonotonicTime?) {
        var seen: Set<SocketID> = []
        entries.removeAll { current($0.socket) != $0.time || !seen.insert($0.socket).inserted }
        for parent in stride(from: entries.count / 2 - 1, through: 0, by: -1) { sink(from: parent) }
        crowd = max(Self.leastCrowd, entries.count * 2)
    }

    /// The number of entries, including outdated ones.
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
