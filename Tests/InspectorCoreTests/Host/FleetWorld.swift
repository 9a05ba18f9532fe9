import SocketCore
import SocketRecords

@testable import InspectorCore

/// Several hosts made up for a test, each with an agent, a clock and equal numbers, and the viewer's judge of all.
struct FleetWorld {
    struct Host {
        var name: String
        var world: HostWorld
        /// What its clock shows more than the viewer's, in seconds.
        var ahead: Double
        var boot: String
        var namespace: UInt64
        var writer = HostUpdateWriter()
        var former: HostLook?
        var reader = AgentReader()
        var isSilent = false
    }

    var hosts: [Host] = []
    var fleet = HostFleet()
    var judge = HostJudge()
    /// The number of sockets that were told in all.
    private(set) var told = 0
    /// The number of processes that were told in all.
    private(set) var toldProcesses = 0

    mutating func add(_ name: String, _ world: HostWorld, ahead: Double, boot: String? = nil, namespace: UInt64 = 7) {
        hosts.append(Host(name: name, world: world, ahead: ahead, boot: boot ?? name, namespace: namespace))
    }

    static func ordinal(_ number: Int) -> HostOrdinal { HostOrdinal(number)! }

    private static func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    /// Opens all hosts.
    mutating func open(at seconds: Double) {
        for number in hosts.indices { reopen(number, at: seconds) }
    }

    /// Opens a host, again if it was open.
    mutating func reopen(_ number: Int, at seconds: Double) {
        let (host, ordinal) = (hosts[number], Self.ordinal(number))
        fleet.open(
            ordinal, boot: host.boot, namespace: host.namespace, clock: Self.time(seconds + host.ahead),
            at: Self.time(seconds))
        judge.note(HostMachine(name: host.name, command: "ssh \(host.name)"), ordinal)
    }

    /// Every host that is not silent looks, and what it tells goes over the wire.
    mutating func look(_ seconds: Double) {
        for number in hosts.indices where !hosts[number].isSilent { look(seconds + Double(number) / 100, by: number) }
    }

    mutating func look(_ seconds: Double, by number: Int) {
        let look = Self.look(hosts[number], seconds)
        hosts[number].former = look
        hosts[number].writer.note(look)
        let update = hosts[number].writer.update(look, interval: .seconds(1))
        told += update.told.count
        toldProcesses += update.processes.count
        var bytes = hosts[number].reader.hasBegun ? [] : AgentFrame.preamble + AgentFrame.hello(AgentHello()).bytes
        for frame in update.frames(sent: Self.time(seconds + hosts[number].ahead)) { bytes += frame.bytes }
        let news = (try? hosts[number].reader.take(bytes, at: Self.time(seconds))) ?? []
        for case .update(let update) in news {
            guard
                let merge = fleet.merge(
                    update, of: Self.ordinal(number), at: Self.time(seconds), into: judge.look)
            else { continue }
            judge.absorb(merge)
        }
    }

    /// Returns a look with what is different from the one before, as the kernel's messages tell it.
    private static func look(_ host: Host, _ seconds: Double) -> HostLook {
        var look = host.world.look(seconds)
        let now = time(seconds + host.ahead)
        look.time = now
        for place in look.sockets.indices { look.sockets[place].time = now }
        look.places = Dictionary(uniqueKeysWithValues: look.sockets.enumerated().map { ($1.id, $0) })
        guard let former = host.former else { return look }
        func lasting(_ socket: HostSocket) -> HostSocket {
            var socket = socket
            socket.time = .zero
            socket.tcp?.lastSent = nil
            socket.tcp?.lastReceived = nil
            socket.tcp?.lastAcknowledged = nil
            return socket
        }
        let before = Dictionary(uniqueKeysWithValues: former.sockets.map { ($0.id, lasting($0)) })
        let told = look.sockets.filter { before[$0.id] != lasting($0) }.map(\.id)
        look.changes = HostLook.Changes(
            since: former.time, told: Set(told), gone: Set(before.keys).subtracting(look.sockets.map(\.id)))
        return look
    }
}

extension FleetWorld {
    /// Two programs on two hosts that both write 48M to each other and do not read. Numbers and names of sockets,
    /// processes, descriptors and inodes are equal.
    static func deadlock(passed: UInt64 = 4_000_000) -> FleetWorld {
        let ends = [("10.77.0.1", UInt16(9_100)), ("10.77.0.2", 40_001)].map { SocketAddress.v4(host: $0, port: $1) }
        var fleet = FleetWorld()
        for (number, name) in [(0, "web1"), (1, "db1")] {
            var world = HostWorld()
            world.program(156, number == 0 ? "worker.py" : "api.py", .sends(4))
            let id = world.reach((156, 4), port: 80)
            (world[id].local, world[id].peer) = (ends[number], ends[1 - number])
            (world[id].sendQueue, world[id].receiveQueue) = (2_500_000, Int64(passed))
            world[id].tcp?.sendWindow = 0
            world[id].tcp?.received = passed
            // The connecting end counts its SYN.
            world[id].tcp?.acknowledged = passed + UInt64(number)
            // A loopback connection with the same addresses on both.
            world.program(81, "app")
            _ = world.connect((81, 3), (81, 5), port: 7_000)
            fleet.add(name, world, ahead: Double(number + 1) * 50_000)
        }
        return fleet
    }

    /// The verdicts after looks at these times.
    mutating func found(at times: [Double] = HostWorld.check) -> [Verdict] {
        open(at: times[0] - 1)
        for time in times { look(time) }
        return judge.verdicts().found
    }
}
