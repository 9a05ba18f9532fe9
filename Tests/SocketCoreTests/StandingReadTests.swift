import SocketCore
import Testing

struct StandingReadTests {
    @Test func aStandingReadCompletesAgainAndAgain() {
        var bench = ReadBench()
        bench.read(.through("\n"), tag: 5, isStanding: true)
        bench.arrive("a\nb\nc")
        let deliveries = bench.takeActions().map(\.delivery)
        #expect(deliveries.map { $0?.tag } == [5, 5])
        #expect(deliveries.map { $0?.operation } == [OperationID(1), OperationID(1)])
        #expect(deliveries.allSatisfy { $0?.isStanding == true })
        #expect(bench.queue.completed == 2)
        bench.arrive("\n")
        #expect(bench.takeTexts() == ["c\n"])
    }

    @Test func aLendingReadCompletesWithoutBytesOnlyWhereNoneLieBeforeThem() {
        var queue = ReadQueue()
        #expect(lend("x", of: &queue, now: .zero) == nil)
        queue.enqueue(.borrowing(tag: 4), as: OperationID(1), now: .zero)
        let lent = lend("bytes", of: &queue, now: .at(5))
        #expect(lent?.operation == OperationID(1) && lent?.tag == 4 && lent?.count == 5 && lent?.started == .zero)
        #expect(queue.completed == 1)
        Array("early".utf8).withUnsafeBytes { queue.receive($0, now: .at(6)) }
        #expect(lend("x", of: &queue, now: .at(6)) == nil)
        guard case .deliver(let delivery) = queue.advance(now: .at(6)) else {
            Issue.record("what was gathered is not delivered")
            return
        }
        #expect(delivery.bytes == Array("early".utf8) && delivery.lendsBytes)
        #expect(lend("x", of: &queue, now: .at(7))?.started == .at(6))
    }

    @Test func aLendingLineReadLendsWholeLinesAndGathersTheRest() {
        var queue = ReadQueue()
        queue.enqueue(.borrowing(upTo: Array("\r\n".utf8), limit: 6), as: OperationID(1), now: .zero)
        #expect(lend("ab\r\ncd", of: &queue, now: .zero)?.count == 4)
        #expect(lend("cd", of: &queue, now: .zero) == nil)
        #expect(lend("longer\r\n", of: &queue, now: .zero) == nil, "its limit comes before its delimiter")
        Array("cd".utf8).withUnsafeBytes { queue.receive($0, now: .zero) }
        #expect(queue.advance(now: .zero) == .none)
        #expect(lend("\r\n", of: &queue, now: .zero) == nil, "its first bytes lie elsewhere")
        Array("\r\nef\r\n".utf8).withUnsafeBytes { queue.receive($0, now: .zero) }
        for line in ["cd\r\n", "ef\r\n"] {
            guard case .deliver(let delivery) = queue.advance(now: .zero) else {
                Issue.record("\(line.debugDescription) is not delivered")
                return
            }
            #expect(delivery.bytes == Array(line.utf8) && delivery.lendsBytes)
        }
        #expect(lend("gh\r\n", of: &queue, now: .zero)?.count == 4)
        #expect(queue.completed == 4)
    }

    private func lend(_ text: String, of queue: inout ReadQueue, now: MonotonicTime) -> Loan? {
        Array(text.utf8).withUnsafeBytes { queue.lend($0, now: now) }
    }

    @Test func aStandingReadMakesWayForAnyOtherWithoutLosingAByte() {
        for standing in [ReadRequest.Kind.length(10), .through("\n")] {
            var bench = ReadBench()
            bench.read(standing, tag: 1, isStanding: true)
            bench.arrive("abcd")
            #expect(bench.takeActions().isEmpty)
            bench.read(.length(2), tag: 2)
            bench.read(.length(1), tag: 3)
            #expect(bench.takeTexts() == ["ab", "c"])
            bench.arrive("efghijklm\n")
            #expect(bench.takeTexts() == (standing == .length(10) ? ["defghijklm"] : ["defghijklm\n"]))
        }
    }

    @Test func aStandingAvailableReadGivesBackWhatItHasNotDelivered() {
        var bench = ReadBench()
        bench.read(.available(limit: nil), isStanding: true)
        Array("abc".utf8).withUnsafeBytes { bench.queue.receive($0, now: .zero) }
        bench.read(.length(2))
        #expect(bench.takeTexts() == ["ab", "c"])
    }

    @Test func readsQueuedWhileTheStandingOneWaitsGoBeforeIt() {
        var bench = ReadBench()
        bench.read(.available(limit: nil), tag: 9, isStanding: true)
        for tag in 1...3 { bench.read(.length(1), tag: tag) }
        #expect(bench.queue.snapshot(listing: 64).pending.map(\.tag) == [2, 3, 9])
        bench.arrive("abcdef")
        #expect(bench.takeActions().map { $0.delivery?.tag } == [1, 2, 3, 9])
    }

    @Test func aNewerStandingReadReplacesTheOneInHand() {
        var bench = ReadBench()
        bench.read(.length(10), tag: 1, isStanding: true)
        bench.arrive("abcd")
        let replaced = bench.queue.enqueue(
            ReadRequest(.length(3), tag: 2, isStanding: true), as: OperationID(7), now: .zero)
        #expect(replaced?.tag == 1)
        #expect(replaced?.bytes == [])
        #expect(replaced?.error.reason == .disconnected)
        #expect(replaced?.error.detail == "replaced by a newer standing read")
        bench.pump()
        #expect(bench.takeTexts() == ["abc"])
        #expect(bench.queue.snapshot(listing: 64).pendingCount == 0)
    }

    @Test func aNewerStandingReadReplacesTheOneThatWaits() {
        var bench = ReadBench()
        bench.read(.available(limit: nil), tag: 1, isStanding: true)
        bench.read(.length(1), tag: 2)
        let replaced = bench.queue.enqueue(
            ReadRequest(.length(3), tag: 3, isStanding: true), as: OperationID(7), now: .zero)
        #expect(replaced?.tag == 1)
        #expect(bench.queue.snapshot(listing: 64).pending.map(\.tag) == [3])
        #expect(bench.queue.currentOperation?.tag == 2)
    }

    @Test func theTimeOfAStandingReadCountsAnewForEachItem() {
        var bench = ReadBench()
        bench.read(.through("\n"), timeout: .milliseconds(100), isStanding: true)
        bench.now = .at(60)
        bench.arrive("a\n")
        #expect(bench.queue.deadline == .at(160))
        bench.read(.length(1))
        #expect(bench.queue.deadline == nil)
        bench.now = .at(500)
        bench.arrive("x")
        #expect(bench.queue.deadline == .at(600))
    }

    @Test func aStandingReadThatIsAskingStopsAskingWhenItMakesWay() {
        var bench = ReadBench()
        let standing = bench.read(.length(5), timeout: .milliseconds(100), isStanding: true)
        #expect(bench.queue.expire(now: .at(100)) != nil)
        bench.read(.length(1))
        #expect(bench.queue.isAsking == false)
        #expect(bench.queue.answer(standing, extendBy: .seconds(1), now: .at(101)) == false)
        bench.arrive("a")
        #expect(bench.takeTexts() == ["a"])
    }

    @Test func aStandingReadThatFailsForItsTimeEndsForGood() {
        var bench = ReadBench()
        let standing = bench.read(.length(5), timeout: .milliseconds(100), isStanding: true)
        bench.arrive("ab")
        _ = bench.queue.expire(now: .at(100))
        #expect(bench.queue.failAsking(standing, error: .test, now: .at(100))?.bytes == Array("ab".utf8))
        #expect(bench.queue.hasCurrent == false)
        #expect(bench.queue.failNext(error: .test) == nil)
    }

    @Test func aStandingReadHoldsADrainUpOnlyWhileItHasBytes() {
        var bench = ReadBench()
        bench.read(.through("\n"), isStanding: true)
        #expect(bench.queue.isDrained == true)
        #expect(bench.queue.hasCurrent == true)
        bench.arrive("a")
        #expect(bench.queue.isDrained == false)
        bench.arrive("\n")
        #expect(bench.queue.isDrained == true)
        bench.read(.length(1))
        #expect(bench.queue.isDrained == false)
    }

    @Test func aStandingReadThatOverrunsItsLimitFailsWithoutAPartial() {
        var bench = ReadBench()
        bench.read(.through("\n", limit: 3), isStanding: true)
        bench.arrive("abcd")
        let actions = bench.takeActions()
        #expect(actions.count == 1)
        #expect(actions.first?.overrun?.bytes == Array("abc".utf8))
    }
}
