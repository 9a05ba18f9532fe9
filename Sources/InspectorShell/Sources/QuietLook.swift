import SocketKit

/// The last look at all sockets with their kernel state. If there are many and nothing has happened since, it answers
/// the next looks too, so that sockets that do nothing cost little: for a second, and a second more for each 2,000 of
/// them, but never longer than five.
package final class QuietLook: Sendable {
    private let last = Lock<EngineSnapshot?>(nil)
    private let many: Int
    private let freshness: Duration

    /// `many` is the number of sockets above which looks are repeated, and `freshness` for how long at least.
    package init(many: Int = 500, freshness: Duration = .seconds(1)) {
        (self.many, self.freshness) = (many, freshness)
    }

    /// Returns the last look if it is still the answer, or `nil` if sockets must be asked. `nextEvent` is the number of
    /// the engine's next event.
    package func answer(_ request: SnapshotRequest, _ nextEvent: UInt64, _ now: MonotonicTime) -> EngineSnapshot? {
        guard Self.isOfAll(request), request.eventsFrom == nextEvent, var look = last.withLock({ $0 }),
            look.nextEvent == nextEvent, now - look.time < freshness(of: look.sockets.count)
        else { return nil }
        (look.events, look.eventsLost) = ([], 0)
        return look
    }

    package func keep(_ snapshot: EngineSnapshot, for request: SnapshotRequest) {
        guard Self.isOfAll(request) else { return }
        last.withLock { $0 = snapshot.sockets.count > many ? snapshot : nil }
    }

    private func freshness(of count: Int) -> Duration { freshness * min(5, 1 + count / 2_000) }

    private static func isOfAll(_ request: SnapshotRequest) -> Bool {
        request.kernel == .all && request.traffic == nil && request.changes == nil && request.trafficVersions == nil
    }
}
