import SocketCore
import Testing

/// Arrays of short reads and writes, which are used again.
struct ShortArrayPoolTests {
    private func copy(_ bytes: [UInt8], from spares: inout ShortArrayPool) -> [UInt8] {
        bytes.withUnsafeBytes { spares.copy($0) }
    }

    @Test(arguments: [100, 60, 99])
    func anArrayThatNobodyElseHoldsIsUsedAgain(count: Int) {
        var spares = ShortArrayPool()
        let first = [UInt8](repeating: 1, count: 100)
        let memory = first.withUnsafeBytes { $0.baseAddress }
        spares.keep(consume first)
        #expect(spares.count == 1)
        let second = copy([UInt8](repeating: 2, count: count), from: &spares)
        #expect(second == [UInt8](repeating: 2, count: count))
        #expect(spares.count == 0)
        let isSame = second.withUnsafeBytes { $0.baseAddress } == memory
        #expect(isSame)
    }

    @Test func anArrayThatSomebodyElseHoldsStaysAsItIs() {
        var spares = ShortArrayPool()
        let held = [UInt8](repeating: 1, count: 100)
        spares.keep(held)
        #expect(spares.count == 0)
        #expect(copy([2, 2], from: &spares) == [2, 2])
        #expect(held == [UInt8](repeating: 1, count: 100))
    }

    @Test func aShortReadGetsNoLongArray() {
        var spares = ShortArrayPool()
        spares.keep([UInt8](repeating: 1, count: 4_000))
        #expect(spares.count == 1)
        #expect(copy([2, 2], from: &spares).capacity < 200)
    }

    @Test func noMoreIsKeptThanTheLimits() {
        var spares = ShortArrayPool()
        spares.keep([])
        spares.keep([UInt8](repeating: 1, count: ShortArrayPool.mostCapacity + 100))
        #expect(spares.count == 0)
        for _ in 0..<ShortArrayPool.limit * 2 { spares.keep([UInt8](repeating: 1, count: 10)) }
        #expect(spares.count == ShortArrayPool.limit)
    }

    @Test func aLongReadIsCopiedToo() {
        var spares = ShortArrayPool()
        spares.keep([UInt8](repeating: 1, count: 4_000))
        let long = [UInt8](repeating: 2, count: 10_000)
        #expect(copy(long, from: &spares) == long)
        #expect(spares.count == 1)
    }
}
