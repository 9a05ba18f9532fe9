/// Places in a file from which it can be read on: copies of the state there. The state at any instant is made from the last
/// one before it.
///
/// Their distance and what they keep of the traffic are such that they fit into a budget: at first they are far apart
/// enough, then close ones are dropped up to a distance that is soon read, and in the end each keeps less traffic.
package struct CaptureIndex: Sendable {
    private struct Checkpoint: Sendable {
        var capture: OpenedCapture
        var cost: Int
    }

    /// The distance at first, and the one up to which places are dropped rather than their traffic.
    package static let firstDistance: UInt64 = 1 << 20
    private static let farDistance: UInt64 = 16 << 20
    /// Instants of events that are kept.
    package static let instantLimit = 4 << 20

    private var checkpoints: [Checkpoint]
    private var distance: UInt64
    private let budget: Int
    private var instants = EventInstants()
    private let beginning: OpenedCapture

    /// `beginning`: the state before the first byte; `budget`: about the bytes that all places take; `distance`: of one
    /// place from the next, at first.
    package init(_ beginning: OpenedCapture, budget: Int = 32 << 20, distance: UInt64 = Self.firstDistance) {
        self.distance = distance
        self.beginning = beginning
        self.budget = budget
        checkpoints = []
    }

    /// How many places there are, the beginning apart.
    package var count: Int { checkpoints.count }

    /// Looks at the state after more of the file was read.
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

    /// About the memory that they take.
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

    /// The state from which what was at an instant is soonest made.
    package func capture(before instant: MonotonicTime) -> OpenedCapture {
        var (low, high) = (0, checkpoints.count)
        while low < high {
            let middle = (low + high) / 2
            if checkpoints[middle].capture.latest <= instant { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? checkpoints[low - 1].capture : beginning
    }

    /// When the last event before an instant was, and the first after it.
    package func neighbors(of instant: MonotonicTime) -> (previous: MonotonicTime?, next: MonotonicTime?) {
        instants.neighbors(of: instant)
    }

    /// The state from which what was at an instant, and what was shown before it, is made: a minute before, where so little
    /// of the file is in between that it is read in no time.
    package func capture(withHistoryBefore instant: MonotonicTime) -> OpenedCapture {
        let nearest = capture(before: instant)
        let early = capture(before: instant + (.zero - PassedSnapshots.span))
        return nearest.length - early.length <= Self.historyLimit ? early : nearest
    }

    private static let historyLimit: UInt64 = 8 << 20
}
