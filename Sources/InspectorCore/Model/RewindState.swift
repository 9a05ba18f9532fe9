import SocketCore

/// What a user who has left the present looks at, and whether it plays. Times are of day, in nanoseconds since 1970.
package struct RewindState: Hashable, Sendable {
    /// The instant that is wanted.
    package internal(set) var instant: Int64
    /// Whether it goes on as time passes.
    package internal(set) var isPlaying = false
    /// How fast, as a power of two.
    private var exponent = 0
    /// Until when it has played, by the clock of this program.
    private var playedAt: MonotonicTime?

    private static let exponents = -4...8

    init(instant: Int64) { self.instant = instant }

    /// How fast it plays: `x1`, `x1/2`, `x16`.
    package var pace: String { exponent < 0 ? "x1/\(1 << -exponent)" : "x\(1 << exponent)" }

    mutating func changePace(_ step: Int) {
        exponent = min(max(exponent + step, Self.exponents.lowerBound), Self.exponents.upperBound)
    }

    mutating func togglePlaying() {
        isPlaying.toggle()
        playedAt = nil
    }

    /// Goes on by the time that has passed, and stops at the end.
    mutating func play(until now: MonotonicTime, in moment: SnapshotMoment) {
        guard isPlaying else { return }
        defer { playedAt = now }
        guard let playedAt, now > playedAt else { return }
        // Longer pauses are those of a program that was stopped.
        let passed = min((now - playedAt).wholeNanoseconds, 1_000_000_000)
        let played = exponent < 0 ? passed >> -exponent : passed << exponent
        instant = min(instant + played, moment.last)
        isPlaying = instant < moment.last
    }
}
