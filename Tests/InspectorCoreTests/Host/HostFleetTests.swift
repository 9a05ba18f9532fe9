import SocketCore
import SocketRecords
import Testing

@testable import InspectorCore

/// One judge of several hosts, whose numbers and addresses are equal.
@Suite("Several hosts")
struct HostFleetTests {
    @Test("two programs on two hosts that write to each other are named with their hosts, and are confirmed by bytes")
    func deadlock() throws {
        var fleet = FleetWorld.deadlock()
        let found = fleet.found()
        let verdict = try #require(found.first)
        #expect(found.count == 1 && verdict.lint == "deadlock" && verdict.severity == .critical)
        #expect(verdict.machines == ["web1", "db1"] && verdict.pairing == .counters)
        let text = HostParagraph.lines(verdict).joined(separator: "\n")
        #expect(text.contains("worker.py[156] on web1 and api.py[156] on db1 are both writing"), "\(text)")
        #expect(text.contains("unread in its own receive queue (web1)") && text.contains("receive queue (db1)"))
        #expect(text.contains("Next: ssh web1 py-spy dump --pid 156"), "\(text)")
        #expect(text.contains("agree in addresses and in bytes"))
        let json = JSON.object(verdict.hostMembers(.standard)).text
        #expect(json.contains(#""machines":["web1","db1"],"pairing":"counters""#), "\(json)")
        #expect(json.contains(#""processes":[156,156]"#), "\(json)")
        let seconds = try #require(verdict.lasting).inSeconds
        #expect(seconds > 5)
        // What did not change was not told again.
        #expect(fleet.told == 6)
    }

    @Test("each end alone blames the other, and a host that is late is not counted on")
    func late() throws {
        var fleet = FleetWorld.deadlock()
        fleet.open(at: 9)
        for time in HostWorld.check { fleet.look(time, by: 0) }
        #expect(fleet.judge.verdicts().found.map(\.lint) == ["zero-window"])
        for time in HostWorld.check { fleet.look(time + 7, by: 1) }
        #expect(fleet.judge.verdicts().found.map(\.lint).contains("deadlock"))
        var machine = try #require(fleet.judge.look.machines[FleetWorld.ordinal(1)])
        machine.isLive = false
        fleet.judge.note(machine, FleetWorld.ordinal(1))
        #expect(!fleet.judge.verdicts().found.map(\.lint).contains("deadlock"))
        #expect(fleet.fleet.silence(of: FleetWorld.ordinal(1), at: MonotonicTime(nanoseconds: 60_000_000_000)) != nil)
        #expect(fleet.fleet.silence(of: FleetWorld.ordinal(1), at: MonotonicTime(nanoseconds: 24_000_000_000)) == nil)
    }

    @Test("the two legs of a transparent proxy have each other's addresses and are never one connection")
    func proxy() {
        var fleet = FleetWorld.deadlock()
        for number in 0..<2 { fleet.hosts[number].world[1].tcp?.acknowledged = 6_579_656 }
        let found = fleet.found()
        #expect(Set(found.map(\.lint)) == ["zero-window"] && found.count == 2)
        #expect(found.allSatisfy { $0.machines.count == 1 && $0.pairing == nil })
        // Nor while bytes pass, which is no time to compare them.
        fleet = FleetWorld.deadlock()
        for number in 0..<2 { fleet.hosts[number].world[1].tcp?.acknowledged = 6_579_656 }
        fleet.open(at: 9)
        for time in HostWorld.check {
            fleet.hosts[1].world[1].sendQueue! += 1_000
            fleet.look(time)
        }
        #expect(fleet.judge.verdicts().found.allSatisfy { $0.severity == .note || $0.machines.count == 1 })
    }

    @Test("where few bytes have passed, or bytes pass, only addresses agree, and a verdict is a note")
    func addresses() throws {
        var fleet = FleetWorld.deadlock(passed: 1_000)
        let verdict = try #require(fleet.found().first { $0.lint == "deadlock" })
        #expect(verdict.severity == .note && verdict.pairing == .addresses)
        #expect(HostParagraph.lines(verdict).contains("The ends are paired by their addresses only."))
    }

    @Test("loopback connections of two hosts are never one, whatever their addresses are")
    func loopback() {
        var fleet = FleetWorld.deadlock()
        _ = fleet.found(at: [10, 11])
        for socket in fleet.judge.look.sockets where socket.local?.ip?.isLoopback == true {
            #expect(fleet.judge.peer(of: socket.id)?.host == socket.host)
        }
        #expect(fleet.judge.look.sockets.count == 6 && fleet.judge.look.processes.count == 4)
    }

    @Test("a clock that stood still, and a new beginning, let durations begin again")
    func anew() {
        var fleet = FleetWorld.deadlock()
        _ = fleet.found()
        func stalls() -> [Duration] {
            let readers = fleet.judge.look.sockets.filter { $0.host.number == 1 && $0.unread ?? 0 > 0 }
            return readers.map(fleet.judge.facts.ledger.readStall)
        }
        #expect(stalls().count == 1 && stalls().allSatisfy { $0 > .seconds(5) })
        fleet.hosts[1].ahead -= 3_600
        fleet.look(17.3)
        #expect(stalls() == [.zero])
        fleet.look(18.3)
        #expect(stalls().allSatisfy { $0 > .zero && $0 < .seconds(2) })
    }

    @Test("a host that is closed takes all that it told with it")
    func closing() {
        var fleet = FleetWorld.deadlock()
        _ = fleet.found(at: [10, 11])
        let merge = fleet.fleet.close(
            FleetWorld.ordinal(1), from: fleet.judge.look, at: MonotonicTime(nanoseconds: 12_000_000_000))
        fleet.judge.absorb(merge)
        let look = fleet.judge.look
        #expect(look.sockets.count == 3 && look.sockets.allSatisfy { $0.host.number == 0 })
        #expect(look.processes.count == 2 && look.owners.keys.allSatisfy { HostOrdinal(ofInode: $0).number == 0 })
    }

    @Test("the sockets of all hosts are changed in place, and none is copied for a look")
    func place() {
        var fleet = FleetWorld.deadlock()
        _ = fleet.found(at: [10, 11])
        func address() -> UnsafePointer<HostSocket>? {
            fleet.judge.look.sockets.withUnsafeBufferPointer { $0.baseAddress }
        }
        let before = address()
        for time in [12, 13, 14] as [Double] {
            fleet.hosts[1].world[1].sendQueue! += 1_000
            fleet.look(time)
            #expect(address() == before)
        }
    }

    @Test("of two agents that see one namespace of one kernel, the first tells of it")
    func sameKernel() {
        var fleet = FleetWorld.deadlock()
        for number in 0..<2 { (fleet.hosts[number].boot, fleet.hosts[number].namespace) = ("one", 4_026_531_840) }
        for number in 0..<2 {
            fleet.hosts[number].world.namespaces = [0: HostNamespace(ordinal: 0, inode: 4_026_531_840)]
        }
        _ = fleet.found(at: [10, 11])
        #expect(fleet.judge.look.sockets.count == 3 && fleet.judge.look.sockets.allSatisfy { $0.host.number == 0 })
    }

    @Test("an agent that only introduces itself claims no namespace")
    func silent() {
        var fleet = FleetWorld.deadlock()
        for number in 0..<2 {
            (fleet.hosts[number].boot, fleet.hosts[number].namespace) = ("one", 4_026_531_840)
            fleet.hosts[number].world.namespaces = [0: HostNamespace(ordinal: 0, inode: 4_026_531_840)]
        }
        fleet.hosts[0].isSilent = true
        _ = fleet.found(at: [10, 11])
        #expect(fleet.judge.look.sockets.count == 3 && fleet.judge.look.sockets.allSatisfy { $0.host.number == 1 })
    }

    @Test("a duration across hosts is shorter by the distance of their looks")
    func distance() throws {
        var fleet = FleetWorld.deadlock()
        let before = try #require(fleet.found().first?.lasting)
        fleet.look(HostWorld.check.last! + 3, by: 0)
        let after = try #require(fleet.judge.verdicts().found.first { $0.lint == "deadlock" }?.lasting)
        #expect(after < before - .seconds(2.5) + .milliseconds(200), "\(before) \(after)")
    }

    @Test("processes of which only time passed are not told again, and grow older at the viewer")
    func ages() throws {
        var fleet = FleetWorld()
        var world = HostWorld()
        world.program(156, "worker.py", .sends(4))
        fleet.add("web1", world, ahead: 5)
        fleet.open(at: 9)
        for time in [10, 11, 12] { fleet.look(Double(time)) }
        #expect(fleet.toldProcesses == 1)
        let process = try #require(fleet.judge.look.processes[156])
        // As the world says: it started at -1,000.
        #expect(process.age == .seconds(1_012) && process.threads.allSatisfy { $0.idle ?? .zero > .seconds(2) })
        fleet.hosts[0].world.processes[156]?.threads[0].switches = 99
        fleet.look(13)
        #expect(fleet.toldProcesses == 2 && fleet.judge.look.processes[156]?.age == .seconds(1_013))
    }

    @Test("a host that comes back begins anew, and what was last seen of it is no verdict")
    func reopened() {
        var fleet = FleetWorld.deadlock()
        _ = fleet.found()
        let last = HostWorld.check.last!
        fleet.hosts[1].writer = HostUpdateWriter()
        fleet.reopen(1, at: last + 1)
        fleet.look(last + 2)
        let readers = fleet.judge.look.sockets.filter { $0.host.number == 1 && $0.unread ?? 0 > 0 }
        #expect(readers.map(fleet.judge.facts.ledger.readStall) == [.zero])
        #expect(!fleet.judge.verdicts().found.map(\.lint).contains("deadlock"))
    }

    @Test("rows name their host and that of their other end, and say whether it is lost")
    func rows() throws {
        var fleet = FleetWorld.deadlock()
        let found = fleet.found()
        var rows = HostRows()
        func hosts() -> [HostSnapshot] {
            rows.snapshot(of: fleet.judge.look, by: fleet.judge, found, wallNanoseconds: 0).sockets.compactMap(\.host)
        }
        let first = hosts().filter { $0.program == "worker.py[156]" }
        #expect(first.map(\.machine) == ["web1"] && first.map(\.peerMachine) == ["db1"])
        #expect(first.map(\.peerName) == ["db1 api.py[156]"] && first.allSatisfy { !$0.isLost })
        #expect(hosts().filter { $0.program == "app[81]" }.allSatisfy { $0.peerName == "app[81]" })
        var machine = try #require(fleet.judge.look.machines[FleetWorld.ordinal(1)])
        machine.isLost = true
        fleet.judge.note(machine, FleetWorld.ordinal(1))
        rows = HostRows()
        #expect(hosts().allSatisfy { $0.isLost == ($0.machine == "db1") })
    }

    @Test("a command with quotes is quoted as a whole for ssh, whose words a shell splits again")
    func quoting() {
        var fleet = FleetWorld.deadlock()
        fleet.open(at: 9)
        let scene = fleet.judge.facts.scene
        #expect(scene.there("eu-stack -p 1", on: FleetWorld.ordinal(0)) == "ssh web1 eu-stack -p 1")
        #expect(scene.there("psql -c 'SELECT 1'", on: FleetWorld.ordinal(0)) == #"ssh web1 "psql -c 'SELECT 1'""#)
    }

    @Test("tens of thousands of listeners on one port are removed one by one in time")
    func listeners() {
        var world = HostWorld()
        var fleet = FleetWorld()
        world.program(1, "a")
        for _ in 0..<3 { _ = world.listen(1, 3, port: 80) }
        fleet.add("web1", world, ahead: 0)
        _ = fleet.found(at: [10, 11])
        let first = fleet.judge.look.sockets[0]
        #expect(fleet.judge.facts.scene.listeners(80, near: first).count == 3)
        fleet.judge.absorb(fleet.fleet.close(FleetWorld.ordinal(0), from: fleet.judge.look, at: first.time))
        #expect(fleet.judge.facts.scene.listeners(80, near: first).isEmpty)
        // A list would compare each with all that are left.
        var update = HostUpdate()
        update.isFull = true
        update.told = (1...32_000 as ClosedRange<UInt64>).map { number in
            var socket = HostSocket(id: number, .tcp, .listening, time: .zero, inode: number)
            socket.local = .v4(host: "0.0.0.0", port: 80)
            return socket
        }
        let host = FleetWorld.ordinal(1)
        fleet.fleet.open(host, boot: "", namespace: 0, clock: .zero, at: first.time)
        if let merge = fleet.fleet.merge(update, of: host, at: first.time, into: fleet.judge.look) {
            fleet.judge.absorb(merge)
        }
        let all = fleet.judge.facts.scene.listeners(80, near: fleet.judge.look.sockets[0])
        #expect(all.count == 32_000)
        fleet.judge.absorb(fleet.fleet.close(host, from: fleet.judge.look, at: first.time))
        #expect(fleet.judge.look.sockets.isEmpty)
    }

    @Test("a host can lie about itself only")
    func liar() throws {
        var update = HostUpdate()
        update.isFull = true
        var socket = HostSocket(id: 1 | 65 << 48, .tcp, .established, time: .zero, inode: 5 | 3 << 32)
        socket.namespace = 65
        var other = HostSocket(id: 1 | 64 << 48, .tcp, .established, time: .zero, inode: 9)
        other.namespace = 1
        update.told = [socket, other]
        update.processes = [
            HostProcess(
                id: HostProcess.ID(number: 1 << 22 | 7, start: 1), name: "a", command: "a", state: 83, parent: 1),
            HostProcess(id: HostProcess.ID(number: -7, start: 1), name: "b", command: "b", state: 83, parent: 1),
        ]
        update.owners = [5 | 3 << 32: [HostLook.Owner(process: 7, descriptor: 3)]]
        var fleet = HostFleet()
        let host = FleetWorld.ordinal(2)
        fleet.open(host, boot: "", namespace: 0, clock: .zero, at: .zero)
        var look = HostLook(time: .zero, sockets: [])
        look.places = [:]
        let merge = fleet.merge(update, of: host, at: MonotonicTime(nanoseconds: 1), into: look)
        try #require(merge).apply(to: &look)
        #expect(look.sockets.count == 1 && look.sockets[0].host == host && look.sockets[0].inode == 9 | 2 << 32)
        #expect(look.processes.isEmpty && look.owners.isEmpty)
    }

    @Test("numbers of 64 hosts are apart, and those of this host alone are the kernel's", arguments: [0, 1, 63])
    func packing(number: Int) throws {
        let host = try #require(HostOrdinal(number))
        let process = try #require(host.process(4_194_303)), namespace = try #require(host.namespace(63))
        let inode = host.inode(0xFFFF_FFFF)
        #expect(HostOrdinal(ofProcess: process) == host && HostOrdinal.kernelProcess(process) == 4_194_303)
        #expect(HostOrdinal(ofNamespace: namespace) == host && HostOrdinal.hostNamespace(namespace) == 63)
        #expect(HostOrdinal(ofInode: inode) == host && HostOrdinal.kernelInode(inode) == 0xFFFF_FFFF)
        #expect(host.process(1 << 22) == nil && host.namespace(64) == nil && host.inode(1 << 32) == 0)
        #expect(HostOrdinal(64) == nil && (number > 0 || process == 4_194_303 && namespace == 63))
    }
}
