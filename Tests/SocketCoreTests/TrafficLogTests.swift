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

    @Test func theTwoDirectionsAreKeptApart() {
        var log = TrafficLog()
        log.record(1, done: 1, state: .inProgress, at: 1)
        log.record(1, direction: .sent, done: 2, state: .inProgress, at: 2)
        log.record(2, direction: .sent, done: 3, state: .failed("gone"), at: 3)
        log.record(1, done: 4, state: .failed("gone"), at: 4)
        #expect(log.snapshot.items.map(\.done) == [4, 2, 3])
        #expect(log.snapshot.items.map(\.state) == [.failed("gone"), .inProgress, .failed("gone")])
    }

    @Test func onlyTheFirstBytesAreKeptAndAskedForOnce() {
        var log = TrafficLog(snapLength: 4)
        var asked: [Int] = []
        for done in [3, 6, 9] {
            log.record(1, done: done, state: .inProgress, at: 1) { most in
                asked.append(most)
                return [7, 7, 7, 7, 7, 7]
            }
        }
        #expect(asked == [3, 4])
        #expect(log.snapshot.items.map(\.bytes) == [[7, 7, 7, 7]])
        #expect(log.snapshot.items.map(\.done) == [9])
    }

    @Test func theOldestItemsMakeRoomAndAreCounted() {
        var log = TrafficLog(maximumItems: 3)
        for number in 1...10 { log.record(UInt64(number), done: 1, state: .complete(after: .zero), at: 1) }
        #expect(log.snapshot.items.map(\.operation.number) == [8, 9, 10])
        #expect(log.snapshot.items.map(\.sequence) == [7, 8, 9])
        #expect(log.snapshot.dropped == 7)
    }

    @Test func itemsThatAreNotEvenRecordedAreCountedLikewise() {
        var log = TrafficLog(maximumItems: 3)
        log.record(1, done: 1, state: .complete(after: .zero), at: 1)
        log.passOver(5)
        for number in 7...9 { log.record(UInt64(number), done: 1, state: .complete(after: .zero), at: 1) }
        #expect(log.snapshot.items.map(\.sequence) == [6, 7, 8] && log.snapshot.dropped == 6)
    }

    @Test func theBytesOfAllItemsTogetherAreBounded() {
        var log = TrafficLog(maximumBytes: 10, snapLength: 4)
        for number in 1...5 { log.record(UInt64(number), done: 9, state: .complete(after: .zero), at: 1) }
        #expect(log.snapshot.items.map(\.bytes.count) == [4, 4])
        #expect(log.snapshot.dropped == 3)
    }

    @Test func theLatestItemIsAlwaysKept() {
        var log = TrafficLog(maximumItems: 0, maximumBytes: 3, snapLength: 100)
        log.record(1, done: 50, state: .complete(after: .zero), at: 1)
        log.record(2, done: 50, state: .inProgress, at: 2)
        #expect(log.snapshot.items.map(\.operation.number) == [2])
        #expect(log.snapshot.items.map(\.bytes.count) == [3])
    }

    @Test func anItemThatWasDroppedWhileInProgressComesBackAsANewOne() {
        var log = TrafficLog(maximumItems: 2)
        log.record(1, done: 1, state: .inProgress, at: 1)
        log.record(2, done: 1, state: .complete(after: .zero), at: 2)
        log.record(3, done: 1, state: .complete(after: .zero), at: 3)
        log.record(1, done: 2, state: .complete(after: .zero), at: 4)
        #expect(log.snapshot.items.map(\.operation.number) == [3, 1])
        #expect(log.snapshot.items.map(\.sequence) == [2, 3])
        #expect(log.snapshot.dropped == 2)
    }
}

extension TrafficLog {
    /// Records a read whose bytes count up from 0.
    fileprivate mutating func record(
        _ number: UInt64, direction: TrafficItem.Direction = .received, done: Int, state: TrafficItem.State,
        at milliseconds: Int64, bytes: (Int) -> [UInt8] = { most in (0..<most).map { UInt8(truncatingIfNeeded: $0) } }
    ) {
        record(
            OperationID(number), direction: direction, tag: 0, kind: .read(.available(limit: nil)), done: done,
            total: nil, state: state, now: .at(milliseconds), bytes: bytes)
    }
}
