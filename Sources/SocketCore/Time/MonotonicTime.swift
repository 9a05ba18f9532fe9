/// An instant on the engine's monotonic clock, in nanoseconds from that clock's own zero.
///
/// It is a plain value that is passed along, so that pure code never reads a clock.
public struct MonotonicTime: Hashable, Sendable, Comparable {
    /// Nanoseconds since the clock's zero.
    public let nanoseconds: Int64

    /// Creates the instant `nanoseconds` after the clock's zero.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The clock's zero.
    public static let zero = MonotonicTime(nanoseconds: 0)

    /// Orders instants from earlier to later.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns the instant `interval` later, clamped to what fits.
    public static func + (time: MonotonicTime, interval: Duration) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(interval.wholeNanoseconds)
        return MonotonicTime(nanoseconds: overflow ? (interval < .zero ? .min : .max) : sum)
    }

    /// Returns the time from `right` to `left`, which is negative if `right` is later.
    public static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to 64 bits (292 years).
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration in seconds.
    public var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
}
