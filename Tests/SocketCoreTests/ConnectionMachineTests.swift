import SocketCore
import Testing

@Suite struct ConnectionMachineTests {
    private let start = MonotonicTime(nanoseconds: 1_000)

    private func open(allowsHalfOpen: Bool = false) -> ConnectionMachine {
        var machine = ConnectionMachine(allowsHalfOpen: allowsHalfOpen)
        machine.didConnect(now: start)
        return machine
    }

    private func receive(_ text: String, by machine: inout ConnectionMachine) {
        Array(text.utf8).withUnsafeBytes { machine.reading.receive($0, now: start) }
    }

    private func expectNext(
        _ machine: inout ConnectionMachine, _ expected: ConnectionMachine.Action,
        at location: SourceLocation = #_sourceLocation
    ) {
        let action = machine.next()
        #expect(action == expected, sourceLocation: location)
    }

    private func writeOut(_ machine: inout ConnectionMachine) {
        machine.writing.wrote(machine.writing.pendingBytes, now: start)
        while machine.writing.advance(now: start) != .none {}
    }

    @Test func operationsQueuedWhileConnectingBeginWhenTheConnectionStands() {
        var machine = ConnectionMachine(allowsHalfOpen: false)
        let read = ReadRequest(.length(1), timeout: .seconds(1))
        _ = machine.add(read, as: OperationID(1), now: start)
        _ = machine.add(WriteRequest([1]), as: OperationID(2), now: start)
        #expect(machine.deadline == nil)
        #expect(machine.readingSnapshot().pendingCount == 1 && machine.writingSnapshot().pendingBytes == 1)
        let later = start + .seconds(60)
        machine.didConnect(now: later)
        #expect(machine.deadline == later + .seconds(1))
        #expect(machine.writing.wantsToSend == true)
    }

    @Test func endOfStreamClosesOnceNothingIsLeftToDeliver() {
        var machine = open()
        receive("left over", by: &machine)
        machine.didReachEndOfStream()
        expectNext(&machine, .none)
        _ = machine.add(ReadRequest(.length(9)), as: OperationID(1), now: start)
        guard case .deliver = machine.reading.advance(now: start) else {
            Issue.record("the nine bytes were not delivered")
            return
        }
        expectNext(&machine, .close(ConnectionMachine.endOfStream))
    }

    @Test func aHalfOpenConnectionReportsTheEndOnceAndStays() {
        var machine = open(allowsHalfOpen: true)
        machine.didReachEndOfStream()
        expectNext(&machine, .reportPeerClosed)
        machine.didReachEndOfStream()
        expectNext(&machine, .none)
        let refused = machine.add(WriteRequest([1]), as: OperationID(1), now: start)
        #expect(refused == nil)
    }

    @Test func bothDirectionsOverMeansClosed() {
        var machine = open(allowsHalfOpen: true)
        let isFirst = machine.shutWriteWhenDrained()
        #expect(isFirst)
        expectNext(&machine, .shutWrite)
        machine.didReachEndOfStream()
        expectNext(&machine, .close(ConnectionMachine.endOfStream))
    }

    @Test func finWaitsForTheWritesBeforeIt() {
        var machine = open()
        _ = machine.add(WriteRequest([1, 2]), as: OperationID(1), now: start)
        let isFirst = machine.shutWriteWhenDrained()
        #expect(isFirst)
        expectNext(&machine, .none)
        let refused = machine.add(WriteRequest([3]), as: OperationID(2), now: start)
        #expect(refused?.error.reason == .disconnected)
        writeOut(&machine)
        expectNext(&machine, .shutWrite)
        let isFirstAgain = machine.shutWriteWhenDrained()
        #expect(!isFirstAgain)
    }

    @Test func closingAfterWritingLingersAndClosingAfterReadingDoesNot() {
        var writing = open()
        _ = writing.add(WriteRequest([1]), as: OperationID(1), now: start)
        writing.closeAfter(.writes)
        expectNext(&writing, .none)
        writeOut(&writing)
        expectNext(&writing, .linger)
        expectNext(&writing, .none)

        var reading = open()
        _ = reading.add(ReadRequest(.length(1)), as: OperationID(1), now: start)
        reading.closeAfter(.reads)
        expectNext(&reading, .none)
        receive("x", by: &reading)
        _ = reading.reading.advance(now: start)
        expectNext(&reading, .close(nil))
    }

    @Test func askingTwiceWaitsForBothQueues() {
        var machine = open()
        _ = machine.add(ReadRequest(.length(1)), as: OperationID(1), now: start)
        machine.closeAfter(.reads)
        machine.closeAfter(.writes)
        let refused = machine.add(WriteRequest([1]), as: OperationID(2), now: start)
        #expect(refused?.error.reason == .disconnected)
        receive("x", by: &machine)
        _ = machine.reading.advance(now: start)
        expectNext(&machine, .linger)
    }

    @Test func aStandingReadDoesNotHoldADrainBack() {
        var machine = open()
        _ = machine.add(ReadRequest(.available(limit: nil), isStanding: true), as: OperationID(1), now: start)
        machine.closeAfter([.reads, .writes])
        expectNext(&machine, .linger)
    }

    @Test func thePeersEndDoesNotCutShortADrainOfWrites() {
        var machine = open()
        _ = machine.add(WriteRequest([1]), as: OperationID(1), now: start)
        machine.closeAfter(.writes)
        machine.didReachEndOfStream()
        expectNext(&machine, .none)
        writeOut(&machine)
        expectNext(&machine, .linger)
    }

    @Test func drainingAConnectWithNothingQueuedClosesIt() {
        var idle = ConnectionMachine(allowsHalfOpen: false)
        idle.closeAfter(.reads)
        expectNext(&idle, .close(nil))
        var busy = ConnectionMachine(allowsHalfOpen: false)
        _ = busy.add(ReadRequest(.length(1)), as: OperationID(1), now: start)
        busy.closeAfter(.reads)
        expectNext(&busy, .none)
    }

    @Test func everyOperationFailsOnceWhenTheSessionEnds() {
        var machine = open()
        for number in 1...3 { _ = machine.add(ReadRequest(.length(1)), as: OperationID(UInt64(number)), now: start) }
        for number in 4...5 { _ = machine.add(WriteRequest([1]), as: OperationID(UInt64(number)), now: start) }
        machine.didClose()
        var ended: [UInt64] = []
        while let failed = machine.failNext(error: ConnectionMachine.endOfStream) {
            ended.append(failed.operation.number)
        }
        #expect(ended == [1, 2, 3, 4, 5])
        let refused = machine.add(WriteRequest([1]), as: OperationID(6), now: start)
        #expect(refused?.error.reason == .notConnected)
        expectNext(&machine, .none)
    }
}

@Suite struct DeadlineHeapTests {
    @Test func wakeUpsComeInOrderAndNotBeforeTheirTime() {
        var heap = DeadlineHeap()
        var random = SystemRandomNumberGenerator()
        let times = (1...200).shuffled(using: &random)
        for time in times { heap.insert(MonotonicTime(nanoseconds: Int64(time)), SocketID(UInt64(time))) }
        #expect(heap.earliest == MonotonicTime(nanoseconds: 1))
        let early = heap.popDue(.zero)
        #expect(early == nil)
        var woken: [UInt64] = []
        while let socket = heap.popDue(MonotonicTime(nanoseconds: 100)) { woken.append(socket.number) }
        #expect(woken == (1...100).map { UInt64($0) })
        #expect(heap.earliest == MonotonicTime(nanoseconds: 101))
    }
    @Test func outdatedEntriesDoNotPileUp() {
        var heap = DeadlineHeap()
        let day = MonotonicTime(nanoseconds: 86_400_000_000_000)
        var deadlines: [SocketID: MonotonicTime] = [:]
        func enter(_ time: MonotonicTime, _ socket: SocketID) {
            deadlines[socket] = time
            heap.insert(time, socket)
            if heap.isCrowded { heap.removeOutdated { deadlines[$0] } }
        }
        for round in 1...20_000 {
            let (now, socket) = (MonotonicTime(nanoseconds: Int64(round)), SocketID(UInt64(round % 100)))
            enter(now, socket)
            while let due = heap.popDue(now) { enter(day, due) }
            // One that is over leaves its entry behind.
            let gone = SocketID(UInt64(1_000 + round))
            enter(day, gone)
            deadlines[gone] = nil
        }
        #expect(heap.count <= 512)
        var woken: Set<SocketID> = []
        while let socket = heap.popDue(day) { woken.insert(socket) }
        #expect(woken.isSuperset(of: (0..<100).map { SocketID($0) }))
    }
}
