import SocketCore
import Testing

struct TrafficLogTests {
    @Test func anOperationInProgressIsOneItem() throws {
        var log = TrafficLog()
        log.record(1, done: 2, state: .inProgress, at: 10)
        log.record(1, done: 5, state: .inProgress, at: 20)
        log.record(1, done: 6, state: .complete(after: .milliseconds(30)), at: 30)
        let item = try #require(log.snapshot.items.first)
        #expect(log.snapshot.items.count == 1)
        #expect(item.sequence == 0)
        #expect(item.time == .at(10))
        #expect(item.done == 6)
        #expect(item.bytes == [0, 1, 2, 3, 4, 5])
        #expect(item.state == .complete(after: .milliseconds(30)))
    }

    @Test func aCompletedOperationThatComesAgainIsANewItem() {
        var log = TrafficLog()
        log.record(1, done: 2, state: .complete(after: .zero), at: 10)
        log.record(1, done: 3, state: .complete(after: .zero), at: 20)
        #expect(log.snapshot.items.map(\.sequence) == [0, 1])
        #expect(log.snapshot.items.map(\.time) == [.at(10), .at(20)])
    }

    @Test func whatAUserInjectedIsMarkedAndNothingElse() {
        var log = TrafficLog()
        log.markInjected(OperationID(2))
        log.record(1, direction: .sent, done: 1, state: .inProgress, at: 1)
        log.record(2, done: 1, state: .inProgress, at: 2)
        log.record(2, direction: .sent, done: 1, state: .inProgress, at: 3)
        log.record(2, direction: .sent, done: 3, state: .complete(after: .zero), at: 4)
        log.record(3, direction: .sent, done: 1, state: .inProgress, at: 5)
        #expect(log.snapshot.items.map(\.isInjected) == [false, false, true, false])
    }

    @Test func theTwoDirectionsAreKeptApart() {
        var log = TrafficLog()
        log.record(1, done: 1, state: .inProgress, at: 1)
        log.record(1, direction: .sent, done: 2, state: .inProgress, at: 2)
        log.record(2, direction: .sent, done: 3, state: .failed("gone"), at: 3)
        log.record(1, done: 4, state: .failed("gone"), at: 4)
        #expect(log.snapshot.items.map(\.done) == [4, 2, 3])
        #expect(log.snapshot.items.map(\.state) == [.failed("gone"), .inProgress, .failed("gone")])
    }

    @Test func ofAnOperationInProgressOnlyTheBeginningIsAskedForAndNothingTwice() {
        var log = TrafficLog(limit: 640, itemCost: 0)
        var asked: [Range<Int>] = []
        for done in [3, 12, 15] {
            log.record(1, done: done, state: .inProgress, at: 1) { range in
                asked.append(range)
                return Array(repeating: 7, count: range.count)
            }
        }
        #expect(asked == [0..<3, 3..<10])
        #expect(log.snapshot.items.map(\.bytes.count) == [10] && log.snapshot.items.map(\.done) == [15])
    }

    @Test func aLargeMessageKeepsItsBeginningAndItsEndWhereItDoesNotFit() throws {
        var log = TrafficLog(limit: 640, itemCost: 0)
        log.record(1, done: 10_000, state: .complete(after: .zero), at: 1)
        let item = try #require(log.snapshot.items.first)
        #expect(item.bytes == (0..<10).map { UInt8($0) })
        #expect(item.tail == (9_990..<10_000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(item.missingBytes == 9_980)
    }

    @Test func aLargeMessageIsKeptWholeWhileThereIsRoomAndLosesItsMiddleBeforeAnythingElseGoes() throws {
        var log = TrafficLog(limit: 6_400, itemCost: 0)
        for number in 1...30 { log.record(UInt64(number), done: 20, state: .complete(after: .zero), at: 1) }
        log.record(31, done: 5_000, state: .complete(after: .zero), at: 2)
        #expect(log.snapshot.items[30].bytes.count == 5_000 && log.snapshot.items[30].tail.isEmpty)
        log.record(32, direction: .sent, done: 1_000, state: .complete(after: .zero), at: 3)
        let items = log.snapshot.items
        #expect(items.map(\.sequence) == Array(0..<32) && log.snapshot.dropped == 0)
        #expect(items[30].bytes.count == 100 && items[30].tail.count == 100 && items[30].missingBytes == 4_800)
        #expect(items[30].tail.last == UInt8(truncatingIfNeeded: 4_999))
        #expect(items[31].bytes.count == 1_000)
    }

    @Test func aLongRunOfItemsLosesItsMiddleAndSaysHowMuch() {
        var log = TrafficLog(limit: 6_400, itemCost: 0)
        log.record(1, direction: .sent, done: 20, state: .complete(after: .zero), at: 1)
        for number in 2...200 { log.record(UInt64(number), done: 100, state: .complete(after: .zero), at: 1) }
        let items = log.snapshot.items
        #expect(items[0].sequence == 0 && items[1].sequence == 1 && items.last?.sequence == 199)
        let gap = items[2]
        #expect(gap.sequence > 2 && gap.skipped == (gap.sequence - 2) * 100)
        #expect(log.snapshot.dropped == gap.sequence - 2)
        #expect(items.dropFirst(2).map(\.sequence) == Array(gap.sequence..<200))
        #expect(log.cost <= 6_400)
    }

    @Test func theOldestItemsMakeRoomAndAreCounted() {
        var log = TrafficLog(limit: 3, itemCost: 1)
        for number in 1...10 { log.record(UInt64(number), done: 0, state: .complete(after: .zero), at: 1) }
        #expect(log.snapshot.items.last?.sequence == 9 && log.snapshot.items.count <= 3)
        #expect(log.snapshot.dropped == 10 - UInt64(log.snapshot.items.count))
    }

    @Test func itemsThatAreNotEvenRecordedAreCountedLikewise() {
        var log = TrafficLog()
        log.record(1, done: 1, state: .complete(after: .zero), at: 1)
        log.passOver(5)
        for number in 7...9 { log.record(UInt64(number), done: 1, state: .complete(after: .zero), at: 1) }
        #expect(log.snapshot.items.map(\.sequence) == [0, 6, 7, 8] && log.snapshot.dropped == 5)
    }

    @Test func aConversationOfSmallItemsLosesItsOldest() {
        var log = TrafficLog(limit: 64_000)
        for number in 1...100 {
            let direction: TrafficItem.Direction = number % 2 == 0 ? .sent : .received
            log.record(UInt64(number), direction: direction, done: 9, state: .complete(after: .zero), at: 1)
        }
        let items = log.snapshot.items
        #expect(log.cost <= 64_000 && log.cost > 50_000)
        #expect(items.map(\.sequence) == Array(log.snapshot.dropped..<100))
        #expect(items.allSatisfy { $0.bytes.count == 9 })
    }

    @Test func theLatestItemIsAlwaysKept() {
        var log = TrafficLog(limit: 0)
        log.record(1, done: 50, state: .complete(after: .zero), at: 1)
        log.record(2, done: 50, state: .inProgress, at: 2)
        #expect(log.snapshot.items.map(\.operation.number) == [2])
        log.trim(to: 0)
        #expect(log.snapshot.items.isEmpty && log.snapshot.dropped == 2 && log.cost == 0)
    }

    @Test func whatIsShownIsNotChangedByWhatComesLater() {
        var log = TrafficLog()
        log.record(1, done: 1, state: .inProgress, at: 1)
        let before = log.snapshot
        log.record(1, done: 5, state: .complete(after: .zero), at: 2)
        #expect(before.items.map(\.done) == [1] && log.snapshot.items.map(\.done) == [5])
    }

    @Test func anItemThatWasDroppedWhileInProgressComesBackAsANewOne() {
        var log = TrafficLog(limit: 2, itemCost: 1)
        log.record(1, done: 0, state: .inProgress, at: 1)
        log.record(2, direction: .sent, done: 0, state: .complete(after: .zero), at: 2)
        log.record(3, done: 0, state: .complete(after: .zero), at: 3)
        log.record(1, done: 0, state: .complete(after: .zero), at: 4)
        #expect(log.snapshot.items.last?.operation.number == 1)
        #expect(log.snapshot.items.last?.sequence == 3)
        #expect(log.snapshot.dropped == 4 - UInt64(log.snapshot.items.count))
    }
}

extension TrafficLog {
    /// Records a read whose bytes count up from 0.
    fileprivate mutating func record(
        _ number: UInt64, direction: TrafficItem.Direction = .received, done: Int, state: TrafficItem.State,
        at milliseconds: Int64, bytes: (Range<Int>) -> [UInt8] = { $0.map { UInt8(truncatingIfNeeded: $0) } }
    ) {
        record(
            OperationID(number), direction: direction, tag: 0, kind: .read(.available(limit: nil)), done: done,
            total: nil, state: state, now: .at(milliseconds), bytes: bytes)
    }
}
