/// A small generator of random numbers that gives the same ones for the same seed, on every machine.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Starts the row of numbers that belongs to this seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number of the row.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Checks that what a decoder makes of a stream does not depend on how the stream was cut.
public enum DecoderVerifier {
    /// A cut for which the decoder made something else of the stream.
    public struct Mismatch<Output: Sendable>: Error, Sendable {
        /// The length of each piece.
        public var pieces: [Int]
        /// What came out.
        public var output: Output
    }

    /// Cuts a stream at random places, into pieces of 1 to `longest` bytes.
    public static func pieces(
        of stream: [UInt8], longest: Int, using generator: inout SplitMix64
    ) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < stream.count {
            let end = min(stream.count, start + Int.random(in: 1...longest, using: &generator))
            pieces.append(Array(stream[start..<end]))
            start = end
        }
        return pieces
    }

    /// Feeds the stream whole, byte by byte, in two pieces cut at every place, and in `randomCuts` random cuts. It
    /// returns the first cut for which `decode` gave something other than `expected`; nil when there is none.
    public static func firstMismatch<Output: Equatable & Sendable>(
        of stream: [UInt8], expected: Output, seed: UInt64, randomCuts: Int, decode: ([[UInt8]]) -> Output
    ) -> Mismatch<Output>? {
        var generator = SplitMix64(seed: seed)
        var cuts = [[stream], stream.map { [$0] }]
        cuts += stream.indices.dropFirst().map { [Array(stream[..<$0]), Array(stream[$0...])] }
        cuts += (0..<randomCuts).map { _ in
            let longest = Int.random(in: 1...max(1, stream.count / 2), using: &generator)
            return pieces(of: stream, longest: longest, using: &generator)
        }
        for cut in cuts {
            let output = decode(cut)
            if output != expected { return Mismatch(pieces: cut.map(\.count), output: output) }
        }
        return nil
    }
}
