import SocketCore

/// Decides when to scan all processes, a few at a time, for the owners of sockets.
///
/// A socket can be passed to a process that was scanned before, so rounds repeat. A round starts at once if the owner
/// of a new socket is unknown, or if a socket stalled after the last round started, so that the wrong process is not
/// blamed.
struct ScanRounds {
    /// The processes still to scan in the current round, in reverse order.
    private var pending: [Int32] = []
    private var nextRound = MonotonicTime.zero
    /// The time that the current round has taken.
    private var cost = Duration.zero
    /// The number of rounds started.
    private var count = 0
    /// Sockets that appeared since the last round started.
    private var newcomers: Set<UInt64> = []
    /// The stalled sockets. `round` is the number of rounds started when the stall was first seen or its owner was
    /// lost.
    private var stalled: [UInt64: (round: Int, isOwned: Bool)] = [:]

    /// The pause before the next round, which is at least `leastPause` and `pauseFactor` times the last round's
    /// duration. Scanning thus uses at most 2 % of a core.
    private static let leastPause = Duration.seconds(5)
    private static let pauseFactor = 50

    static func pause(after cost: Duration) -> Duration { max(leastPause, cost * pauseFactor) }

    var isUnderWay: Bool { !pending.isEmpty }

    mutating func absorb(new inodes: Set<UInt64>) { newcomers.formUnion(inodes) }

    /// - Parameter inodes: Inodes of the stalled sockets, a subset of all requested ones.
    mutating func absorb(stalled inodes: Set<UInt64>, of all: Set<UInt64>, isOwned: (UInt64) -> Bool) {
        stalled = stalled.filter { all.contains($0.key) }
        for inode in inodes {
            let isOwned = isOwned(inode)
            let known = stalled[inode].flatMap { $0.isOwned && !isOwned ? nil : $0.round }
            stalled[inode] = (known ?? count, isOwned)
        }
    }

    /// Whether the next round must start.
    func isDue(_ now: MonotonicTime, isOwned: (UInt64) -> Bool) -> Bool {
        guard pending.isEmpty else { return false }
        return now >= nextRound || newcomers.contains { !isOwned($0) }
            || stalled.values.contains { $0.round == count }
    }

    mutating func begin(_ processes: some Sequence<Int32>) {
        pending = processes.sorted(by: >)
        (cost, newcomers) = (.zero, [])
        count += 1
    }

    mutating func next() -> Int32? { pending.popLast() }

    /// Adds the time spent on the round. If the round is finished, schedules the next one.
    mutating func pause(from began: MonotonicTime, until end: MonotonicTime) {
        cost += end - began
        if pending.isEmpty { nextRound = end + Self.pause(after: cost) }
    }
}
