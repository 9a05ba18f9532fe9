import InspectorCore
import SocketCore
import Testing

/// What the kernel counts for the host's connections is their payload: no SYN, no FIN, nothing twice.
@Suite("Counts of the host's sockets")
struct HostCountsTests {
    private static func world() -> (world: HostWorld, client: UInt64, server: UInt64) {
        var world = HostWorld()
        world.program(81, "curl")
        world.program(4711, "api.py")
        let ends = world.connect((81, 3), (4711, 4), port: 80)
        return (world, ends.client, ends.server)
    }

    private static func row(_ world: HostWorld, _ id: UInt64) throws -> SocketSnapshot {
        var (judge, rows) = (HostJudge(), HostRows())
        judge.absorbExamined(world.look(10))
        let snapshot = rows.snapshot(of: world.look(10), by: judge, [], wallNanoseconds: 0)
        return try #require(snapshot.sockets.first { $0.host?.key == id })
    }

    @Test("sent counts neither the SYN and the FIN nor what was sent again")
    func sent() throws {
        var (world, client, _) = Self.world()
        world[client].state = .finWait2
        world[client].tcp?.acknowledged = 12
        world[client].tcp?.sent = 15
        world[client].tcp?.retransmittedBytes = 5
        #expect(try Self.row(world, client).sent == 10)
        // Kernels before 4.19 count only what was acknowledged.
        world[client].tcp?.sent = nil
        #expect(try Self.row(world, client).sent == 12)
    }

    @Test("received and the receive queue do not count the peer's FIN")
    func received() throws {
        var (world, _, server) = Self.world()
        world[server].tcp?.received = 500
        world[server].receiveQueue = 20
        var row = try Self.row(world, server)
        #expect(row.received == 500 && row.kernel?.receiveQueue == 20)
        world[server].state = .closeWait
        world[server].tcp?.received = 501
        world[server].receiveQueue = 21
        row = try Self.row(world, server)
        #expect(row.received == 500 && row.kernel?.receiveQueue == 20 && row.host?.unread == 20)
    }

    /// The rows after sockets were destroyed, as the kernel reports it: its last message has these counters.
    private static func closed(
        _ world: HostWorld, _ id: UInt64, received: UInt64, acknowledged: UInt64, sent: UInt64
    ) throws -> SocketSnapshot {
        var (judge, rows) = (HostJudge(), HostRows())
        judge.absorbExamined(world.look(10))
        _ = rows.snapshot(of: world.look(10), by: judge, [], wallNanoseconds: 0)
        var look = world.look(11)
        look.sockets.removeAll { $0.id == id }
        var last = world[id]
        (last.state, last.inode) = (.closed, 0)
        last.tcp = HostTCP()
        last.tcp?.received = received
        last.tcp?.acknowledged = acknowledged
        last.tcp?.sent = sent
        last.tcp?.retransmittedBytes = 0
        look.closings = [last]
        judge.absorbExamined(look)
        let snapshot = rows.snapshot(of: look, by: judge, [], wallNanoseconds: 0)
        return try #require(snapshot.sockets.first { $0.host?.key == id })
    }

    @Test("an aborted connection keeps its counts, which the kernel has cleared")
    func aborted() throws {
        var (world, client, _) = Self.world()
        world[client].tcp?.sent = 1_000
        world[client].tcp?.retransmittedBytes = 0
        world[client].tcp?.received = 500
        let row = try Self.closed(world, client, received: 0, acknowledged: 0, sent: 0)
        #expect(row.phase == .closed && row.sent == 1_000 && row.received == 500)
    }

    @Test("a connection that both sides closed after the last look has its last bytes, without the FIN")
    func orderly() throws {
        let (world, client, server) = Self.world()
        let last = try Self.closed(world, client, received: 701, acknowledged: 202, sent: 200)
        #expect(last.sent == 200 && last.received == 700)
        let reset = try Self.closed(world, server, received: 700, acknowledged: 200, sent: 200)
        #expect(reset.sent == 200 && reset.received == 700)
    }

    @Test("what was opened and closed between two looks counts as both; TIME-WAIT is no socket")
    func unseen() {
        let (world, client, _) = Self.world()
        var (judge, rows) = (HostJudge(), HostRows())
        judge.absorbExamined(world.look(10))
        _ = rows.snapshot(of: world.look(10), by: judge, [], wallNanoseconds: 0)
        var look = world.look(11)
        look.sockets.append(HostSocket(id: 99, .tcp, .timeWait, time: look.time, inode: 0))
        look.closings = (UInt64(100)...102).map { number in
            var socket = world[client]
            (socket.id, socket.state, socket.inode) = (number, .closed, 0)
            return socket
        }
        judge.absorbExamined(look)
        let snapshot = rows.snapshot(of: look, by: judge, [], wallNanoseconds: 0)
        #expect(snapshot.sockets.count == 3)
        #expect(snapshot.counters.opened == 5 && snapshot.counters.closed == 3)
    }
}
