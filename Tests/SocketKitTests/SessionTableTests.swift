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
}
