import SocketCore

/// The past instant that is shown, and whether it is played. Times are times of day, in nanoseconds since 1970.
package struct RewindState: Equatable, Sendable {
    /// The requested instant.
    package internal(set) var instant: Int64
    /// Whether it advances with time.
    package internal(set) var isPlaying = false
    /// The speed, as a power of two.
    private var exponent = 0
    /// The time up to which it has played, by this program's clock.
    private var playedAt: MonotonicTime?

    private static let exponents = -4...8

    init(instant: Int64) { self.instant = instant }

    /// The speed: `x1`, `x1/2`, `x16`.
    package var pace: String { exponent < 0 ? "x1/\(1 << -exponent)" : "x\(1 << exponent)" }

    mutating func changePace(_ step: Int) {
        exponent = min(max(exponent + step, Self.exponents.lowerBound), Self.exponents.upperBound)
    }

    mutating func togglePlaying() {
        isPlaying.toggle()
        playedAt = nil
    }

    /// Advances by the time that has passed, and stops at the end.
    mutating func play(until now: MonotonicTime, in moment: SnapshotMoment) {
        guard isPlaying else { return }
        defer { playedAt = now }
        guard let playedAt, now > playedAt else { return }
        // A longer pause means that the program was stopped.
        let passed = min((now - playedAt).wholeNanoseconds, 1_000_000_000)
        let played = exponent < 0 ? passed >> -exponent : passed << exponent
        instant = min(instant + played, moment.last)
        isPlaying = instant < moment.last
    }
}
