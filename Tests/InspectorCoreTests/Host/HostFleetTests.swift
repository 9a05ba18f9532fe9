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
