import Glibc
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// What could be seen of a demo while it was watched: each event, and each row of each snapshot.
private struct History: Sendable {
    var events: [SocketEvent] = []
    var lost: UInt64 = 0
    var rows: [SocketSnapshot] = []

    /// All pictures of the sockets of this name, in order.
    func rows(_ name: String, _ role: SocketRole = .client) -> [SocketSnapshot] {
        rows.filter { $0.name == name && $0.role == role }
    }

    /// What happened to the first socket of this name, in order.
    func kinds(_ name: String, _ role: SocketRole = .client, tag: Int? = nil) -> [SocketEvent.Kind] {
        let id = rows.first { $0.name == name && $0.role == role }?.id
        return events.filter { $0.socket == id && (tag == nil || $0.tag == tag) }.map(\.kind)
    }

    /// Whether these things happened to it in this order, whatever came between.
    func happened(
        _ wanted: [SocketEvent.Kind], to name: String, _ role: SocketRole = .client, tag: Int? = nil
    ) -> Bool {
        var rest = wanted[...]
        for kind in kinds(name, role, tag: tag) where kind == rest.first { rest.removeFirst() }
        return rest.isEmpty
    }
}

/// A demo that plays five times as fast as it does for people, and what has been seen of it.
private final class Watch {
    private let engine = SocketEngine()
    private let demo: Demo
    private var nextEvent: UInt64 = 0
    private(set) var history = History()

    init() throws {
        demo = try Demo(engine: engine, tick: .milliseconds(20))
    }

    /// Takes one more snapshot.
    @discardableResult
    func look() -> EngineSnapshot {
        let snapshot = engine.snapshot(SnapshotRequest(kernel: .all, eventsFrom: nextEvent))
        nextEvent = snapshot.nextEvent
        history.events += snapshot.events
        history.lost += snapshot.eventsLost
        history.rows += snapshot.sockets
        return snapshot
    }

    /// Looks once a tick until a snapshot is so, long enough for a few rounds of the whole demo.
    func sees(_ condition: (EngineSnapshot) -> Bool) -> Bool {
        var next = ContinuousClock.now
        return eventually {
            guard ContinuousClock.now >= next else { return false }
            next = ContinuousClock.now + .milliseconds(20)
            return condition(look())
        }
    }

    /// One whole round, from the first refused connect to the next one.
    static let round: History? = {
        guard let watch = try? Watch() else { return nil }
        let isOver = watch.sees { $0.sockets.filter { $0.name == "refused" && $0.phase == .closed }.count == 2 }
        return isOver ? watch.history : nil
    }()
}

@Suite("The demo", .timeLimit(.minutes(10)))
struct DemoTests {
    private let round: History

    init() throws {
        round = try #require(Watch.round, "the round does not end")
    }

    @Test("a length read's bar fills, step by step and to the end")
    func bar() {
        let shares = round.rows("block reader").compactMap { row in
            row.reading.current.flatMap { $0.tag == 42 && $0.total == 4_096 ? $0.done : nil }
        }
        #expect(Set(shares).count > 10)
        #expect(round.happened([.readPartial, .readDone], to: "block reader", tag: 42))
    }

    @Test("a write queue grows while its reader stalls, and drains")
    func stall() throws {
        let rows = round.rows("writer")
        let full = try #require(rows.firstIndex { $0.writing.pendingBytes > 500_000 })
        #expect(rows[full].writing.pendingCount > 5)
        #expect((rows[full].writing.current?.tag ?? 0) > 0)
        #expect(rows[full...].contains { $0.writing.pendingBytes < 100_000 })
        #expect(round.happened([.writeBlocked, .writeUnblocked], to: "writer"))
        #expect(round.happened([.readingPaused, .readingResumed], to: "slow reader", .accepted))
    }

    @Test("delimiter reads complete", arguments: [("alice", 1), ("bob", 1), ("line reader", 43)])
    func lines(name: String, tag: Int) {
        #expect(round.happened([.readDone, .readDone], to: name, tag: tag))
        #expect(round.rows(name).contains { $0.reading.current?.kind.isUntilLineEnd ?? false })
    }

    @Test("a read times out, gets more time, and completes")
    func patience() {
        #expect(
            round.happened([.readQueued, .readTimedOut, .timeoutExtended, .readDone], to: "patient", tag: 2))
        #expect(!round.kinds("patient").contains(.readFailed))
    }

    @Test("one end sends FIN and listens on, the other answers in CLOSE-WAIT and closes")
    func halfClose() {
        #expect(round.happened([.connected, .halfClosed, .readDone, .peerClosed, .closed], to: "half-closer"))
        #expect(round.rows("half-closer").contains { $0.isWriteShut && $0.kernel?.state == "FIN-WAIT-2" })
        #expect(round.rows("half-closer").contains { $0.closed?.error?.reason == .closedByPeer })
        #expect(round.happened([.peerClosed, .writeDone, .closed], to: "half-open", .accepted))
        #expect(round.rows("half-open", .accepted).contains { $0.kernel?.state == "CLOSE-WAIT" })
        #expect(round.rows("half-open", .accepted).contains { $0.closed?.mode == .afterWriting })
    }

    @Test("a connect is refused")
    func refusal() throws {
        let row = try #require(round.rows("refused").last)
        #expect(row.closed?.error?.reason == .system(errno: ECONNREFUSED))
        #expect(row.connect?.attempts.map(\.outcome) == [.failed(errno: ECONNREFUSED)])
        #expect(round.happened([.connectAttempt, .connectRefused, .closed], to: "refused"))
    }

    @Test(
        "sessions end, each for its reason",
        arguments: [
            ("leaver", nil), ("visitor", .closedByPeer), ("visitor", .system(errno: ECONNRESET)),
            ("impatient", .readTimeout), ("greedy", .readMaxedOut),
        ] as [(String, SocketError.Reason?)])
    func endings(name: String, reason: SocketError.Reason?) {
        let endings = round.rows(name).compactMap(\.closed)
        #expect(endings.contains { $0.error?.reason == reason && ($0.mode != nil) == (reason == nil) })
    }

    @Test("it is bounded, and none of its events is lost between two looks")
    func bounds() {
        #expect(round.lost == 0)
        #expect(round.rows.allSatisfy { $0.writing.pendingBytes < 2_000_000 })
        #expect(Set(round.rows.filter { $0.phase != .closed }.map(\.id)).count < 40)
    }

    @Test("ss lists every live socket as the engine does", .enabled(if: Peer.isUsable("ss"), "ss is missing"))
    func secondOpinion() throws {
        let watch = try Watch()
        #expect(watch.sees { $0.sockets.contains { $0.kernel?.state == "CLOSE-WAIT" } })
        // A socket may come or go while ss runs, so only those count that were there before and after.
        var missing: [String] = []
        var compared = 0
        let agrees = try eventually {
            let before = watch.look().sockets.filter { $0.phase != .closed }
            let listed = try SocketStatistics.all().filter { $0.processes.contains(getpid()) }
            let after = watch.look().sockets
            let steady = before.filter { old in
                after.contains { $0.id == old.id && $0.phase != .closed && $0.kernel?.state == old.kernel?.state }
            }
            missing = steady.filter { row in !listed.contains { Self.isSame(row, $0) } }.map { "\($0)" }
            compared = steady.count
            return missing.isEmpty && compared > 15
        }
        #expect(agrees, "\(compared) compared; \(missing)")
    }

    private static func isSame(_ row: SocketSnapshot, _ listed: SocketStatistics) -> Bool {
        row.local?.port == listed.localPort && row.peer?.port == listed.peerPort && row.kernel?.state == listed.state
    }
}

extension OperationSnapshot.Kind {
    /// Whether it reads until CRLF.
    fileprivate var isUntilLineEnd: Bool {
        if case .read(.delimiter([13, 10], _)) = self { true } else { false }
    }
}
