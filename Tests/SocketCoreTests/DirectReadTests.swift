import SocketCore
import Testing

/// Long reads whose bytes go straight to an array, which may be one that was used before.
struct DirectReadTests {
    private static let length = 5_000

    /// Fills the first part of the current read's array, and returns where the array is.
    private func fill(_ bench: inout ReadBench, _ count: Int, with byte: UInt8, reusing spare: inout [UInt8]) -> UInt {
        var place: UInt = 0
        bench.queue.receiveDirectly(reusing: &spare, now: .at(1)) { memory in
            place = UInt(bitPattern: memory.baseAddress)
            memory[..<count].copyBytes(from: repeatElement(byte, count: count))
            return count
        }
        bench.pump()
        return place
    }

    private func place(of array: [UInt8]) -> UInt { array.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }

    @Test(arguments: [length, 3_000])
    func anArrayOfTheSameLengthIsReused(first: Int) throws {
        var bench = ReadBench()
        bench.read(.length(Self.length))
        #expect(bench.queue.wantedDirectly == Self.length)
        var spare = [UInt8](repeating: 9, count: Self.length)
        let memory = place(of: spare)
        let filled = fill(&bench, first, with: 1, reusing: &spare)
        #expect(filled == memory)
        #expect(spare.isEmpty)
        let rest = [UInt8](repeating: 2, count: Self.length - first)
        bench.arrive(rest)
        let delivered = try #require(bench.takeActions().compactMap(\.delivery).first).bytes
        #expect(delivered == [UInt8](repeating: 1, count: first) + rest)
        #expect(place(of: delivered) == memory)
    }

    @Test func theRestGoesBehindWhatHasCome() throws {
        var bench = ReadBench()
        bench.read(.length(Self.length))
        var none: [UInt8] = []
        let memory = fill(&bench, 3_000, with: 1, reusing: &none)
        #expect(bench.queue.wantedDirectly == 2_000 && !bench.queue.isUntouched)
        #expect(fill(&bench, 0, with: 9, reusing: &none) == memory + 3_000)
        #expect(fill(&bench, 2_000, with: 2, reusing: &none) == memory + 3_000)
        let delivered = try #require(bench.takeActions().compactMap(\.delivery).first).bytes
        #expect(delivered == [UInt8](repeating: 1, count: 3_000) + [UInt8](repeating: 2, count: 2_000))
        #expect(place(of: delivered) == memory)
    }

    @Test(arguments: [0, length - 1, length + 1])
    func anArrayOfAnotherLengthStaysAsItIs(count: Int) throws {
        var bench = ReadBench()
        bench.read(.length(Self.length))
        var spare = [UInt8](repeating: 9, count: count)
        let memory = place(of: spare)
        let filled = fill(&bench, Self.length, with: 1, reusing: &spare)
        #expect(filled != memory)
        #expect(spare == [UInt8](repeating: 9, count: count))
        let delivered = try #require(bench.takeActions().compactMap(\.delivery).first).bytes
        #expect(delivered == [UInt8](repeating: 1, count: Self.length))
    }

    @Test func anArrayIsLeftWhereNothingWasReceived() {
        var bench = ReadBench()
        bench.read(.length(Self.length))
        var spare = [UInt8](repeating: 9, count: Self.length)
        _ = fill(&bench, 0, with: 1, reusing: &spare)
        #expect(spare == [UInt8](repeating: 9, count: Self.length))
        #expect(bench.takeActions().isEmpty)
        #expect(bench.queue.wantedDirectly == Self.length)
    }
}
