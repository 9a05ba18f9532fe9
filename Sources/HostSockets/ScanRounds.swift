import SocketCore

/// When all processes are looked at, a few at a time, for who has which socket open.
///
/// A socket may be handed to a process that was looked at before. So a round begins again and again; at once where the
/// owner of a new socket is not known, and where something stands in a socket for which no round has begun, so that nobody
/// is accused in another's place.
struct ScanRounds {
    /// Processes of the round under way that it has not come to, in reverse order.
    private var pending: [Int32] = []
    private var nextRound = MonotonicTime.zero
    /// What the one under way has taken.
    private var cost = Duration.zero
    /// How many have begun.
    private var count = 0
    /// Sockets that were new since the last one began.
    private var newcomers: Set<UInt64> = []
    /// Sockets that something stands in: how many rounds had begun when that was first seen, or their owner was lost.
    private var standing: [UInt64: (round: Int, isOwned: Bool)] = [:]

    /// How long it is until the next one at least, and so many times what one took: 2 % of a core.
    private static let leastPause = Duration.seconds(5)
    private static let pauseFactor = 50

    static func pause(after cost: Duration) -> Duration { max(leastPause, cost * pauseFactor) }

    var isUnderWay: Bool { !pending.isEmpty }

    mutating func take(new inodes: Set<UInt64>) { newcomers.formUnion(inodes) }

    /// - Parameter inodes: in which something stands, some of all those that are asked for.
    mutating func take(standing inodes: Set<UInt64>, of all: Set<UInt64>, isOwned: (UInt64) -> Bool) {
        standing = standing.filter { all.contains($0.key) }
        for inode in inodes {
            let isOwned = isOwned(inode)
            let known = standing[inode].flatMap { $0.isOwned && !isOwned ? nil : $0.round }
            standing[inode] = (known ?? count, isOwned)
        }
    }

    /// Whether it is time for the next one.
    func isDue(_ now: MonotonicTime, isOwned: (UInt64) -> Bool) -> Bool {
        guard pending.isEmpty else { return false }
        return now >= nextRound || newcomers.contains { !isOwned($0) }
            || standing.values.contains { $0.round == count }
    }

    mutating func begin(_ processes: some Sequence<Int32>) {
        pending = processes.sorted(by: >)
        (cost, newcomers) = (.zero, [])
        count += 1
    }

    mutating func next() -> Int32? { pending.popLast() }

    /// So much of it was done; where that was all, the next one has its time.
    mutating func pause(from began: MonotonicTime, until end: MonotonicTime) {
        cost += end - began
        if pending.isEmpty { nextRound = end + Self.pause(after: cost) }
    }
}
