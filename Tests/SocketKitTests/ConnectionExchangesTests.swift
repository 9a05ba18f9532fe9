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

    @Test("nor do they take any once nothing was left to judge before")
    func settled() {
        let exchanges = ConnectionExchanges(ExchangeTally(client: .received), isSecure: false)
        defer { exchanges.free() }
        var (now, total) = (MonotonicTime.zero, UInt64(0))
        func pass(received: UInt64, sent: UInt64) {
            now = now + .milliseconds(2)
            if exchanges.count(upTo: received, sent, at: now) { exchanges.judge(overlaps: false) { [] } }
        }
        for _ in 1...9 {
            pass(received: total + 1, sent: total)
            total += 1
            pass(received: total, sent: total)
        }
        let median = exchanges.snapshot?.median ?? .zero
        #expect(exchanges.snapshot?.count == 9 && median <= .milliseconds(2) && median > .microseconds(1_900))
        pass(received: total + 1, sent: total)
        pass(received: total + 2, sent: total)
        #expect(exchanges.snapshot?.overlaps == true)
        pass(received: total + 2, sent: total)
        #expect(!exchanges.keepsTimes)
    }
}
