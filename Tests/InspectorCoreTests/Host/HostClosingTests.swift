import InspectorCore
import SocketCore
import Testing

/// Sockets that are gone: their rows, their events, and resets.
@Suite("Sockets of the host that close")
struct HostClosingTests {
    /// A client with a server that has 98,000 bytes unread: sockets 1 and 2.
    private static func pair() -> HostWorld {
        var world = HostWorld()
        world.program(81, "curl")
        world.program(4711, "api.py")
        _ = world.listen(4711, 3, port: 80)
        let ends = world.connect((81, 3), (4711, 4), port: 80)
        world.fill(ends.server, 98_000)
        return world
    }

    /// Looks at second 10 and 11; before the second one these are closed, in this order, as the kernel tells it.
    private func closing(
        _ world: HostWorld, _ ids: [UInt64], read: Int64 = 0
    ) -> (judge: HostJudge, rows: HostRows, snapshot: EngineSnapshot) {
        var (judge, rows) = (HostJudge(), HostRows())
        judge.absorbExamined(world.look(10))
        _ = rows.snapshot(of: world.look(10), by: judge, [], wallNanoseconds: 0)
        var look = world.look(11)
        look.sockets.removeAll { ids.contains($0.id) }
        look.closings = ids.map { id in
            var socket = world[id]
            (socket.state, socket.inode, socket.peer) = (.closed, 0, nil)
            socket.receiveQueue = max(0, (socket.receiveQueue ?? 0) - read)
            return socket
        }
        judge.absorbExamined(look)
        let snapshot = rows.snapshot(of: look, by: judge, judge.verdicts().found, wallNanoseconds: 0)
        return (judge, rows, snapshot)
    }

    @Test("a program that closes with bytes unread has made a reset")
    func reset() throws {
        let (judge, rows, snapshot) = closing(Self.pair(), [3])
        let verdict = try #require(judge.verdicts().found.first { $0.lint == "reset-cause" })
        #expect(verdict.claim == "api.py[4711] closed with 96K unread, which causes a reset")
        #expect(verdict.severity == .warning && verdict.sockets == [3, 2] && verdict.lasting == nil)
        let row = try #require(snapshot.sockets.first { $0.host?.cookie == 3 })
        #expect(row.phase == .closed && row.ending == "closed with 96K unread: reset" && row.id == rows.id(of: 3))
        #expect(row.host?.verdicts.map(\.lint) == ["reset-cause"] && row.host?.program == "api.py[4711]")
    }

    @Test("after it was read, after its peer, with a peer elsewhere, it has not")
    func noReset() {
        #expect(closing(Self.pair(), [3], read: 98_000).judge.verdicts().found.isEmpty)
        #expect(closing(Self.pair(), [2, 3]).judge.verdicts().found.isEmpty)
        var far = Self.pair()
        far[2].local = .v4(host: "192.0.2.1", port: 9)
        #expect(closing(far, [3]).judge.verdicts().found.isEmpty)
        var empty = Self.pair()
        empty.read(3, 98_000)
        #expect(closing(empty, [3]).judge.verdicts().found.isEmpty)
    }

    @Test("a reset is news for a minute")
    func news() {
        var (judge, _, _) = closing(Self.pair(), [3])
        let world = HostWorld()
        judge.absorbExamined(world.look(70))
        #expect(judge.verdicts().found.map(\.lint) == ["reset-cause"])
        judge.absorbExamined(world.look(72))
        #expect(judge.verdicts().found.isEmpty)
    }

    @Test("what the kernel only does not list is gone the second time; what is in TIME-WAIT stays")
    func missing() throws {
        var world = Self.pair()
        var (judge, rows) = (HostJudge(), HostRows())
        func snapshot(_ look: HostLook) -> EngineSnapshot {
            judge.absorbExamined(look)
            return rows.snapshot(of: look, by: judge, [], wallNanoseconds: 0)
        }
        let id = try #require(snapshot(world.look(10)).sockets.first { $0.host?.cookie == 2 }?.id)
        var look = world.look(11)
        look.sockets.removeAll { $0.id == 2 }
        #expect(snapshot(look).sockets.count == 2)
        let again = snapshot(world.look(12)).sockets
        #expect(again.count == 3 && again.allSatisfy(\.isLive) && again.contains { $0.id == id })
        world.leave(2)
        look = world.look(13)
        var left = world[2]
        (left.state, left.inode) = (.timeWait, 0)
        look.sockets.append(left)
        look.closings = [left]
        #expect(snapshot(look).sockets.allSatisfy { $0.isLive })
        // The world does not list it any more.
        #expect(snapshot(world.look(14)).sockets.count == 2)
        for second in [15.0, 16] {
            look = world.look(second)
            look.sockets.removeAll { $0.id == 3 }
            _ = snapshot(look)
        }
        let closed = try #require(snapshot(look).sockets.first { !$0.isLive })
        #expect(closed.host?.cookie == 3 && closed.ending == "reset or timed out; still held by api.py[4711]")
    }

    /// Looks at second 10, and twice without a socket of which the kernel does not say that it was destroyed.
    private func unlisted(
        _ world: HostWorld, _ id: UInt64 = 2, lost: UInt64? = 0, namespaces: [UInt16: HostNamespace] = [:]
    ) -> (rows: HostRows, judge: HostJudge, ending: String?) {
        var (judge, rows) = (HostJudge(), HostRows())
        var look = world.look(10)
        look.namespaces = namespaces
        judge.absorbExamined(look)
        var snapshot = rows.snapshot(of: look, by: judge, [], wallNanoseconds: 0)
        for second in [11.0, 12] {
            look = world.look(second)
            look.sockets.removeAll { $0.id == id }
            look.closingsLost = second == 11 ? lost : 0
            judge.absorbExamined(look)
            snapshot = rows.snapshot(of: look, by: judge, [], wallNanoseconds: 0)
        }
        return (rows, judge, snapshot.sockets.first { !$0.isLive }?.ending)
    }

    @Test("a connection that is gone while its program has it open was reset or timed out, if nothing was lost")
    func held() {
        #expect(unlisted(Self.pair()).ending == "reset or timed out; still held by curl[81]")
        for lost in [1, nil] as [UInt64?] {
            #expect(unlisted(Self.pair(), lost: lost).ending == "gone, cause unknown")
        }
        var world = Self.pair()
        world[2].inode = 0
        #expect(unlisted(world).ending == "reset or timed out before it was accepted")
        world = Self.pair()
        world.processes = [:]
        world.owners = [:]
        #expect(unlisted(world).ending == "reset or timed out; still held by a program of user 0")
        world = Self.pair()
        world[2].namespace = 1
        let namespaces: [UInt16: HostNamespace] = [1: HostNamespace(ordinal: 1, inode: 7)]
        #expect(unlisted(world, namespaces: namespaces).ending == "gone, cause unknown")
        let ends: [(HostState, String)] = [
            (.closeWait, "closed on both sides, or reset"), (.synSent, "not connected: refused or timed out"),
        ]
        for (state, words) in ends {
            world = Self.pair()
            world[2].state = state
            #expect(unlisted(world).ending == "\(words); still held by curl[81]")
        }
        world = HostWorld()
        world.program(81, "curl")
        _ = world.datagrams(81, 3, port: 53)
        #expect(unlisted(world, 1).ending == "gone, cause unknown")
    }

    @Test("when its program closes it at last, its row says so no more, and it is not counted again")
    func released() throws {
        var (rows, judge, _) = unlisted(Self.pair())
        var look = Self.pair().look(13)
        look.sockets.removeAll { $0.id == 2 }
        var closing = Self.pair()[2]
        (closing.state, closing.inode) = (.closed, 0)
        look.closings = [closing]
        judge.absorbExamined(look)
        let snapshot = rows.snapshot(of: look, by: judge, [], wallNanoseconds: 0)
        #expect(snapshot.sockets.first { !$0.isLive }?.ending == "reset or timed out")
        #expect(snapshot.counters.closed == 1)
    }

    @Test("who resets it with bytes unread is known to have")
    func resetByPeer() {
        var (judge, rows) = (HostJudge(), HostRows())
        let world = Self.pair()
        judge.absorbExamined(world.look(10))
        var snapshot = rows.snapshot(of: world.look(10), by: judge, [], wallNanoseconds: 0)
        for second in [11.0, 12] {
            var look = world.look(second)
            look.sockets.removeAll { $0.id != 1 }
            if second == 11 {
                var closing = world[3]
                (closing.state, closing.inode) = (.closed, 0)
                look.closings = [closing]
            }
            judge.absorbExamined(look)
            snapshot = rows.snapshot(of: look, by: judge, [], wallNanoseconds: 0)
        }
        let row = snapshot.sockets.first { $0.host?.cookie == 2 }
        #expect(row?.ending == "reset by its peer; still held by curl[81]")
    }

    @Test("rows and events of what is gone are limited, and what was dropped is counted")
    func limits() {
        var world = HostWorld()
        world.program(81, "curl")
        var (judge, rows) = (HostJudge(), HostRows())
        for _ in 0..<1_200 { _ = world.reach((81, 3), port: 80) }
        judge.absorbExamined(world.look(10))
        _ = rows.snapshot(of: world.look(10), by: judge, [], wallNanoseconds: 0)
        var look = HostLook(time: world.look(11).time, sockets: [])
        look.closings = world.look(11).sockets
        // One of which no look knew.
        look.closings.append(HostSocket(id: 9_999, .tcp, .closed, time: look.time, inode: 0))
        judge.absorbExamined(look)
        var snapshot = rows.snapshot(of: look, by: judge, [], wallNanoseconds: 0)
        #expect(snapshot.sockets.count == 200 && snapshot.counters.closed == 1_201)
        rows.addEvents(from: 0, to: &snapshot)
        #expect(snapshot.events.count == 1_000 && snapshot.eventsLost == 200 && snapshot.nextEvent == 1_200)
        rows.addEvents(from: 1_199, to: &snapshot)
        #expect(snapshot.events.map(\.kind) == [.closed] && snapshot.eventsLost == 0)
        rows.addEvents(from: 1_200, to: &snapshot)
        #expect(snapshot.events.isEmpty && snapshot.eventsLost == 0 && snapshot.nextEvent == 1_200)
    }
}
