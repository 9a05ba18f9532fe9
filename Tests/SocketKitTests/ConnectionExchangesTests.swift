import SocketCore
import Testing

@testable import SocketKit

@Suite("The questions of a connection") struct ConnectionExchangesTests {
    @Test("answer times take memory from the first answer on, and none once questions overlap")
    func times() {
        let exchanges = ConnectionExchanges(ExchangeTally(client: .received), isSecure: false)
        defer { exchanges.free() }
        var now = MonotonicTime.zero
        func pass(upTo received: UInt64, _ sent: UInt64) {
            now = now + .milliseconds(2)
            if exchanges.count(upTo: received, sent, at: now) { exchanges.judge(overlaps: false) { [] } }
        }
        pass(upTo: 5, 0)
        #expect(!exchanges.keepsTimes)
        pass(upTo: 5, 7)
        #expect(exchanges.keepsTimes && exchanges.snapshot?.last == .milliseconds(2))
        // A second question follows the first, so that an answer may be to either.
        pass(upTo: 10, 7)
        pass(upTo: 15, 7)
        #expect(exchanges.snapshot?.overlaps == true && !exchanges.keepsTimes)
        pass(upTo: 15, 14)
        #expect(!exchanges.keepsTimes)
    }
}
