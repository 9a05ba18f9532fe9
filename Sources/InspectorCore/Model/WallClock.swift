import SocketCore

/// Turns instants of the engine's clock into times of day.
///
/// The two clocks are read one after the other, so their distance trembles by microseconds from snapshot to snapshot;
/// it is kept until it has really changed, lest every time on the screen trembles with it.
package struct WallClock: Hashable, Sendable {
    private var distance: Int64?
    /// A change of the distance that is a step of the clock and no tremble.
    private static let step: Int64 = 50_000_000

    package init() {}

    package mutating func take(_ snapshot: EngineSnapshot) {
        let now = snapshot.wallNanoseconds &- snapshot.time.nanoseconds
        if let distance, abs(now &- distance) < Self.step { return }
        distance = now
    }

    /// `14:02:10.911204`
    package func text(_ time: MonotonicTime) -> String {
        wallNanoseconds(time).map(Format.timeOfDay) ?? "--:--:--.------"
    }

    /// Nanoseconds since 1970 (UTC); nil before the first snapshot.
    package func wallNanoseconds(_ time: MonotonicTime) -> Int64? {
        distance.map { time.nanoseconds &+ $0 }
    }
}

/// How often snapshots come, over the last ten of them.
package struct Cadence: Hashable, Sendable {
    private var times: [MonotonicTime] = []

    package init() {}

    package mutating func take(_ time: MonotonicTime) {
        if let last = times.last, time <= last { return }
        times.append(time)
        if times.count > 11 { times.removeFirst() }
    }

    /// Snapshots a second; nil before there were three.
    package var perSecond: Int? {
        guard times.count > 2, let first = times.first, let last = times.last else { return nil }
        let rate = Int(min(Double(times.count - 1) / (last - first).inSeconds, 9999) + 0.5)
        return rate > 0 ? rate : nil
    }
}
