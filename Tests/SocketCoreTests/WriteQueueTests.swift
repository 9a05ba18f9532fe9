import SocketCore
import SocketTestSupport
import Testing

struct WriteQueueTests {
    @Test func anEmptyQueueLendsNothing() {
        var bench = WriteBench()
        #expect(bench.unsent().isEmpty)
        #expect(bench.queue.wantsToSend == false)
        #expect(bench.queue.isEmpty == true)
        #expect(bench.actions().isEmpty)
        #expect(bench.queue.snapshot(listing: 64) == QueueSnapshot())
    }

    @Test func theUnsentPartsAreLentInOrder() {
        var bench = WriteBench()
        for text in ["abc", "de", "f", "ghij"] { bench.write(text) }
        #expect(bench.unsent() == ["abc", "de", "f", "ghij"].map { Array($0.utf8) })
        #expect(bench.unsent(buffers: 2) == ["abc", "de"].map { Array($0.utf8) })
        #expect(bench.unsent(buffers: 0).isEmpty)
        bench.send(4)
        #expect(bench.unsent(buffers: 2) == ["e", "f"].map { Array($0.utf8) })
        bench.send(1)
        #expect(bench.unsent() == ["f", "ghij"].map { Array($0.utf8) })
        _ = bench.actions()
        #expect(bench.unsent() == ["f", "ghij"].map { Array($0.utf8) })
    }

    /// Bytes of somebody else.
    private final class Owner: ContiguousBytesOwner {
        private let bytes: [UInt8]
        init(_ text: String) { bytes = Array(text.utf8) }
        var byteCount: Int { bytes.count }
        func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) { bytes.withUnsafeBytes(body) }
    }

    @Test func bytesOfOthersAreLentWithOursAndKeptAsCopies() {
        var bench = WriteBench()
        bench.write("abc")
        bench.write(contentsOf: Owner("defgh"))
        bench.write("ij")
        #expect(bench.unsent() == ["abc", "defgh", "ij"].map { Array($0.utf8) })
        bench.send(4)
        #expect(bench.unsent() == ["efgh", "ij"].map { Array($0.utf8) })
        var kept: [(text: String, memory: Int)] = []
        bench.queue.forEachUnsent(first: 5) { kept.append((String(decoding: $0, as: UTF8.self), $1)) }
        #expect(kept.map(\.text) == ["efgh", "i"] && kept.map(\.memory) == [4, 2])
        bench.send(6)
        #expect(bench.actions().compactMap { $0.completion?.contents.count } == [3, 5, 2])
        #expect(String(decoding: bench.sent, as: UTF8.self) == "abcdefghij")
    }

    @Test func manyWritesAreLentAtOnce() {
        var bench = WriteBench()
        for number in 0..<500 { bench.write([UInt8(truncatingIfNeeded: number)]) }
        #expect(bench.unsent(buffers: 400).count == 400)
        #expect(bench.unsent(buffers: 1_000).joined().count == 500)
    }

    /// Statement 67.
    @Test func oneSendMayCompleteSeveralWrites() {
        var bench = WriteBench()
        bench.write("abc", tag: 1)
        bench.write("de", tag: 2)
        bench.write("fgh", tag: 3)
        bench.now = .at(7)
        bench.send(7)
        let actions = bench.actions()
        #expect(actions.compactMap { $0.completion?.tag } == [1, 2])
        #expect(actions.compactMap { $0.completion?.contents.array } == ["abc", "de"].map { Array($0.utf8) })
        #expect(actions.compactMap { $0.completion?.started } == [.zero, .at(7)])
        #expect(actions.last == .partial(operation: OperationID(3), tag: 3, increment: 2, done: 2))
        #expect(actions.count == 3)
        #expect(bench.queue.pendingBytes == 1)
        #expect(bench.queue.currentOperation?.done == 2)
        bench.send(1)
        #expect(bench.actions().map { $0.completion?.tag } == [3])
        #expect(bench.queue.isEmpty == true)
        #expect(bench.queue.completed == 3)
    }

    @Test func aPassWithoutBytesReportsNothing() {
        var bench = WriteBench()
        bench.write("abc")
        bench.queue.wrote(0, now: .zero)
        #expect(bench.actions().isEmpty)
        bench.send(1)
        bench.send(1)
        #expect(bench.actions() == [.partial(operation: OperationID(1), tag: 0, increment: 2, done: 2)])
        #expect(bench.actions().isEmpty)
    }

    /// Statement 68.
    @Test func partialsAndTheLastIncrementMakeTheTotal() {
        var bench = WriteBench()
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        bench.write(bytes)
        var dones: [Int] = []
        while bench.queue.wantsToSend {
            bench.send(300)
            for action in bench.actions() {
                if case .partial(_, _, _, let done) = action { dones.append(done) }
            }
        }
        #expect(dones == [300, 600, 900])
        #expect(bench.sent == bytes)
    }

    @Test func everyWriteFailsOnceInOrderWhenTheConnectionCloses() {
        var bench = WriteBench()
        for tag in 1...3 { bench.write("abcd", tag: tag) }
        bench.send(6)
        _ = bench.actions()
        var failed: [FailedOperation] = []
        while let failure = bench.queue.failNext(error: .test) { failed.append(failure) }
        #expect(failed.map(\.tag) == [2, 3])
        #expect(failed.map(\.done) == [2, 0])
        #expect(failed.map(\.total) == [4, 4])
        #expect(failed.allSatisfy { $0.bytes.isEmpty && $0.kind == .write })
        #expect(bench.queue.pendingBytes == 0)
        #expect(bench.queue.isEmpty == true)
    }

    @Test func failuresCountBytesThatWereSentButNotYetReported() {
        var bench = WriteBench()
        for _ in 0..<3 { bench.write("abcd") }
        bench.send(6)
        let failed = (0..<3).compactMap { _ in bench.queue.failNext(error: .test)?.done }
        #expect(failed == [4, 2, 0])
        #expect(bench.queue.pendingBytes == 0)
    }

    @Test func nothingIsSentOnceWritesFail() {
        var bench = WriteBench()
        bench.write("a")
        bench.write("b")
        _ = bench.queue.failNext(error: .test)
        #expect(bench.queue.wantsToSend == false)
        #expect(bench.unsent().isEmpty)
        #expect(bench.queue.isEmpty == false)
    }

    @Test func aSnapshotShowsWhatIsToBeSent() throws {
        var bench = WriteBench()
        bench.write([UInt8](repeating: 7, count: 100), timeout: .seconds(1), tag: 1)
        for tag in 2...5 { bench.write("xyz", timeout: .seconds(2), tag: tag) }
        bench.now = .at(50)
        bench.send(60)
        let snapshot = bench.queue.snapshot(listing: 3)
        let current = try #require(snapshot.current)
        #expect(current.preview == [UInt8](repeating: 7, count: 32))
        #expect(current.done == 60)
        #expect(current.total == 100)
        #expect(current.lastProgress == .at(50))
        #expect(current.deadline == .at(1_000))
        #expect(snapshot.pending.map(\.tag) == [2, 3, 4])
        #expect(snapshot.pending.first?.timeout == .seconds(2))
        #expect(snapshot.pending.first?.started == nil)
        #expect(snapshot.pendingCount == 4)
        #expect(snapshot.pendingBytes == 52)
    }

    @Test func inAnyOrderOfEventsBytesGoOutInOrderAndEveryWriteEndsOnce() {
        for seed in 0..<3_000 {
            var run = RandomWrites(seed: UInt64(seed))
            run.play(steps: 25)
            #expect(run.bench.sent == run.expected, "seed \(seed)")
            #expect(run.endings == run.queued, "seed \(seed)")
            #expect(run.bench.queue.pendingBytes == 0, "seed \(seed)")
        }
    }
}

struct WriteQueueTimeoutTests {
    /// Statement 65.
    @Test func aTimedOutWriteIsPausedUntilItIsAnswered() {
        var bench = WriteBench()
        let operation = bench.write("abcdef", timeout: .milliseconds(100), tag: 2)
        bench.send(2)
        #expect(bench.queue.deadline == .at(100))
        #expect(bench.queue.expire(now: .at(99)) == nil)
        let timedOut = TimedOutOperation(
            operation: operation, kind: .write, tag: 2, done: 2, total: 6, elapsed: .milliseconds(100))
        #expect(bench.queue.expire(now: .at(100)) == timedOut)
        #expect(bench.queue.isAsking == true)
        #expect(bench.queue.wantsToSend == false)
        #expect(bench.unsent().isEmpty)
        #expect(bench.queue.answer(operation, extendBy: .milliseconds(50), now: .at(120)) == true)
        #expect(bench.queue.deadline == .at(170))
        #expect(bench.unsent() == [Array("cdef".utf8)])
        #expect(bench.queue.expire(now: .at(170))?.elapsed == .milliseconds(150))
    }

    @Test func aWriteThatIsWhollySentDoesNotTimeOut() {
        var bench = WriteBench()
        bench.write("abc", timeout: .zero)
        bench.send(3)
        #expect(bench.queue.expire(now: .at(1)) == nil)
        #expect(bench.actions().count == 1)
    }

    @Test func theClockOfTheSecondWriteStartsWhenTheFirstIsDone() {
        var bench = WriteBench()
        bench.write("a", timeout: .milliseconds(300))
        bench.write("b", timeout: .milliseconds(300))
        bench.now = .at(250)
        bench.send(1)
        _ = bench.actions()
        #expect(bench.queue.deadline == .at(550))
    }

    @Test func aWriteThatFailsForItsTimeDropsItsRest() {
        var bench = WriteBench()
        let operation = bench.write("abcdef", timeout: .milliseconds(100))
        bench.write("xyz", timeout: .milliseconds(100))
        bench.send(2)
        #expect(bench.queue.failAsking(operation, error: .test, now: .zero) == nil)
        _ = bench.queue.expire(now: .at(100))
        #expect(bench.queue.failAsking(OperationID(2), error: .test, now: .at(100)) == nil)
        let failed = bench.queue.failAsking(operation, error: .test, now: .at(150))
        #expect(failed?.done == 2)
        #expect(failed?.total == 6)
        #expect(bench.queue.pendingBytes == 3)
        #expect(bench.queue.deadline == .at(250))
        bench.send(10)
        #expect(bench.sent == Array("abxyz".utf8))
    }

    @Test func anAnswerForAWriteThatIsNotAskingChangesNothing() {
        var bench = WriteBench()
        let operation = bench.write("a", timeout: .milliseconds(1))
        #expect(bench.queue.answer(operation, extendBy: .seconds(1), now: .zero) == false)
        _ = bench.queue.expire(now: .at(1))
        #expect(bench.queue.answer(operation, extendBy: .zero, now: .at(1)) == false)
        #expect(bench.queue.isAsking == true)
    }
}

/// A row of random events for a write queue, with what must hold at its end.
private struct RandomWrites: ~Copyable {
    private(set) var bench = WriteBench()
    /// What must have been sent: of a completed write all, of a failed one what it says was done.
    private(set) var expected: [UInt8] = []
    private(set) var queued: [OperationID] = []
    private(set) var endings: [OperationID] = []
    private var bytes: [OperationID: [UInt8]] = [:]
    private var generator: SplitMix64

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    mutating func play(steps: Int) {
        for _ in 0..<steps {
            bench.now = bench.now + .milliseconds(1)
            if Bool.random(using: &generator) { write() } else { send() }
            if Bool.random(using: &generator) { perform() }
            expire()
        }
        while let failed = bench.queue.failNext(error: .test) { end(failed) }
    }

    private mutating func write() {
        let content = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
            UInt8.random(in: .min ... .max, using: &generator)
        }
        let timeout = Bool.random(using: &generator) ? Duration.milliseconds(3) : nil
        let operation = bench.write(content, timeout: timeout)
        queued.append(operation)
        bytes[operation] = content
    }

    private mutating func send() {
        let buffers = Int.random(in: 1...4, using: &generator)
        bench.send(Int.random(in: 0...20, using: &generator), buffers: buffers)
    }

    private mutating func perform() {
        for completion in bench.actions().compactMap(\.completion) {
            expected += completion.contents.array
            endings.append(completion.operation)
        }
    }

    private mutating func expire() {
        guard let timedOut = bench.queue.expire(now: bench.now), Bool.random(using: &generator) else { return }
        if let failed = bench.queue.failAsking(timedOut.operation, error: .test, now: bench.now) { end(failed) }
    }

    private mutating func end(_ failed: FailedOperation) {
        expected += bytes[failed.operation, default: []].prefix(failed.done)
        endings.append(failed.operation)
    }
}
