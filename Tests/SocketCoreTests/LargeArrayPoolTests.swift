import SocketCore
import Testing

/// Arrays of large messages, which are used again.
struct LargeArrayPoolTests {
    @Test func anArrayThatNobodyElseHoldsIsKeptAndGivenAgain() {
        var spares = LargeArrayPool()
        var sent = [UInt8](repeating: 1, count: 100_000)
        let memory = sent.withUnsafeBytes { $0.baseAddress }
        spares.keep(&sent)
        #expect(sent.count == 0)
        #expect(spares.bytes >= 100_000)
        var taken = spares.take(for: 90_000)
        #expect(taken.count == 0)
        #expect(spares.bytes == 0)
        taken.append(contentsOf: repeatElement(2, count: 90_000))
        let isSame = taken.withUnsafeBytes { $0.baseAddress } == memory
        #expect(isSame)
    }

    @Test func anArrayThatSomebodyElseHoldsStaysAsItIs() {
        var spares = LargeArrayPool()
        var sent = [UInt8](repeating: 1, count: 100_000)
        let held = sent
        spares.keep(&sent)
        #expect(spares.bytes == 0)
        #expect(sent.count == 100_000)
        #expect(held.count == 100_000)
    }

    @Test func noMoreIsKeptThanTheLimit() {
        var spares = LargeArrayPool()
        for _ in 0..<10 {
            var sent = [UInt8](repeating: 1, count: 1_000_000)
            spares.keep(&sent)
        }
        #expect(spares.bytes <= LargeArrayPool.limit)
        #expect(spares.bytes > LargeArrayPool.limit - 1_100_000)
    }

    @Test func aShortMessageTakesNoLongArrayAndAShortArrayIsNotKept() {
        var spares = LargeArrayPool()
        var (short, long) = ([UInt8](repeating: 1, count: 1_000), [UInt8](repeating: 1, count: 1_000_000))
        spares.keep(&short)
        #expect(short.count == 1_000)
        spares.keep(&long)
        #expect(spares.take(for: 1_000).capacity == 0)
        #expect(spares.take(for: 100_000).capacity == 0)
        #expect(spares.take(for: 2_000_000).capacity == 0)
        #expect(spares.take(for: .max).capacity == 0)
        #expect(spares.take(for: 600_000).capacity >= 1_000_000)
    }
}
