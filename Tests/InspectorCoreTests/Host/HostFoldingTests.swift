import InspectorCore
import SocketCore
import Testing

/// The kernel keeps thousands of sockets in TIME-WAIT. A screen gets one row for all of them.
@Suite("The row of the host's sockets in TIME-WAIT")
struct HostFoldingTests {
    /// A host that is looked at again and again.
    private struct Watched {
        var world = HostWorld()
        var (judge, rows) = (HostJudge(), HostRows())
        var former: HostLook?
        /// Whether looks list what changed.
        let tells: Bool

        init(tells: Bool) {
            self.tells = tells
            world.program(4711, "api.py")
            _ = world.listen(4711, 3, port: 80)
        }

        mutating func see(_ time: Double, waiting: Range<UInt64>, folds: Bool = true) -> EngineSnapshot {
            var look = world.look(time)
            look.sockets += waiting.map { HostSocket(id: $0, .tcp, .timeWait, time: look.time, inode: 0) }
            if tells { look.tellChanges(since: former) }
            former = look
            var bare = HostLook(time: look.time, sockets: look.sockets)
            (bare.places, bare.changes) = (look.places, look.changes)
            look.examined = judge.absorb(bare)
            judge.absorbExamined(look)
            return rows.snapshot(of: look, by: judge, [], wallNanoseconds: 0, folds: folds)
        }
    }

    private static func waiting(_ snapshot: EngineSnapshot) -> [SocketSnapshot] {
        snapshot.sockets.filter { $0.host?.state == .timeWait }
    }

    @Test("it stays while sockets come and go, and says how many they are", arguments: [true, false])
    func folded(tells: Bool) throws {
        var host = Watched(tells: tells)
        let first = try #require(Self.waiting(host.see(10, waiting: 100..<105)).first)
        #expect(first.host?.alike == 5)
        for (time, waiting) in [(11, 101..<103), (12, 102..<500)] as [(Double, Range<UInt64>)] {
            let rows = Self.waiting(host.see(time, waiting: waiting))
            #expect(rows.map(\.id) == [first.id] && rows.first?.host?.alike == waiting.count)
        }
        let none = host.see(13, waiting: 0..<0)
        #expect(none.sockets.map(\.role) == [.listener] && none.counters.closed == 0 && none.counters.opened == 1)
        #expect(Self.waiting(host.see(14, waiting: 600..<603)).map(\.id) == [first.id])
    }

    @Test("each has its own where that is asked for", arguments: [true, false])
    func unfolded(tells: Bool) {
        var host = Watched(tells: tells)
        _ = host.see(10, waiting: 100..<105)
        let rows = Self.waiting(host.see(11, waiting: 100..<105, folds: false))
        #expect(rows.count == 5 && rows.allSatisfy { $0.host?.alike == 1 } && Set(rows.map(\.id)).count == 5)
        let again = Self.waiting(host.see(12, waiting: 100..<105))
        #expect(again.count == 1 && again.first?.host?.alike == 5)
    }

    @Test("the summary counts each of them")
    func summary() {
        var host = Watched(tells: true)
        #expect(SnapshotSummary(host.see(10, waiting: 100..<105), joinsPairs: true).live == 6)
    }

    @Test("the first look, which proves nothing yet, lists what seems stuck first and it last")
    func order() {
        func row(_ id: UInt64, _ state: HostState, unread: Int64? = 0, for asks: Duration? = nil) -> SocketSnapshot {
            let role: SocketRole = state == .listening ? .listener : .client
            var row = SocketSnapshot(id: SocketID(id), role: role, phase: .connected, target: "", opened: .zero)
            var host = HostSnapshot()
            (host.state, host.unread, host.asksFor) = (state, unread, asks)
            row.host = host
            return row
        }
        let rows = [
            row(1, .timeWait), row(2, .listening, unread: nil), row(3, .established, for: .seconds(600)),
            row(4, .established, unread: 9, for: .seconds(8)), row(5, .established, unread: 9, for: .milliseconds(20)),
        ]
        let sorted = ListKind.host.order.ids(of: rows, World.now, Findings(LintSettings()))
        #expect(sorted.map(\.number) == [4, 3, 5, 2, 1])
    }
}
