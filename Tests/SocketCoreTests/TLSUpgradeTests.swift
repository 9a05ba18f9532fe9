import SocketCore
import Testing

@Suite("The TLS barrier")
struct TLSUpgradeTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000)

    private func connected() -> ConnectionMachine {
        var machine = ConnectionMachine(allowsHalfOpen: false)
        machine.didConnect(now: now)
        return machine
    }

    private func read(_ machine: inout ConnectionMachine, _ number: UInt64, _ length: Int = 2, standing: Bool = false) {
        let kind = standing ? ReadRequest.Kind.available(limit: nil) : .length(length)
        _ = machine.add(ReadRequest(kind, tag: Int(number), isStanding: standing), as: OperationID(number), now: now)
    }

    private func write(_ machine: inout ConnectionMachine, _ number: UInt64) {
        _ = machine.add(WriteRequest([1, 2], tag: Int(number)), as: OperationID(number), now: now)
    }

    private func receive(_ machine: inout ConnectionMachine, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { machine.reading.receive($0, now: now) }
    }

    @Test("the handshake begins when both queues have come to the barrier, and not before")
    func bothHeads() {
        var machine = connected()
        read(&machine, 1)
        write(&machine, 2)
        expect(machine.startTLS(), nil)
        read(&machine, 3)
        write(&machine, 4)
        expect(machine.next(), .none)
        expect(machine.readingSnapshot().barrier, 1)
        expect(machine.writingSnapshot().barrier, 1)
        expect(machine.readingSnapshot().pending.map(\.tag), [3])
        expect(machine.writingSnapshot().pendingBytes, 4)
        receive(&machine, [8, 9, 22, 3])
        while machine.reading.advance(now: now) != .none {}
        expect(machine.next(), .none)
        expect(machine.readingSnapshot().barrier, 0)
        machine.writing.wrote(2, now: now)
        while machine.writing.advance(now: now) != .none {}
        expect(machine.next(), .startHandshake)
        expect(machine.beginHandshake(until: nil), [22, 3])
        expect(machine.next(), .none)
        expect(!machine.writing.wantsToSend, true)
        expect(machine.reading.wanted, 0)
        machine.didSecure(now: now)
        expect(machine.reading.currentTag, 3)
        expect(machine.writing.currentTag, 4)
        expect(machine.readingSnapshot().barrier, nil)
    }

    @Test("a standing read does not hold the barrier up, and goes on behind it")
    func standing() {
        var machine = connected()
        read(&machine, 1, standing: true)
        expect(machine.startTLS(), nil)
        expect(machine.next(), .startHandshake)
        _ = machine.beginHandshake(until: nil)
        read(&machine, 2)
        machine.didSecure(now: now)
        expect(machine.reading.currentTag, 2)
        expect(machine.readingSnapshot().pending.map(\.tag), [1])
    }

    @Test("asked for while connecting, it comes behind what was queued before it")
    func connecting() {
        var machine = ConnectionMachine(allowsHalfOpen: false)
        read(&machine, 1, standing: true)
        read(&machine, 2)
        expect(machine.startTLS(), nil)
        write(&machine, 3)
        expect(machine.next(), .none)
        machine.didConnect(now: now)
        expect(machine.reading.currentTag, 2)
        expect(machine.writing.isEmpty, true)
        expect(machine.readingSnapshot().barrier, 1)
        expect(machine.readingSnapshot().pending.map(\.tag), [1])
        expect(machine.startTLS()?.reason, .badConfiguration)
    }

    @Test("a drain waits for the barrier as for any operation")
    func draining() {
        var machine = connected()
        expect(machine.startTLS(), nil)
        write(&machine, 1)
        machine.closeAfter(.writes)
        expect(machine.next(), .startHandshake)
        _ = machine.beginHandshake(until: nil)
        expect(machine.next(), .none)
        machine.didSecure(now: now)
        expect(machine.next(), .none)
        machine.writing.wrote(2, now: now)
        while machine.writing.advance(now: now) != .none {}
        expect(machine.next(), .linger)
    }

    @Test("its clock stands while somebody is asked")
    func clock() {
        var machine = connected()
        expect(machine.startTLS(), nil)
        _ = machine.beginHandshake(until: now + .seconds(10))
        expect(machine.deadline, now + .seconds(10))
        machine.upgrade.ask(now: now + .seconds(4))
        expect(machine.deadline, nil)
        let answered = machine.upgrade.answer(now: now + .seconds(100))
        expect(answered, true)
        expect(machine.deadline, now + .seconds(106))
        let again = machine.upgrade.answer(now: now)
        #expect(!again)
    }

    @Test("every operation ends once, whichever side of the barrier it is on")
    func failing() {
        var machine = connected()
        read(&machine, 1)
        write(&machine, 2)
        expect(machine.startTLS(), nil)
        read(&machine, 3)
        write(&machine, 4)
        var tags: [Int] = []
        while let failed = machine.failNext(error: ConnectionMachine.cutOffBeforeTLS) { tags.append(failed.tag) }
        #expect(tags == [1, 2, 3, 4])
    }

    @Test("operations behind the barrier can be cancelled")
    func cancelling() {
        var machine = connected()
        read(&machine, 1)
        expect(machine.startTLS(), nil)
        read(&machine, 2)
        write(&machine, 3)
        var tags: [Int] = []
        while let failed = machine.cancelNext(.reads, now: now) { tags.append(failed.tag) }
        #expect(tags.sorted() == [1, 2])
        expect(machine.cancelNext(.operation(OperationID(3)), now: now)?.tag, 3)
        expect(machine.next(), .startHandshake)
    }
}

@Suite("Writes that are handed on before the kernel has them")
struct CommittedWriteTests {
    private let now = MonotonicTime(nanoseconds: 1)
    private let cancelled = SocketError(.cancelled, operation: "write", detail: "")

    private func unsent(_ queue: borrowing WriteQueue) -> [UInt8] {
        var lent: [UInt8] = []
        queue.withUnsent(buffers: 8) { lent = $0.flatMap { Array($0) } }
        return lent
    }

    @Test("what is committed is not lent again, counts only when written, and goes out though its write fails")
    func commits() {
        var queue = WriteQueue()
        queue.enqueue(WriteRequest([1, 2, 3, 4], timeout: .seconds(1), tag: 1), as: OperationID(1), now: now)
        queue.enqueue(WriteRequest([5, 6], tag: 2), as: OperationID(2), now: now)
        queue.commit(5)
        expect(unsent(queue), [6])
        expect(queue.pendingBytes, 6)
        expect(queue.cancel(OperationID(1), error: cancelled, now: now), nil)
        expect(queue.cancel(OperationID(2), error: cancelled, now: now), nil)
        queue.wrote(2, now: now)
        expect(queue.advance(now: now), .partial(operation: OperationID(1), tag: 1, increment: 2, done: 2))
        // The first fails: two more of its bytes are on their way all the same, and count as done.
        expect(queue.expire(now: now + .seconds(2))?.tag, 1)
        expect(queue.failAsking(OperationID(1), error: cancelled, now: now)?.done, 4)
        expect(queue.pendingBytes, 2)
        expect(unsent(queue), [6])
        queue.wrote(2, now: now)
        expect(queue.advance(now: now), .none)
        expect(queue.pendingBytes, 2)
        queue.commit(1)
        expect(unsent(queue).isEmpty, true)
        expect(!queue.wantsToSend, true)
        queue.wrote(2, now: now)
        guard case .complete(let done) = queue.advance(now: now) else {
            Issue.record("not complete")
            return
        }
        expect(done.tag, 2)
        expect(queue.isEmpty, true)
        expect(queue.committed, 0)
    }

    @Test("a write of which nothing is committed can leave from behind those of which something is")
    func cancelsBehind() {
        var queue = WriteQueue()
        for number in 1...3 {
            queue.enqueue(WriteRequest([1, 2], tag: number), as: OperationID(UInt64(number)), now: now)
        }
        queue.commit(3)
        expect(queue.lastUnsent, OperationID(3))
        expect(queue.cancel(OperationID(3), error: cancelled, now: now)?.tag, 3)
        expect(queue.lastUnsent, nil)
        expect(unsent(queue), [2])
    }
}

/// `#expect` cannot take in what cannot be copied.
private func expect<Value: Equatable>(
    _ value: Value, _ wanted: Value, at location: SourceLocation = #_sourceLocation
) {
    #expect(value == wanted, sourceLocation: location)
}
