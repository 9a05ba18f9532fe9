/// How often each answer time occurred: a log-linear histogram of a fixed size.
///
/// Each octave is divided into 14 buckets, narrow enough that the value told for a bucket is within 3 % of each time in
/// it. Times below 16 µs share one bucket, and so do those above 17 s. Once a bucket is full, all are halved: what is
/// told depends on their proportions only.
package struct AnswerTimes: Equatable, Sendable {
    /// The octaves with buckets of their own, as powers of two of nanoseconds.
    private static let octaves = 14..<34
    private static let bucketsInOctave = 14
    private static let size = octaves.count * bucketsInOctave + 2
    private var counts = [UInt16](repeating: 0, count: size)

    /// The memory that it takes beside its own word, in bytes.
    package static let memory = size * MemoryLayout<UInt16>.stride + 32

    /// Creates an empty histogram.
    package init() {}

    /// Adds an answer time in nanoseconds.
    package mutating func add(_ nanoseconds: Int64) {
        let index = Self.bucket(of: nanoseconds)
        let count = counts[index]
        counts[index] = count &+ 1
        if count == .max - 1 { halve() }
    }

    private mutating func halve() {
        for index in counts.indices { counts[index] -= counts[index] / 2 }
    }

    /// Returns the time in nanoseconds that this share of all times does not exceed, or `nil` if there are none.
    package func quantile(_ share: Double, worst: Int64) -> Int64? {
        let all = counts.reduce(0) { $0 + Int($1) }
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
        guard let first = counts.firstIndex(where: { $0 > 0 }), let last = counts.lastIndex(where: { $0 > 0 }) else {
            return nil
        }
        var sums = [Int](repeating: 0, count: count)
        for index in first...last { sums[(index - first) * count / (last - first + 1)] += Int(counts[index]) }
        let most = sums.reduce(1, max)
        return (Self.lower(of: first), sums.map { UInt8(($0 * 255 + most - 1) / most) })
    }

    private static func bucket(of nanoseconds: Int64) -> Int {
        guard nanoseconds >= 1 << octaves.lowerBound else { return 0 }
        let octave = 63 - nanoseconds.leadingZeroBitCount
        guard octave < octaves.upperBound else { return size - 1 }
        // Of 32 steps in an octave, relatively wide ones at its start and narrow ones at its end, some are joined: one
        // alone, eight pairs, five triples.
        let step = Int(nanoseconds >> (octave - 5)) & 31
        let part = step <= 16 ? (step + 1) / 2 : 9 + ((step - 17) * 11) >> 5
        return 1 + (octave - octaves.lowerBound) * bucketsInOctave + part
    }

    /// Returns the least time of a bucket, or the end of the last one that is not the rest.
    private static func lower(of index: Int) -> Int64 {
        guard index > 0 else { return 0 }
        let (octave, part) = (index - 1).quotientAndRemainder(dividingBy: bucketsInOctave)
        let step = part == 0 ? 0 : part <= 8 ? 2 * part - 1 : 17 + 3 * (part - 9)
        return Int64(32 + step) << (min(octave + octaves.lowerBound, octaves.upperBound) - 5)
    }

    /// Returns the time told for a bucket: as far, in proportion, from its least as from its greatest time.
    private static func told(of index: Int) -> Int64 {
        guard index > 0 else { return 1 << (octaves.lowerBound - 1) }
        let (low, high) = (Double(lower(of: index)), Double(lower(of: index + 1)))
        return Int64(2 * low * high / (low + high))
    }
}
