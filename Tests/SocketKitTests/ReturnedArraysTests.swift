import SocketKit
import Testing

/// Arrays of long reads that come back from a layer above, and are used again.
struct ReturnedArraysTests {
    private static let count = 65_536
    private let pool = ReturnedArrays()

    private func place(of array: [UInt8]) -> UInt { array.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }

    @Test func anArrayThatNobodyElseHoldsIsTakenOnce() {
        #expect(pool.take(Self.count) == [])
        let array = [UInt8](repeating: 1, count: Self.count)
        let memory = place(of: array)
        pool.keep(consume array)
        let taken = pool.take(Self.count)
        #expect(taken.count == Self.count)
        #expect(place(of: taken) == memory)
        #expect(pool.take(Self.count) == [])
    }

    @Test func anArrayOfALengthThatNobodyAsksForIsNotKept() {
        pool.keep([UInt8](repeating: 1, count: Self.count))
        #expect(pool.take(Self.count) == [])
        pool.keep([UInt8](repeating: 1, count: Self.count + 1))
        #expect(pool.take(Self.count) == [])
    }

    @Test func anArrayThatSomebodyHoldsIsNotTakenBeforeItIsReleased() {
        #expect(pool.take(Self.count) == [])
        var array = [UInt8](repeating: 1, count: Self.count)
        pool.keep(array)
        #expect(pool.take(Self.count) == [])
        #expect(array.allSatisfy { $0 == 1 })
        array = []
        #expect(pool.take(Self.count).count == Self.count)
    }

    @Test func anArrayOfAnotherLengthIsGivenUp() {
        #expect(pool.take(Self.count) == [])
        pool.keep([UInt8](repeating: 1, count: Self.count))
        #expect(pool.take(Self.count - 1) == [])
        #expect(pool.take(Self.count) == [])
    }

    @Test(arguments: [0, ReturnedArrays.leastCount - 1, ReturnedArrays.limit + 1])
    func anArrayThatIsTooShortOrTooLongIsNotKept(count: Int) {
        #expect(pool.take(count) == [])
        pool.keep([UInt8](repeating: 1, count: count))
        #expect(pool.take(count) == [])
    }

    @Test func noMoreIsKeptThanTheLimit() {
        #expect(pool.take(Self.count) == [])
        let most = ReturnedArrays.limit / Self.count
        for _ in 0..<most + 3 { pool.keep([UInt8](repeating: 1, count: Self.count)) }
        let taken = (0..<most + 3).count { _ in !pool.take(Self.count).isEmpty }
        #expect(taken == most)
        pool.keep([UInt8](repeating: 1, count: Self.count))
        #expect(!pool.take(Self.count).isEmpty)
    }
}
