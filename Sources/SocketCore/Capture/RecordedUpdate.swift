/// What one snapshot adds to a recording of ours, read from a file or kept in memory.
struct RecordedUpdate: Sendable {
    var frames: [InspectionFrame]
    var tick: InspectionTick

    /// The events that it tells, in their order.
    var events: [SocketEvent] {
        frames.flatMap { frame -> [SocketEvent] in if case .events(let events) = frame { events } else { [] } }
    }
}

/// States of a recording that were passed on the way to an instant, from another one on: the latest, as many as a viewer
/// can look through at once.
package struct PassedSnapshots: Sendable {
    /// From when on they are wanted.
    private let start: MonotonicTime
    private var kept: [EngineSnapshot] = []
    private var head = 0
    /// Sockets in all of them.
    private var sockets = 0

    /// How far back a viewer looks: rates are shown of a minute.
    package static let span = Duration.seconds(60)
    /// Sockets in all of them, at most.
    private static let limit = 30_000

    package init(before instant: MonotonicTime) { start = instant + (.zero - Self.span) }

    /// Oldest first.
    var snapshots: [EngineSnapshot] { Array(kept[head...]) }

    mutating func append(_ snapshot: EngineSnapshot?) {
        guard let snapshot, snapshot.time >= start else { return }
        kept.append(snapshot)
        sockets += snapshot.sockets.count + 1
        while sockets > Self.limit, head < kept.count {
            sockets -= kept[head].sockets.count + 1
            kept[head].sockets = []
            head += 1
        }
    }
}
