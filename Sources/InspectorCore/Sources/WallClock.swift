import SocketCore

/// Converts instants of the engine's clock to times of day.
///
/// The two clocks are read one after the other, so their offset varies by microseconds between snapshots. The offset is
/// kept until it has really changed, so that the times on the screen don't vary with it.
package struct WallClock: Equatable, Sendable {
    private var distance: Int64?
    /// The change of the offset that counts as a step of the clock.
    private static let step: Int64 = 50_000_000

    package init() {}

    package mutating func absorb(_ snapshot: EngineSnapshot) {
        let now = snapshot.wallNanoseconds &- snapshot.time.nanoseconds
        if let distance, abs(now &- distance) < Self.step { return }
        distance = now
    }

    /// `14:02:10.911204`
    package func text(_ time: MonotonicTime) -> String {
        wallNanoseconds(time).map(Format.timeOfDay) ?? "--:--:--.------"
    }

    /// Returns nanoseconds since 1970 (UTC), or `nil` before the first snapshot.
    package func wallNanoseconds(_ time: MonotonicTime) -> Int64? {
        distance.map { time.nanoseconds &+ $0 }
    }
}

/// The rate of snapshots, over the last ten of them.
package struct Cadence: Equatable, Sendable {
    private var times: [MonotonicTime] = []

    package init() {}

    package mutating func absorb(_ time: MonotonicTime) {
        if let last = times.last, time <= last { return }
        times.append(time)
        if times.count > 11 { times.removeFirst() }
    }

    /// Snapshots per second, or `nil` before there were three.
    package var perSecond: Int? {
        guard times.count > 2, let first = times.first, let last = times.last else { return nil }
        let rate = Int(min(Double(times.count - 1) / (last - first).inSeconds, 9999) + 0.5)
        return rate > 0 ? rate : nil
    }
}
