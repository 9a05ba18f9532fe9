/// Random numbers that depend only on where they are used, not on time or on how reads divide the stream.
package struct FaultRandom: Equatable, Sendable {
    private let base: UInt64

    /// - Parameters:
    ///   - rule: The rule's number, counted from 1.
    ///   - connection: The connection's number, counted from 1.
    package init(seed: UInt64, rule: Int, connection: UInt64, direction: FaultDirection) {
        var base = Self.mix(seed)
        base = Self.mix(base ^ UInt64(bitPattern: Int64(rule)))
        base = Self.mix(base ^ connection)
        self.base = Self.mix(base ^ (direction == .upstream ? 1 : 2))
    }

    /// Returns the number for a stream offset, or for the number of a frame or datagram. `draw` distinguishes several
    /// for one place.
    package func bits(at place: UInt64, _ draw: UInt64 = 0) -> UInt64 {
        Self.mix(Self.mix(base ^ place) ^ draw)
    }

    /// Returns a number in `0..<bound`, or 0 if `bound` is 0.
    package func below(_ bound: UInt64, at place: UInt64, _ draw: UInt64 = 0) -> UInt64 {
        bits(at: place, draw).multipliedFullWidth(by: bound).high
    }

    /// Returns `count` different numbers in `0..<bound`, or all of them, in no order (R. W. Floyd's sampling).
    package func distinct(_ count: UInt64, below bound: UInt64, at place: UInt64) -> Set<UInt64> {
        var chosen: Set<UInt64> = []
        for last in bound - min(count, bound)..<bound {
            let drawn = below(last + 1, at: place, last)
            if !chosen.insert(drawn).inserted { chosen.insert(last) }
        }
        return chosen
    }

    /// Whether an event of this probability happens.
    package func happens(_ share: Double, at place: UInt64, _ draw: UInt64 = 0) -> Bool {
        Double(bits(at: place, draw) >> 11) * 0x1p-53 < share
    }

    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed &>> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed &>> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed &>> 31
    }
}
