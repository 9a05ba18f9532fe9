/// An instant on the engine's monotonic clock, in nanoseconds from that clock's own zero.
///
/// It is a value: whoever has a clock makes it and passes it on, so that nothing pure ever reads one.
public struct MonotonicTime: Hashable, Sendable, Codable, Comparable {
    /// Nanoseconds since the clock's zero.
    public let nanoseconds: Int64

    /// The instant that lies `nanoseconds` after the clock's zero.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The clock's zero.
    public static let zero = MonotonicTime(nanoseconds: 0)

    /// Reads bare nanoseconds.
    public init(from decoder: any Decoder) throws {
        nanoseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Writes bare nanoseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(nanoseconds)
    }

    /// Earlier instants come first.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant `interval` later, held at the ends of what fits.
    public static func + (time: MonotonicTime, interval: Duration) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(interval.wholeNanoseconds)
        return MonotonicTime(nanoseconds: overflow ? (interval < .zero ? .min : .max) : sum)
    }

    /// The time from `right` to `left`; negative when `right` is the later one.
    public static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }
}

extension Duration {
    /// The whole nanoseconds of this duration, held at the ends of what fits in 64 bits (292 years).
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }

    /// This duration in seconds, as a floating-point number.
    public var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
}
