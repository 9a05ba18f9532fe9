import SocketCore
import SocketTestSupport
import Testing

struct ReadQueueTests {
    @Test func anEmptyQueueWantsNothing() {
        var queue = ReadQueue()
        #expect(queue.wanted == 0)
        #expect(queue.advance(now: .zero) == .none)
        #expect(queue.isDrained == true)
        #expect(queue.hasCurrent == false)
        #expect(queue.deadline == nil)
        #expect(queue.snapshot(listing: 64) == QueueSnapshot())
    }

    @Test func whatIsWantedDependsOnTheReadInHand() {
        var bench = ReadBench()
        bench.read(.length(10))
        #expect(bench.queue.wanted == 10)
        bench.arrive("abc")
        #expect(bench.queue.wanted == 7)
        bench.queue.isPausedByHand = true
        #expect(bench.queue.wanted == 0)
        bench.queue.isPausedByHand = false
        bench.read(.available(limit: 4))
        bench.read(.available(limit: nil))
        bench.read(.through("\n", limit: 8))
        bench.arrive("defghij")
        #expect(bench.queue.wanted == 4)
        bench.arrive("kl")
        #expect(bench.queue.wanted == Int.max)
        bench.arrive("m")
        #expect(bench.queue.wanted == 8)
        bench.arrive("nop")
        #expect(bench.queue.wanted == 5)
    }

    @Test func anAvailableReadTakesWhatIsThere() {
        var bench = ReadBench()
        bench.read(.available(limit: nil), tag: 7)
        bench.now = .at(5)
        bench.arrive("hello")
        let delivery = ReadDelivery(
            operation: OperationID(1), tag: 7, kind: .available(limit: nil), bytes: Array("hello".utf8),
            started: .zero, isStanding: false)
        #expect(bench.takeActions() == [.deliver(delivery)])
        #expect(bench.queue.isDrained == true)
        #expect(bench.queue.completed == 1)
    }

    /// Statement 42.
    @Test func availableReadsKeepToTheirLimit() {
        var bench = ReadBench()
        bench.arrive("0123456789")
        for _ in 0..<3 { bench.read(.available(limit: 4)) }
        #expect(bench.takeTexts() == ["0123", "4567", "89"])
    }

    @Test func bytesBeyondWhatWasWantedAreKeptForTheNextRead() {
        var bench = ReadBench()
        bench.read(.available(limit: 2))
        Array("abcdef".utf8).withUnsafeBytes { bench.queue.receive($0, now: .zero) }
        bench.pump()
        bench.read(.length(3))
        #expect(bench.takeTexts() == ["ab", "cde"])
        #expect(bench.queue.prebuffered == 1)
    }

    @Test func bytesReadAheadAreNotWantedAgain() {
        var queue = ReadQueue()
        Array("abc".utf8).withUnsafeBytes { queue.receive($0, now: .zero) }
        queue.enqueue(ReadRequest(.length(10)), as: OperationID(1), now: .zero)
        #expect(queue.wanted == 7)
        Array("defghij".utf8).withUnsafeBytes { queue.receive($0, now: .zero) }
        #expect(queue.advance(now: .zero).delivery?.bytes == Array("abcdefghij".utf8))
    }

    /// Every byte is a candidate here: a search that began anew at each would look at five thousand million and take
    /// the better part of a minute, where this takes a fraction of a second.
    @Test func aDelimiterReadLooksAtDrippedBytesOnce() {
        var queue = ReadQueue()
        queue.enqueue(ReadRequest(.through("ab")), as: OperationID(1), now: .zero)
        let elapsed = ContinuousClock().measure {
            for _ in 0..<100_000 {
                Array("b".utf8).withUnsafeBytes { queue.receive($0, now: .zero) }
                _ = queue.advance(now: .zero)
            }
        }
        #expect(elapsed < .seconds(15))
        Array("ab".utf8).withUnsafeBytes { queue.receive($0, now: .zero) }
        #expect(queue.advance(now: .zero).delivery?.bytes.count == 100_002)
    }

    /// Statement 43.
    @Test func aLengthReadReportsWhatItHasUntilItIsDone() {
        var bench = ReadBench()
        bench.read(.length(5), tag: 1)
        bench.arrive("ab")
        #expect(bench.takeActions() == [.partial(operation: OperationID(1), tag: 1, increment: 2, done: 2)])
        #expect(bench.queue.currentOperation?.done == 2)
        #expect(bench.queue.currentBytes(0..<1) == Array("a".utf8))
        bench.arrive("cde")
        #expect(bench.takeTexts() == ["abcde"])
    }

    @Test func aPassReportsItsBytesOnce() {
        var bench = ReadBench()
        bench.read(.length(5))
        for byte in "ab".utf8 { [byte].withUnsafeBytes { bench.queue.receive($0, now: .zero) } }
        bench.pump()
        #expect(bench.takeActions().map(\.increment) == [2])
        bench.pump()
        #expect(bench.takeActions().isEmpty)
    }

    /// Statement 44.
    @Test func aDelimiterThatStraddlesTwoPassesIsFound() {
        var bench = ReadBench()
        bench.read(.through("\r\n"))
        bench.arrive("a\r")
        #expect(bench.takeActions().map(\.increment) == [2])
        #expect(bench.queue.prebuffered == 0)
        #expect(bench.queue.currentBytes(0..<32) == Array("a\r".utf8))
        bench.arrive("\nb")
        #expect(bench.takeTexts() == ["a\r\n"])
        #expect(bench.queue.prebuffered == 1)
        bench.read(.available(limit: nil))
        #expect(bench.takeTexts() == ["b"])
    }

    /// Statement 45.
    @Test func oneSegmentSatisfiesReadsOfDifferentKinds() {
        var bench = ReadBench()
        bench.read(.through("\r\n"), tag: 1)
        bench.read(.through("\r\n"), tag: 2)
        bench.read(.length(2), tag: 3)
        bench.arrive("l1\r\nl2\r\nl3")
        let actions = bench.takeActions()
        #expect(actions.compactMap { $0.delivery?.tag } == [1, 2, 3])
        #expect(
            actions.compactMap { $0.delivery.map { String(decoding: $0.bytes, as: UTF8.self) } } == [
                "l1\r\n", "l2\r\n", "l3",
            ])
    }

    /// Statement 47, first half.
    @Test func aDelimiterReadThatReachesItsLimitReportsItsBytesAndFails() throws {
        var bench = ReadBench()
        bench.read(.through("\n", limit: 5), tag: 9)
        bench.read(.available(limit: nil))
        bench.arrive("abcde\n")
        let actions = bench.takeActions()
        #expect(actions.first == .partial(operation: OperationID(1), tag: 9, increment: 5, done: 5))
        let failed = try #require(actions.last?.overrun)
        #expect(actions.count == 2)
        #expect(failed.tag == 9)
        #expect(failed.done == 5)
        #expect(failed.bytes == Array("abcde".utf8))
        #expect(failed.error.reason == .readMaxedOut)
        #expect(failed.error.operation == "read")
        #expect(failed.error.detail == #"no delimiter "\n" within the limit of 5 bytes"#)
    }

    /// Statements 47, second half, and 48.
    @Test func aDelimiterThatEndsAtTheLimitOrBeforeIsFound() {
        var bench = ReadBench()
        bench.read(.through("\n", limit: 6))
        bench.arrive("abcde\n")
        bench.arrive("ab\ncdef")
        bench.read(.through("\n", limit: 5))
        #expect(bench.takeTexts() == ["abcde\n", "ab\n"])
        bench.read(.length(4))
        #expect(bench.takeTexts() == ["cdef"])
    }

    @Test func theLimitIsMetAtTheSamePlaceHoweverTheBytesCome() {
        let stream = Array("abcdefgh\n".utf8)
        let mismatch = DecoderVerifier.firstMismatch(of: stream, expected: [6], seed: 47, randomCuts: 50) { pieces in
            var bench = ReadBench()
            bench.read(.through("\n", limit: 6))
            for piece in pieces { bench.arrive(piece) }
            let actions = bench.takeActions()
            let reported = actions.compactMap(\.increment).reduce(0, +)
            return actions.compactMap { $0.overrun?.done == reported ? reported : nil }
        }
        #expect(mismatch == nil)
    }

    @Test func leftoversBeyondTheLimitCountOnlyAsFarAsTheLimit() {
        var bench = ReadBench()
        bench.read(.through("\n"))
        bench.arrive("1\nabcdefgh\n")
        bench.read(.through("\n", limit: 4))
        #expect(bench.takeActions().last?.overrun?.bytes == Array("abcd".utf8))
        #expect(bench.queue.takeUnread() == Array("efgh\n".utf8))
    }

    @Test func nothingIsTakenInHandAfterAnOverrun() {
        var bench = ReadBench()
        bench.read(.through("\n", limit: 1))
        bench.read(.length(1))
        bench.arrive("abc")
        _ = bench.takeActions()
        bench.read(.length(1))
        bench.arrive("def")
        #expect(bench.takeActions().isEmpty)
        #expect(bench.queue.hasCurrent == false)
        #expect(bench.queue.wanted == 0)
        #expect(bench.queue.failNext(error: .test)?.operation == OperationID(2))
        #expect(bench.queue.failNext(error: .test)?.operation == OperationID(3))
    }

    @Test func aReadThatBeginsOnLeftoversCountsThemAsItsProgress() {
        var bench = ReadBench()
        bench.read(.through("\n"))
        bench.arrive("a\nbcd")
        _ = bench.takeActions()
        bench.read(.through("\n"))
        #expect(bench.takeActions().map(\.increment) == [3])
        #expect(bench.queue.prebuffered == 0)
        #expect(bench.queue.currentOperation?.done == 3)
    }

    /// Statement 57.
    @Test(.timeLimit(.minutes(10))) func aHundredThousandTinyReadsDrainTheBuffer() {
        var queue = ReadQueue()
        let count = 100_000
        [UInt8](repeating: 1, count: count).withUnsafeBytes { queue.receive($0, now: .zero) }
        for number in 1...count {
            queue.enqueue(ReadRequest(.length(1)), as: OperationID(UInt64(number)), now: .zero)
        }
        var next: UInt64 = 1
        while let delivery = queue.advance(now: .zero).delivery, delivery.operation.number == next { next += 1 }
        #expect(next == UInt64(count + 1))
        #expect(queue.isDrained == true)
        #expect(queue.prebuffered == 0)
    }

    @Test func everyReadFailsOnceInOrderWhenTheConnectionCloses() {
        var bench = ReadBench()
        bench.read(.available(limit: nil), tag: 4, isStanding: true)
        bench.read(.through("\n"), tag: 1)
        bench.read(.length(5), tag: 2)
        bench.read(.available(limit: nil), tag: 3)
        bench.arrive("a\nbcd")
        _ = bench.takeActions()
        var failed: [FailedOperation] = []
        while let failure = bench.queue.failNext(error: .test) { failed.append(failure) }
        #expect(failed.map(\.tag) == [2, 3, 4])
        #expect(failed.map(\.bytes) == [Array("bcd".utf8), [], []])
        #expect(failed.map(\.total) == [5, nil, nil])
        #expect(bench.queue.takeUnread().isEmpty)
        #expect(bench.queue.isDrained == true)
    }

    @Test func unreadBytesAreThoseThatNoReadHas() {
        var bench = ReadBench()
        bench.read(.through("\n"))
        bench.arrive("a\nbcd")
        #expect(bench.queue.takeUnread() == Array("bcd".utf8))
        bench.read(.through("\n"))
        bench.arrive("ef")
        #expect(bench.queue.takeUnread().isEmpty)
        #expect(bench.queue.failNext(error: .test)?.bytes == Array("ef".utf8))
    }

    @Test func aSnapshotListsSomeOfTheReadsAndCountsThemAll() throws {
        var bench = ReadBench()
        bench.now = .at(100)
        bench.read(.length(9), timeout: .seconds(1), tag: 1)
        for tag in 2...6 { bench.read(.available(limit: nil), timeout: .seconds(2), tag: tag) }
        bench.now = .at(200)
        bench.arrive("abc")
        let snapshot = bench.queue.snapshot(listing: 2)
        #expect(snapshot.pendingCount == 5)
        #expect(snapshot.pending.map(\.tag) == [2, 3])
        #expect(snapshot.pending.first?.deadline == nil)
        let current = try #require(snapshot.current)
        #expect(current.started == .at(100))
        #expect(current.deadline == .at(1_100))
        #expect(current.lastProgress == .at(200))
        #expect(current.done == 3)
        #expect(current.total == 9)
        #expect(current.timeout == .seconds(1))
        #expect(current.preview == Array("abc".utf8))
    }
}
