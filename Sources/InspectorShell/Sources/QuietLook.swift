import SocketKit

/// The last look at all sockets with their kernel state. If there are many and nothing has happened since, it answers
/// the next looks too, for a second or longer, so that sockets that do nothing cost nothing ten times a second.
package final class QuietLook: Sendable {
    private let last = Lock<EngineSnapshot?>(nil)
    private let many: Int
    private let freshness: Duration

    /// The number of sockets above which looks are repeated.
    package static let many = 500
    /// How long a look is repeated for each socket, and at most: so much longer than the look itself takes that looks
    /// take a few percent of the time.
    private static let share = Duration.microseconds(200)
    /// How old the kernel's state of an idle connection may be among many.
    package static let limit = Duration.seconds(5)

    /// `many` is the number of sockets above which looks are repeated, and `freshness` for how long at least.
    package init(many: Int = QuietLook.many, freshness: Duration = .seconds(1)) {
        (self.many, self.freshness) = (many, freshness)
    }

    /// Returns the last look if it is still the answer, or `nil` if sockets must be asked. `nextEvent` is the number of
    /// the engine's next event.
    package func answer(_ request: SnapshotRequest, _ nextEvent: UInt64, _ now: MonotonicTime) -> EngineSnapshot? {
        guard Self.isOfAll(request), request.eventsFrom == nextEvent, var look = last.withLock({ $0 }),
            look.nextEvent == nextEvent,
            now - look.time < max(freshness, min(Self.limit, Self.share * look.sockets.count))
        else { return nil }
        (look.events, look.eventsLost) = ([], 0)
        return look
    }

    package func keep(_ snapshot: EngineSnapshot, for request: SnapshotRequest) {
        guard Self.isOfAll(request) else { return }
        last.withLock { $0 = snapshot.sockets.count > many ? snapshot : nil }
    }

    private static func isOfAll(_ request: SnapshotRequest) -> Bool {
        request.kernel == .all && request.traffic == nil && request.changes == nil && request.trafficVersions == nil
    }
}
