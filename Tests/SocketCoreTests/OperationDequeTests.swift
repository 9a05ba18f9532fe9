import SocketCore
import SocketTestSupport
import Testing

struct OperationDequeTests {
    private final class Payload {}

    @Test func operationsLeaveInTheOrderInWhichTheyCame() {
        var deque = OperationDeque<Int>()
        #expect(deque.popFirst() == nil)
        #expect(deque.popLast() == nil)
        #expect(deque.last == nil)
        for number in 1...5 { deque.append(number) }
        deque.insertBeforeLast(9)
        #expect((0..<deque.count).map { deque[$0] } == [1, 2, 3, 4, 9, 5])
        #expect(deque.popFirst() == 1)
        #expect(deque.popLast() == 5)
        #expect(deque.last == 9)
        #expect(deque[0] == 2)
    }

    @Test func anOperationThatLeftIsKeptAliveByNobody() {
        var deque = OperationDeque<Payload>()
        weak var first: Payload?
        do {
            let payload = Payload()
            first = payload
            deque.append(payload)
            deque.append(Payload())
        }
        #expect(first != nil)
        _ = deque.popFirst()
        #expect(first == nil)
        #expect(deque.count == 1)
    }

    @Test func memoryStaysBoundedWhileOperationsFlowThrough() {
        var deque = OperationDeque<Int>()
        deque.append(0)
        for number in 1...10_000 {
            deque.append(number)
            #expect(deque.popFirst() == number - 1)
        }
        #expect(deque.reserved < 64)
    }

    @Test func aBurstGivesItsMemoryBack() {
        var deque = OperationDeque<Int>()
        for number in 0..<1_000 { deque.append(number) }
        while deque.popFirst() != nil {}
        #expect(deque.reserved == 0)
    }

    @Test func randomUseAgreesWithAnArray() {
        var generator = SplitMix64(seed: 7)
        var deque = OperationDeque<Int>()
        var model: [Int] = []
        for number in 0..<5_000 {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1, 2:
                deque.append(number)
                model.append(number)
            case 3:
                guard !model.isEmpty else { continue }
                deque.insertBeforeLast(number)
                model.insert(number, at: model.count - 1)
            case 4: #expect(deque.popLast() == model.popLast())
            default: #expect(deque.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            }
            #expect((0..<deque.count).map { deque[$0] } == model)
            #expect(deque.isEmpty == model.isEmpty)
        }
    }
}
