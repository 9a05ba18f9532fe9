import SocketCore
import Testing

@testable import SocketKit

@Suite struct SessionTableTests {
    private final class Session {}

    @Test(arguments: [1, 2, 1_024, 65_536])
    func itHoldsWhatADictionaryHoldsHoweverNumbersAreSpread(stride: UInt64) {
        var random = SystemRandomNumberGenerator()
        var table = SessionTable<Session>()
        var model: [SocketID: Session] = [:]
        for step in 1...6_000 {
            let id = SocketID(UInt64.random(in: 1...400, using: &random) * stride)
            // It grows for a while, then shrinks to nothing.
            if Int.random(in: 0..<6_000, using: &random) > step {
                let session = Session()
                table[id] = session
                model[id] = session
            } else {
                table[id] = nil
                model[id] = nil
            }
            let other = SocketID(UInt64.random(in: 0...400, using: &random) * stride)
            #expect(table[other] === model[other])
            #expect(table.count == model.count)
        }
        for id in model.keys { #expect(table[id] === model[id]) }
        #expect(Set(table.values.map(ObjectIdentifier.init)) == Set(model.values.map(ObjectIdentifier.init)))
        for id in model.keys { table[id] = nil }
        #expect(table.isEmpty)
    }

    @Test func sessionsComeByNumberWhateverCameAndWentMeanwhile() {
        var random = SystemRandomNumberGenerator()
        var table = SessionTable<Numbered>()
        for step in 1...2_000 {
            // Mostly a later number than all before, now and then one from elsewhere.
            let isLate = Int.random(in: 0..<8, using: &random) > 0
            let number = isLate ? UInt64(step) : UInt64.random(in: 1...5_000, using: &random)
            table[SocketID(number)] = Numbered(number)
            if Int.random(in: 0..<3, using: &random) == 0 {
                table[SocketID(UInt64.random(in: 1...UInt64(step), using: &random))] = nil
            }
            guard step % 7 == 0 else { continue }
            let numbers = table.inOrder().map(\.number)
            #expect(numbers == table.values.map(\.number).sorted())
        }
    }

    @Test(arguments: [0, 1, 7, 1_000]) func theOldestAreThoseWithTheLowestNumbers(limit: Int) {
        var table = SessionTable<Numbered>()
        for number in (1...300 as ClosedRange<UInt64>).shuffled() { table[SocketID(number)] = Numbered(number) }
        let odd = (1...300 as ClosedRange<UInt64>).filter { $0 % 2 == 1 }
        #expect(table.oldest(limit) { $0.number % 2 == 1 }.map(\.number) == Array(odd.prefix(limit)))
    }

    private final class Numbered {
        let number: UInt64
        init(_ number: UInt64) { self.number = number }
    }
}
