import SocketTestSupport
import Testing

@testable import SocketKit

/// How much traffic an engine keeps for a user to look at.
@Suite(.timeLimit(.minutes(10))) struct TrafficLimitTests {
    private func engine(each: Int, all: Int) -> SocketEngine {
        var configuration = EngineConfiguration()
        configuration.capturesTraffic = true
        (configuration.trafficLimit, configuration.totalTrafficLimit) = (each, all)
        return SocketEngine(configuration)
    }

    private func kept(_ engine: SocketEngine, _ id: SocketID?) -> TrafficSnapshot? {
        id.flatMap { engine.snapshot(SnapshotRequest(traffic: $0)).traffic }
    }

    private func bytes(_ traffic: TrafficSnapshot?) -> Int {
        traffic?.items.reduce(0) { $0 + $1.bytes.count + $1.tail.count } ?? 0
    }

    @Test func aLargeMessageKeepsItsBeginningAndItsEndAndNothingBeforeItGoes() throws {
        let engine = engine(each: 128 << 10, all: 64 << 20)
        let pair = try ConnectedPair(engine: engine)
        for tag in 1...30 { pair.socket.read(ReadRequest(.length(6), tag: tag)) }
        pair.socket.read(ReadRequest(.length(3_000_000), tag: 31))
        for _ in 1...30 { try pair.peerSends(Array("small\n".utf8)) }
        let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try pair.peerSends(large)
        let isOver: (TrafficItem) -> Bool = { $0.tag == 31 && $0.state.isOver }
        #expect(eventually { kept(engine, pair.socket.session)?.items.last.map(isOver) == true })
        let items = try #require(kept(engine, pair.socket.session)).items
        #expect(items.map(\.tag) == Array(1...31))
        let item = try #require(items.last)
        #expect(item.bytes == Array(large.prefix(2_048)) && item.tail == Array(large.suffix(2_048)))
    }

    @Test func allSessionsTogetherKeepNoMoreThanTheLimitAndThoseThatKeepMostGiveSomeUp() {
        #expect(EvenShare.level([10, 20, 30], sum: 100) == 30)
        #expect(EvenShare.level([10, 20, 300, 400], sum: 130) == 50)
        #expect(EvenShare.level([], sum: 10) == 0)
        #expect(EvenShare.level([5, 5], sum: 0) == 0)
    }

    private func use(_ number: UInt64, at seconds: Int64, _ cost: Int) -> TrafficUse {
        TrafficUse(id: SocketID(number), latest: MonotonicTime(nanoseconds: seconds * 1_000_000_000), cost: cost)
    }

    @Test func whereAShareIsOfNoUseThoseThatWereQuietTheLongestGiveAllOfTheirs() {
        let many = (UInt64(1)...60_000).map { use($0, at: Int64($0 / 7), 1_100) }
        let share = TrafficShare(of: many.shuffled(), sum: 56 << 20)
        let kept = many.filter { share[$0] >= $0.cost }
        #expect(kept.count == (56 << 20) / 1_100)
        #expect(kept.map(\.id) == many.suffix(kept.count).map(\.id), "the latest, and of one instant the newer ones")
        #expect(many.filter { share[$0] != 0 }.count == kept.count)
        let few = [use(1, at: 1, 5_000), use(2, at: 2, 50_000)]
        #expect(few.map { TrafficShare(of: few, sum: 20_000)[$0] } == [15_000, 15_000])
        #expect(few.map { TrafficShare(of: few, sum: 5_000)[$0] } == [0, 4_096])
        #expect(few.map { TrafficShare(of: few, sum: 1_000)[$0] } == [0, 1_000])
        #expect(few.map { TrafficShare(of: few, sum: 0)[$0] } == [0, 0])
    }

    @Test func amongManySessionsTheLatestKeepTheirs() throws {
        let engine = engine(each: 1 << 20, all: 16 << 10)
        let pairs = try (0..<40).map { _ in try ConnectedPair(engine: engine) }
        for pair in pairs {
            pair.socket.read(ReadRequest(.length(5)))
            try pair.peerSends(Array("hello".utf8))
            #expect(eventually { bytes(kept(engine, pair.socket.session)) == 5 })
        }
        let left = pairs.map { bytes(kept(engine, $0.socket.session)) }
        #expect(left.suffix(8) == Array(repeating: 5, count: 8) && left.first == 0)
    }

    @Test func closedSessionsCountTooAndSmallOnesKeepTheirs() throws {
        let engine = engine(each: 1 << 20, all: 256 << 10)
        let quiet = try ConnectedPair(engine: engine)
        quiet.socket.read(ReadRequest(.length(11)))
        try quiet.peerSends(Array("remember me".utf8))
        #expect(eventually { bytes(kept(engine, quiet.socket.session)) == 11 })
        var ids: [SocketID] = []
        for _ in 0..<3 {
            let pair = try ConnectedPair(engine: engine)
            ids += [try #require(pair.socket.session)]
            for tag in 1...20 { pair.socket.read(ReadRequest(.length(10_000), tag: tag)) }
            try pair.peerSends([UInt8](repeating: 7, count: 200_000))
            #expect(eventually { kept(engine, ids.last)?.items.last.map { $0.tag == 20 && $0.state.isOver } == true })
            pair.socket.disconnect(.now)
            #expect(eventually { pair.socket.session == nil })
        }
        let all = ids.reduce(0) { $0 + bytes(kept(engine, $1)) }
        #expect(all > 0 && all <= 256 << 10)
        #expect(bytes(kept(engine, ids.first)) < 200_000)
        #expect(bytes(kept(engine, quiet.socket.session)) == 11)
    }

    @Test func whatIsKeptIsACopyEvenOfTheWhole() {
        let bytes = [UInt8](repeating: 7, count: 4_096)
        let part = bytes.part(0..<8_192)
        #expect(part == bytes)
        #expect(bytes.withUnsafeBytes { $0.baseAddress } != part.withUnsafeBytes { $0.baseAddress })
    }
}

extension TrafficItem.State {
    fileprivate var isOver: Bool { self != .inProgress }
}
