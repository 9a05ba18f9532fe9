import SocketCore
import Testing

/// Operations that leave their queue before their turn, and what that costs.
@Suite struct RemovingTests {
    private func filled(_ count: Int) -> OperationDeque<Int> {
        var deque = OperationDeque<Int>()
        for number in 0..<count { deque.append(number) }
        return deque
    }

    @Test("removed from either end by name, each costs the same", arguments: [true, false])
    func cost(isForward: Bool) {
        var deque = filled(2_000)
        var looks = 0
        for step in 0..<2_000 {
            let number = isForward ? step : 1_999 - step
            let removed = deque.removeOnly {
                looks += 1
                return $0 == number
            }
            #expect(removed == number)
        }
        #expect(looks <= 4_000 && deque.isEmpty)
    }

    @Test func theRestKeepsItsOrderWhereverOneIsRemoved() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var deque = filled(20)
            var model = Array(0..<20)
            for _ in 0..<Int.random(in: 0..<8, using: &generator) {
                #expect(deque.popFirst() == model.removeFirst())
            }
            while let number = model.randomElement(using: &generator) {
                #expect(deque.removeOnly { $0 == number } == number)
                #expect(deque.removeOnly { $0 == number } == nil)
                model.removeAll { $0 == number }
                #expect((0..<deque.count).map { deque[$0] } == model)
            }
            #expect(deque.isEmpty)
        }
    }

    @Test func bytesOfHeldWritesAreCountedWhateverBecomesOfThem() {
        var machine = ConnectionMachine(allowsHalfOpen: false)
        let now = MonotonicTime.zero
        for number in UInt64(1)...5 {
            _ = machine.add(WriteRequest([UInt8](repeating: 1, count: Int(number))), as: OperationID(number), now: now)
            _ = machine.add(ReadRequest(.length(1)), as: OperationID(100 + number), now: now)
        }
        #expect(machine.pendingWriteBytes == 15)
        #expect(machine.cancelNext(.operation(OperationID(2)), now: now)?.total == 2)
        #expect(machine.pendingWriteBytes == 13)
        #expect(machine.cancelNext(.writes, now: now)?.total == 5)
        #expect(machine.cancelNext(.reads, now: now) != nil)
        #expect(machine.pendingWriteBytes == 8)
        machine.didConnect(now: now)
        #expect(machine.pendingWriteBytes == 8)
        machine.didClose()
        let error = SocketError(.cancelled, operation: "test", detail: "test")
        while machine.failNext(error: error) != nil {}
        #expect(machine.pendingWriteBytes == 0)
    }
}
