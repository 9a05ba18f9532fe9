import SocketKit
import SocketTestSupport

/// Every decision of a run comes from here, in one order, so that a seed says all.
package final class Chance: Sendable {
    private let generator: Lock<SplitMix64>

    /// Starts the row of decisions that belongs to this seed.
    package init(seed: UInt64) {
        generator = Lock(SplitMix64(seed: seed))
    }

    /// A number from 0 up to, and without, `bound`.
    package func below(_ bound: Int) -> Int {
        let number = generator.withLock { $0.next() }
        return Int(number.multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A number of the range.
    package func within(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + below(range.count)
    }

    /// True once in so many times.
    package func oneIn(_ odds: Int) -> Bool {
        below(odds) == 0
    }

    /// One of the values.
    package func pick<Value>(_ values: [Value]) -> Value {
        values[below(values.count)]
    }

    /// Bytes in which the delimiter CR LF is frequent.
    package func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        generator.withLock { generator in
            while bytes.count < count {
                var number = generator.next()
                for _ in 0..<8 {
                    bytes.append(UInt8(truncatingIfNeeded: number))
                    number >>= 8
                }
                if bytes.last ?? 0 < 80 { bytes += [13, 10] }
            }
        }
        bytes.removeSubrange(count...)
        return bytes
    }
}
