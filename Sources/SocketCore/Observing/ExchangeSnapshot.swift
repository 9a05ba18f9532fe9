/// The questions and answers of a stream. See `ExchangeTally`.
public struct ExchangeSnapshot: Equatable, Sendable {
    /// The number of questions so far, of which the last may be unanswered. 0 if they overlap.
    public var count: UInt64 = 0
    /// When the question began that has no answer yet, or `nil` if there is none.
    public var unansweredSince: MonotonicTime?
    /// The bytes of that question so far.
    public var unansweredBytes: UInt64 = 0
    /// The time of the latest answer, from the first byte of its question to its own first byte, or `nil` before the
    /// first answer.
    public var last: Duration?
    /// The median of all answer times, within 3 %.
    public var median: Duration?
    /// The time that 99 % of all answer times do not exceed, within 3 %.
    public var late: Duration?
    /// The longest answer time.
    public var worst: Duration?
    /// Whether questions overlap, so that there are no answer times.
    public var overlaps = false
    /// The shortest answer time, rounded down by up to 6 %, where `spread` begins.
    public var least: Duration?
    /// How often answer times occurred between `least` and `worst`, in intervals of equal ratio. The most frequent is
    /// 255. Empty before the first answer.
    public var spread: [UInt8] = []

    /// The number of intervals in `spread`.
    package static let bars = 24

    /// Describes a stream in which nothing was asked yet.
    public init() {}
}
