import SocketKit

/// Retains the last snapshots until newer ones arrive, so that the many small parts of a large one are released on the
/// thread that makes them and not on the one that draws.
package final class FormerSnapshots: Sendable {
    private let snapshots = Lock<[EngineSnapshot]>([])

    package func keep(_ snapshot: EngineSnapshot) {
        // The first of three is no longer on the screen: the second one was taken before the third was requested.
        let released = snapshots.withLock { snapshots -> EngineSnapshot? in
            snapshots.append(snapshot)
            return snapshots.count > 2 ? snapshots.removeFirst() : nil
        }
        _ = released
    }
}
