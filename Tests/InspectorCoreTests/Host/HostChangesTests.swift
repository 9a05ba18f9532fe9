import InspectorCore
import SocketCore
import Testing

/// Looks that tell what is different from the one before are judged faster, and no differently.
@Suite("Looks that tell what changed")
struct HostChangesTests {
    /// A host in which anything may happen from one look to the next.
    private struct Life {
        var world = HostWorld()
        var random: SeededGenerator
        var connections: [(client: UInt64, server: UInt64)] = []
        var gone: Set<UInt64> = []

        init(seed: UInt64) {
            random = SeededGenerator(seed)
            for number in [81, 82, 4711, 4712] as [Int32] { world.program(number, "p\(number).py", .epoll(9)) }
            _ = world.listen(4711, 3, port: 80)
            _ = world.datagrams(4712, 3, port: 53)
            for descriptor in 4..<12 as Range<Int32> {
                let client: Int32 = descriptor % 2 == 0 ? 81 : 82
                connections.append(world.connect((client, descriptor), (4711, descriptor), port: 80))
            }
            for pair in 12..<14 as Range<Int32> {
                let ends = world.pair((81, pair), (4712, pair), path: "/run/x\(pair)")
                connections.append((ends.0, ends.1))
            }
            world.set(4711, 9, connections.prefix(8).map { ($0.server, Poll.input) })
        }

        mutating func step(_ time: Double) {
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let ends = connections[Int.random(in: 0..<connections.count, using: &random)]
                switch Int.random(in: 0..<10, using: &random) {
                case 0, 1: world.fill(ends.server, 500, at: time)
                case 2, 3: world.read(ends.server, world[ends.server].receiveQueue ?? 0)
                case 4 where world[ends.client].transport == .tcp: world.jam(ends.client, into: ends.server)
                case 5: world[ends.client].sendQueue = 0
                case 6 where world[ends.client].transport == .tcp && world[ends.client].state == .established:
                    world.close(ends.client, by: ends.server, read: true, at: time)
                case 7: gone.formUnion([ends.client, ends.server])
                case 8:
                    world[2].memory?.drops += 5
                    let process: Int32 = Bool.random(using: &random) ? 4711 : 4712
                    world.thread(process, process, Bool.random(using: &random) ? .futex : .epoll(9))
                case 9: world.open(ends.server, 4712, Int32.random(in: 20..<400, using: &random))
                default: break
                }
            }
        }

        func look(_ time: Double) -> HostLook {
            var look = world.look(time)
            look.sockets.removeAll { gone.contains($0.id) }
            return look
        }
    }

    @Test("judged from what changed, a host is judged as from all of it", arguments: 1...60)
    func same(seed: Int) {
        var life = Life(seed: UInt64(seed))
        var (whole, part) = (HostJudge(), HostJudge())
        var (wholeRows, partRows) = (HostRows(), HostRows())
        var former: HostLook?
        for number in 0..<30 {
            let time = 10 + Double(number) * 0.75
            life.step(time)
            var look = life.look(time)
            var told = look
            told.tellChanges(since: former)
            see(&whole, &look)
            see(&part, &told)
            #expect(look.examined == told.examined)
            let found = (whole.verdicts().found, part.verdicts().found)
            #expect(found.0.map(\.sentence) == found.1.map(\.sentence), "at \(time)")
            let rows = wholeRows.snapshot(of: look, by: whole, found.0, wallNanoseconds: 0)
            let partly = partRows.snapshot(of: told, by: part, found.1, wallNanoseconds: 0)
            #expect(rows.counters == partly.counters && rows.sockets.map(\.id) == partly.sockets.map(\.id))
            for (row, part) in zip(rows.sockets, partly.sockets) { #expect(row == part, "at \(time)") }
            former = look
        }
        #expect(whole.looks == 30)
    }

    @Test("of many sockets that wait, those out of sight are rebuilt in turns, or where more than time changes")
    func turns() throws {
        var world = HostWorld()
        world.program(81, "client.py")
        world.program(4711, "api.py")
        _ = world.listen(4711, 3, port: 80)
        let servers = (0..<300).map { world.connect((81, 10 + $0), (4711, 10 + $0), port: 80).server }
        for server in servers { world.fill(server, 500, at: 1) }
        var (judge, rows, former) = (HostJudge(), HostRows(), HostLook?.none)
        func shown(at time: Double) -> [SocketSnapshot] {
            var look = world.look(time)
            look.tellChanges(since: former)
            see(&judge, &look)
            former = look
            let snapshot = rows.snapshot(
                of: look, by: judge, [], wallNanoseconds: 0, sight: [world[servers[0]].inode])
            return servers.compactMap { server in snapshot.sockets.first { $0.host?.key == server } }
        }
        for time in 10..<20 { _ = shown(at: Double(time)) }
        let now = shown(at: 20)
        let ages = try now.map { try #require($0.host?.asksFor).inSeconds }
        // The bytes are 19 seconds old.
        #expect(ages.count == 300 && ages[0] == 19 && Set(ages).count > 1, "\(Set(ages))")
        #expect(ages.allSatisfy { (12...19).contains($0) }, "\(Set(ages))")
        #expect(now.allSatisfy { $0.host?.asks == "nobody" && $0.receiveRate ?? 0 == 0 })
        world.thread(4711, 4711, .polls(in: Set(10..<310)))
        #expect(shown(at: 21).allSatisfy { $0.host?.asks != "nobody" })
    }

    @Test("of very many suspects, most keep how they were requested for a moment; all are told, and cleared soon")
    func suspects() throws {
        var world = HostWorld()
        world.program(81, "client.py")
        world.program(4711, "api.py")
        _ = world.listen(4711, 3, port: 80)
        let servers = (0..<600).map { world.connect((81, 10 + $0), (4711, 10 + $0), port: 80).server }
        for server in servers { world.fill(server, 500, at: 1) }
        var (whole, part, former) = (HostJudge(), HostJudge(), HostLook?.none)
        func found(at time: Int) -> (whole: [Verdict], part: [Verdict]) {
            var look = world.look(Double(time))
            var told = look
            told.tellChanges(since: former)
            former = look
            see(&whole, &look)
            see(&part, &told)
            return (whole.verdicts().found, part.verdicts().found)
        }
        for time in 10...24 {
            let (whole, part) = found(at: time)
            #expect(whole.map(\.sentence) == part.map(\.sentence) && whole.map(\.sockets) == part.map(\.sockets))
            if time >= 16 { #expect(part.map(\.more) == [599] && part[0].sockets.count == 600, "\(part)") }
        }
        world.thread(4711, 4711, .polls(in: Set(10..<610)))
        for time in 25...29 { _ = found(at: time) }
        #expect(part.verdicts().found.isEmpty)
    }

    @Test("a socket that was looked at before a child inherited it is judged again")
    func inherited() throws {
        var world = HostWorld()
        world.program(4432, "python3", .sleep)
        world.program(81, "curl", .reads(3))
        let (_, kept) = world.connect((81, 3), (4432, 5), port: 9000)
        world.started[4432] = -10
        var (judge, former) = (HostJudge(), HostLook?.none)
        func see(at times: [Double]) {
            for time in times {
                var look = world.look(time)
                look.tellChanges(since: former)
                self.see(&judge, &look)
                former = look
            }
        }
        see(at: [10, 11, 12])
        #expect(judge.verdicts().found.isEmpty)
        world.program(4473, "sleep", .sleep)
        (world.started[4473], world.processes[4432]) = (13, nil)
        world.owners[world[kept].inode] = []
        world.open(kept, 4473, 5)
        world.processes[4473]?.keptOverExec = [5]
        see(at: [19, 20, 21])
        #expect(judge.verdicts().found.map(\.lint) == ["inherited"])
    }

    private func see(_ judge: inout HostJudge, _ look: inout HostLook) {
        var bare = HostLook(time: look.time, sockets: look.sockets)
        (bare.places, bare.changes) = (look.places, look.changes)
        look.examined = judge.absorb(bare)
        judge.absorbExamined(look)
    }
}

extension HostLook {
    /// Tells what is different from another look, as the kernel's messages show it: ages apart.
    mutating func tellChanges(since former: HostLook?) {
        places = Dictionary(sockets.enumerated().map { ($1.id, $0) }) { $1 }
        guard let former else { return }
        let before = Dictionary(former.sockets.map { ($0.id, $0.ageless) }) { $1 }
        let now = Set(sockets.map(\.id))
        var changes = Changes(since: former.time)
        changes.told = Set(sockets.filter { before[$0.id] != $0.ageless }.map(\.id))
        changes.gone = Set(before.keys).subtracting(now)
        changes.owners = Set(owners.keys.filter { owners[$0] != former.owners[$0] })
        self.changes = changes
    }
}

extension HostSocket {
    fileprivate var ageless: HostSocket {
        var socket = self
        (socket.time, socket.timerExpires) = (.zero, nil)
        socket.tcp?.lastSent = nil
        socket.tcp?.lastReceived = nil
        socket.tcp?.lastAcknowledged = nil
        return socket
    }
}
