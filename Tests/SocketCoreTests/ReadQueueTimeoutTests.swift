import SocketCore
import Testing

struct ReadQueueTimeoutTests {
    /// Statement 60.
    @Test func extensionsAddUpInTheElapsedTime() {
        var bench = ReadBench()
        let operation = bench.read(.length(10), timeout: .milliseconds(200), tag: 3)
        bench.arrive("abcd")
        #expect(bench.queue.deadline == .at(200))
        #expect(bench.queue.expire(now: .at(199)) == nil)
        let first = TimedOutOperation(
            operation: operation, kind: .read(.length(10)), tag: 3, done: 4, total: 10, elapsed: .milliseconds(200))
        #expect(bench.queue.expire(now: .at(200)) == first)
        #expect(bench.queue.answer(operation, extendBy: .milliseconds(300), now: .at(210)) == true)
        #expect(bench.queue.deadline == .at(510))
        #expect(bench.queue.snapshot(listing: 0).current?.timeout == .milliseconds(500))
        #expect(bench.queue.expire(now: .at(600))?.elapsed == .milliseconds(500))
    }

    @Test func anAskingReadIsPaused() {
        var bench = ReadBench()
        let operation = bench.read(.length(4), timeout: .milliseconds(1))
        #expect(bench.queue.expire(now: .at(1)) != nil)
        #expect(bench.queue.isAsking == true)
        #expect(bench.queue.deadline == nil)
        #expect(bench.queue.wanted == 0)
        #expect(bench.queue.expire(now: .at(99)) == nil)
        bench.arrive("abcd")
        #expect(bench.takeActions().isEmpty)
        #expect(bench.kernel.count == 4)
        #expect(bench.queue.answer(operation, extendBy: .milliseconds(1), now: .at(5)) == true)
        bench.pump()
        #expect(bench.takeTexts() == ["abcd"])
    }

    @Test func bytesReceivedWhileAskingAreKept() {
        var bench = ReadBench()
        let operation = bench.read(.length(4), timeout: .milliseconds(1))
        bench.arrive("a")
        _ = bench.queue.expire(now: .at(1))
        Array("bcdef".utf8).withUnsafeBytes { bench.queue.receive($0, now: .at(2)) }
        #expect(bench.queue.advance(now: .at(2)) == .none)
        #expect(bench.queue.currentOperation?.done == 1)
        #expect(bench.queue.answer(operation, extendBy: .milliseconds(1), now: .at(3)) == true)
        bench.pump()
        #expect(bench.takeTexts() == ["abcd"])
        #expect(bench.queue.prebuffered == 2)
    }

    /// Statement 62.
    @Test func theClockOfTheSecondReadStartsWhenTheFirstIsDone() {
        var bench = ReadBench()
        bench.read(.length(1), timeout: .milliseconds(300))
        bench.read(.length(1), timeout: .milliseconds(300))
        bench.now = .at(250)
        bench.arrive("a")
        #expect(bench.queue.deadline == .at(550))
        #expect(bench.queue.currentOperation?.started == .at(250))
    }

    /// Statement 63.
    @Test func noTimeAtAllIsEnoughForBytesThatAreThere() {
        for kind in [ReadRequest.Kind.available(limit: nil), .length(2), .through("b"), .through("zz", limit: 2)] {
            var queue = ReadQueue()
            Array("ab".utf8).withUnsafeBytes { queue.receive($0, now: .zero) }
            queue.enqueue(ReadRequest(kind, timeout: .zero), as: OperationID(1), now: .zero)
            #expect(queue.expire(now: .zero) == nil, "\(kind)")
            #expect(queue.advance(now: .zero) != .none, "\(kind)")
        }
    }

    /// Statement 63.
    @Test func noTimeAtAllIsOverWhenTheBytesAreNotThere() {
        for kind in [ReadRequest.Kind.available(limit: nil), .length(2), .through("b"), .through("zz", limit: 2)] {
            var bench = ReadBench()
            bench.read(kind, timeout: .zero)
            #expect(bench.queue.expire(now: .zero)?.kind == .read(kind))
        }
    }

    /// Statement 64.
    @Test func aCompletedReadLeavesNoDeadline() {
        var bench = ReadBench()
        bench.read(.length(1), timeout: .milliseconds(1))
        bench.arrive("a")
        #expect(bench.queue.deadline == nil)
        #expect(bench.queue.expire(now: .at(10)) == nil)
    }

    @Test func anAnswerForAReadThatIsNotAskingChangesNothing() {
        var bench = ReadBench()
        let operation = bench.read(.length(1), timeout: .milliseconds(1))
        #expect(bench.queue.answer(operation, extendBy: .seconds(1), now: .at(0)) == false)
        _ = bench.queue.expire(now: .at(1))
        #expect(bench.queue.answer(OperationID(99), extendBy: .seconds(1), now: .at(1)) == false)
        #expect(bench.queue.answer(operation, extendBy: .zero, now: .at(1)) == false)
        #expect(bench.queue.failAsking(OperationID(99), error: .test, now: .at(1)) == nil)
        #expect(bench.queue.isAsking == true)
    }

    @Test func aReadThatFailsForItsTimeMakesRoomForTheNext() {
        var bench = ReadBench()
        let operation = bench.read(.through("\n"), timeout: .milliseconds(10), tag: 1)
        bench.read(.length(2), timeout: .milliseconds(10), tag: 2)
        bench.arrive("abc")
        _ = bench.takeActions()
        #expect(bench.queue.expire(now: .at(10))?.done == 3)
        let failed = bench.queue.failAsking(operation, error: .test, now: .at(20))
        #expect(failed?.bytes == Array("abc".utf8))
        #expect(failed?.tag == 1)
        #expect(bench.queue.deadline == .at(30))
        bench.arrive("de")
        #expect(bench.takeTexts() == ["de"])
    }

    @Test func aReadWithoutTimeoutNeverExpires() {
        var bench = ReadBench()
        bench.read(.length(1))
        #expect(bench.queue.deadline == nil)
        #expect(bench.queue.expire(now: MonotonicTime(nanoseconds: .max)) == nil)
    }

    @Test func timeoutsGoOnCountingWhileReadingIsPausedByHand() {
        var bench = ReadBench()
        bench.read(.length(1), timeout: .milliseconds(1))
        bench.queue.isPausedByHand = true
        #expect(bench.queue.expire(now: .at(1)) != nil)
    }
}
