import SocketCore

/// Checkpoints of a file: copies of the state at positions from which reading can continue. The state at any instant is
/// rebuilt from the last checkpoint before it.
///
/// Checkpoints must fit into a budget. When they exceed it, every second one is dropped until their distance reaches a
/// limit that is still quick to read. After that, each keeps less traffic.
package struct CaptureIndex: Sendable {
    private struct Checkpoint: Sendable {
        var capture: OpenedCapture
        var cost: Int
    }

    /// The distance at first, and the distance from which on traffic is dropped instead of checkpoints.
    package static let firstDistance: UInt64 = 1 << 20
    private static let farDistance: UInt64 = 16 << 20
    /// The most instants of events that are kept.
    package static let instantLimit = 4 << 20

    private var checkpoints: [Checkpoint]
    private var distance: UInt64
    private let budget: Int
    private var instants = EventInstants()
    private let beginning: OpenedCapture

    /// Creates an index. `beginning` is the state before the first byte, `budget` the approximate number of bytes that
    /// all checkpoints can take, and `distance` the distance between checkpoints at first.
    package init(_ beginning: OpenedCapture, budget: Int = 32 << 20, distance: UInt64 = Self.firstDistance) {
        self.distance = distance
        self.beginning = beginning
        self.budget = budget
        checkpoints = []
    }

    /// The number of checkpoints, without the beginning.
    package var count: Int { checkpoints.count }

    /// Records the state after more of the file was read.
    package mutating func note(_ capture: inout OpenedCapture) {
        instants.add(capture.instants ?? [], limit: Self.instantLimit)
        if capture.instants != nil { capture.instants = [] }
        guard capture.length - (checkpoints.last?.capture.length ?? 0) >= distance, capture.start != nil else { return }
        var copy = capture
        copy.instants = nil
        copy.compact()
        checkpoints.append(Checkpoint(capture: copy, cost: copy.cost))
        if cost > budget { makeRoom() }
    }

    /// The approximate memory that the checkpoints take, in bytes.
    package var cost: Int { checkpoints.reduce(0) { $0 + $1.cost } }

    private mutating func makeRoom() {
        while cost > budget, distance < Self.farDistance { dropEverySecond() }
        while cost > budget, !checkpoints.isEmpty {
            let share = EvenShare.level(checkpoints.map(\.cost), sum: budget - budget / 4)
            for index in checkpoints.indices where checkpoints[index].cost > share {
                checkpoints[index].capture.shrink(to: share)
                checkpoints[index].cost = checkpoints[index].capture.cost
            }
            if cost > budget { dropEverySecond() }
        }
    }

    private mutating func dropEverySecond() {
        checkpoints = checkpoints.indices.filter { $0 % 2 == 1 }.map { checkpoints[$0] }
        distance *= 2
    }

    /// Returns the state from which the state at an instant is rebuilt fastest.
    package func capture(before instant: MonotonicTime) -> OpenedCapture {
        var (low, high) = (0, checkpoints.count)
        while low < high {
            let middle = (low + high) / 2
            if checkpoints[middle].capture.latest <= instant { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? checkpoints[low - 1].capture : beginning
    }

    /// Returns the instants of the last event before an instant and of the first one after it.
    package func neighbors(of instant: MonotonicTime) -> (previous: MonotonicTime?, next: MonotonicTime?) {
        instants.neighbors(of: instant)
    }

    /// Returns the state from which the state at an instant is rebuilt with its recent history: that of a minute
    /// before, unless too much of the file is in between to read it quickly.
    package func capture(withHistoryBefore instant: MonotonicTime) -> OpenedCapture {
        let nearest = capture(before: instant)
        let early = capture(before: instant + (.zero - PassedSnapshots.span))
        return nearest.length - early.length <= Self.historyLimit ? early : nearest
    }

    private static let historyLimit: UInt64 = 8 << 20
}
