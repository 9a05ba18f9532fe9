import Testing

@testable import SocketKit

/// Those who wait within sessions.
@Suite struct WaitersTests {
    @Test func sessionsThatTakeEachOthersNamesStayApart() {
        var waiters = Waiters<Int>()
        let names = (1...3).map { SocketID(UInt64($0)) }
        for (index, name) in names.dropLast().enumerated() {
            waiters.add(OperationID(UInt64(index)), of: name) { _ in }
        }
        waiters.rename([names[0]: names[1], names[1]: names[2]])
        #expect(!waiters.isAwaited(in: names[0]))
        #expect(waiters.remove(OperationID(0)) != nil && !waiters.isAwaited(in: names[1]))
        #expect(waiters.takeAll(of: names[2]).count == 1 && waiters.isEmpty)
    }
}
