/// How often each answer time occurred: a log-linear histogram of a fixed size.
///
/// It is one of the seventh power of the time, with two buckets in each octave of it and thus 14 in one of the time. The
/// value told for a bucket is within 3 % of each time in it. Times below 16 µs share one bucket, and so do those above
/// 17 s. Once a bucket is full, all are halved: what is told depends on their proportions only.
package struct AnswerTimes: Sendable {
    /// The octaves with buckets of their own, as powers of two of nanoseconds.
    private static let octaves = 14..<34
    private static let bucketsInOctave = 14
    private static let size = 282
    private var counts = InlineArray<282, UInt16>(repeating: 0)

    /// Creates an empty histogram.
    package init() {}

    /// Adds an answer time in nanoseconds, 0 or greater.
    @inline(__always)
    package mutating func add(_ nanoseconds: Int64) {
        let index = Self.bucket(of: nanoseconds)
        let count = counts[index]
        counts[index] = count &+ 1
        if count == .max - 1 { Self.halve(&self) }
    }

    @inline(never)
    private static func halve(_ times: inout AnswerTimes) {
        for index in times.counts.indices { times.counts[index] -= times.counts[index] / 2 }
    }

    /// Returns the time in nanoseconds that this share of all times does not exceed, or `nil` if there are none.
    package func quantile(_ share: Double, worst: Int64) -> Int64? {
        let all = counts.indices.reduce(0) { $0 + Int(counts[$1]) }
        guard all > 0 else { return nil }
        var left = max(1, Int((Double(all) * share).rounded(.up)))
        for index in counts.indices {
            left -= Int(counts[index])
            if left <= 0 { return index == Self.size - 1 ? worst : min(worst, Self.told(of: index)) }
        }
        return worst
    }

    /// Returns how often times occurred in `count` intervals, equal in proportion, from the shortest to the longest
    /// time, as parts of the most frequent, which is 255. Returns the least time in nanoseconds, too, or `nil` if there
    /// are no times.
    package func spread(over count: Int) -> (least: Int64, bars: [UInt8])? {
        guard let first = counts.indices.first(where: { counts[$0] > 0 }),
            let last = counts.indices.last(where: { counts[$0] > 0 })
        else { return nil }
        var sums = [Int](repeating: 0, count: count)
        for index in first...last { sums[(index - first) * count / (last - first + 1)] += Int(counts[index]) }
        let most = sums.reduce(1, max)
        return (Int64(Self.lower(of: first)), sums.map { UInt8(($0 * 255 + most - 1) / most) })
    }

    /// The first 12 bits of a floating-point number are its sign and its octave, and the next one halves that. Taking the
    /// power costs four multiplications, and is cheaper than to divide an octave.
    @inline(__always)
    private static func bucket(of nanoseconds: Int64) -> Int {
        guard nanoseconds >= 1 << octaves.lowerBound else { return 0 }
        let time = Double(nanoseconds)
        let square = time * time
        let half = Int(truncatingIfNeeded: (square * square * (square * time)).bitPattern >> 51)
        // A single comparison, which also shows the compiler that there is such a bucket.
        let index = UInt(bitPattern: half &- firstHalf)
        return index < UInt(size) ? Int(bitPattern: index) : size - 1
    }

    /// One less than the half octave of the seventh power at which the buckets begin, so that index 0 is what is below.
    private static let firstHalf = (1_023 + 7 * octaves.lowerBound) * 2 - 1

    /// Returns the least time of a bucket, or the end of the last one that is not the rest.
    private static func lower(of index: Int) -> Double {
        guard index > 0 else { return 0 }
        let (octave, half) = (index - 1).quotientAndRemainder(dividingBy: 2)
        let (whole, seventh) = octave.quotientAndRemainder(dividingBy: 7)
        let power = Double(sign: .plus, exponent: octaves.lowerBound + whole, significand: 1)
        return power * roots[seventh] * (half == 0 ? 1 : 1.059634022667094)
    }

    /// The seventh roots of the powers of two; that of one and a half is above.
    private static let roots = [
        1, 1.1040895136738123, 1.2190136542044754, 1.3459001926323562, 1.4859942891369484, 1.6406707120152757,
        1.8114473285278132,
    ]

    /// Returns the time told for a bucket: as far, in proportion, from its least as from its greatest time.
    private static func told(of index: Int) -> Int64 {
        guard index > 0 else { return 1 << (octaves.lowerBound - 1) }
        let (low, high) = (lower(of: index), lower(of: index + 1))
        return Int64(2 * low * high / (low + high))
    }
}
