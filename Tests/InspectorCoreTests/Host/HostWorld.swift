import InspectorCore
import SocketCore

/// A host made up for a test. Times are seconds on the test's own clock; ages are computed for each look.
struct HostWorld {
    private(set) var sockets: [HostSocket] = []
    var processes: [Int32: HostProcess] = [:]
    var owners: [UInt64: [HostLook.Owner]] = [:]
    /// When a byte last came, was last acknowledged and last sent, by cookie; since when a thread has not run.
    var received: [UInt64: Double] = [:]
    var acknowledged: [UInt64: Double] = [:]
    var sent: [UInt64: Double] = [:]
    var slept: [Int32: Double] = [:]
    var started: [Int32: Double] = [:]
    var localPorts: ClosedRange<UInt16>?
    var namespaces: [UInt16: HostNamespace] = [:]
    var rung = HostProcess.Rung.arguments
    /// The sockets that are gone, or on another host.
    private var left: Set<UInt64> = []

    subscript(id: UInt64) -> HostSocket {
        get { sockets[Int(id) - 1] }
        set { sockets[Int(id) - 1] = newValue }
    }

    // MARK: Programs

    @discardableResult
    mutating func program(_ number: Int32, _ name: String, _ call: HostCall = .futex) -> Int32 {
        let id = HostProcess.ID(number: number, start: UInt64(number))
        var process = HostProcess(id: id, name: name, command: name, state: UInt8(ascii: "S"), parent: 2)
        process.user = 0
        process.executable = name.hasSuffix(".py") ? "python3" : name
        process.parentExecutable = "bash"
        processes[number] = process
        thread(number, number, call)
        return number
    }

    mutating func thread(_ process: Int32, _ number: Int32, _ call: HostCall) {
        var thread = HostThread(
            number: number, name: "t\(number)", state: UInt8(ascii: "S"), waitChannel: call.waitChannel)
        thread.call = call
        processes[process]?.threads.removeAll { $0.number == number }
        processes[process]?.threads.append(thread)
        if slept[number] == nil { slept[number] = 0 }
    }

    mutating func set(_ process: Int32, _ descriptor: Int32, _ entries: [(UInt64, UInt32)]) {
        let found = entries.enumerated().map { index, entry in
            let inode = self[entry.0].inode
            let own = processes[process]?.sockets.first { $0.value == inode }?.key
            return HostProcess.PollEntry(descriptor: own ?? Int32(100 + index), events: entry.1, inode: inode)
        }
        processes[process]?.pollSets[descriptor] = .some(found)
    }

    // MARK: Sockets

    private mutating func add(_ transport: HostTransport, _ state: HostState, _ owner: (Int32, Int32)?) -> UInt64 {
        let id = UInt64(sockets.count + 1)
        sockets.append(HostSocket(id: id, transport, state, time: .zero, inode: owner == nil ? 0 : 1_000 + id))
        if let owner { open(id, owner.0, owner.1) }
        return id
    }

    mutating func open(_ id: UInt64, _ process: Int32, _ descriptor: Int32) {
        let inode = self[id].inode
        processes[process]?.sockets[descriptor] = inode
        owners[inode, default: []].append(HostLook.Owner(process: process, descriptor: descriptor))
    }

    mutating func listen(_ process: Int32, _ descriptor: Int32, port: UInt16, limit: Int64 = 128) -> UInt64 {
        let id = add(.tcp, .listening, (process, descriptor))
        self[id].local = .v4(host: "0.0.0.0", port: port)
        self[id].peer = .v4(host: "0.0.0.0", port: 0)
        (self[id].receiveQueue, self[id].sendQueue) = (0, limit)
        return id
    }

    /// A TCP connection, its client first; `nil`: that end has no program.
    mutating func connect(
        _ client: (Int32, Int32)?, _ server: (Int32, Int32)?, port: UInt16
    ) -> (client: UInt64, server: UInt64) {
        let ends = (add(.tcp, .established, client), add(.tcp, .established, server))
        let near = SocketAddress.v4(host: "127.0.0.1", port: 40_000 + UInt16(ends.0))
        let far = SocketAddress.v4(host: "127.0.0.1", port: port)
        for (id, local, peer) in [(ends.0, near, far), (ends.1, far, near)] {
            (self[id].local, self[id].peer) = (local, peer)
            (self[id].receiveQueue, self[id].sendQueue) = (0, 0)
            var tcp = HostTCP()
            (tcp.received, tcp.acknowledged, tcp.sent) = (100, 100, 100)
            (tcp.windowLimited, tcp.sendWindow) = (.zero, 65_536)
            self[id].tcp = tcp
            (received[id], acknowledged[id], sent[id]) = (0, 0, 0)
        }
        return ends
    }

    /// The end here of a connection to another host.
    mutating func reach(_ owner: (Int32, Int32), port: UInt16) -> UInt64 {
        let (id, far) = connect(owner, nil, port: port)
        leave(far)
        self[id].peer = .v4(host: "192.0.2.7", port: port)
        return id
    }

    /// A connection that only the kernel still has.
    mutating func wait(port: UInt16) {
        let id = add(.tcp, .timeWait, nil)
        (self[id].local, self[id].peer) = (.v4(host: "127.0.0.1", port: port), .v4(host: "127.0.0.1", port: 80))
    }

    mutating func pair(_ client: (Int32, Int32), _ server: (Int32, Int32), path: String) -> (UInt64, UInt64) {
        let ends = (add(.unixStream, .established, client), add(.unixStream, .established, server))
        (self[ends.0].peerInode, self[ends.1].peerInode) = (self[ends.1].inode, self[ends.0].inode)
        (self[ends.0].local, self[ends.1].local) = (.unnamed, .unix(path: path))
        for id in [ends.0, ends.1] { (self[id].receiveQueue, self[id].sendQueue) = (0, 0) }
        return ends
    }

    /// A listener at a path, and a connection that waits in its queue.
    mutating func queue(_ client: (Int32, Int32), at listener: (Int32, Int32), path: String) {
        let (waiting, queue) = (add(.unixStream, .established, client), add(.unixStream, .listening, listener))
        (self[waiting].local, self[waiting].peer, self[queue].local) = (.unnamed, .unix(path: path), .unix(path: path))
        (self[waiting].receiveQueue, self[waiting].sendQueue) = (0, 768)
        (self[queue].receiveQueue, self[queue].sendQueue) = (1, 16)
        self[waiting].listenerInode = self[queue].inode
    }

    mutating func datagrams(_ process: Int32, _ descriptor: Int32, port: UInt16) -> UInt64 {
        let id = add(.udp, .closed, (process, descriptor))
        self[id].local = .v4(host: "0.0.0.0", port: port)
        (self[id].receiveQueue, self[id].sendQueue) = (0, 0)
        self[id].memory = HostMemory(received: 0, receiveBuffer: 212_992, sent: 0, sendBuffer: 212_992, drops: 0)
        return id
    }

    /// Puts bytes into its receive queue that came at this time.
    mutating func fill(_ id: UInt64, _ bytes: Int64, at time: Double = 0) {
        let former = self[id]
        self[id].receiveQueue = (former.receiveQueue ?? 0) + bytes
        self[id].tcp?.received = (former.tcp?.received ?? 0) + UInt64(bytes)
        received[id] = time
    }

    /// Its program reads so many.
    mutating func read(_ id: UInt64, _ bytes: Int64) {
        let former = self[id].receiveQueue ?? 0
        self[id].receiveQueue = former - bytes
    }

    /// Bytes in its send queue that its peer has no room for; they fill the peer's receive queue.
    mutating func jam(_ id: UInt64, into peer: UInt64, _ bytes: Int64 = 2_500_000) {
        self[id].sendQueue = bytes
        self[id].tcp?.sendWindow = 0
        fill(peer, 4_100_000)
    }

    mutating func close(_ id: UInt64, by peer: UInt64, read: Bool, at time: Double = 0) {
        (self[id].state, self[peer].state) = (.closeWait, .finWait2)
        if !read { fill(id, 1, at: time) }
        (acknowledged[id], acknowledged[peer]) = (time, time)
    }

    /// From now on it is not listed.
    mutating func leave(_ id: UInt64) { left.insert(id) }

    // MARK: Looks

    func look(_ seconds: Double) -> HostLook {
        func ago(_ time: Double?) -> Duration? { time.map { .milliseconds(Int((seconds - $0) * 1_000)) } }
        let now = MonotonicTime(nanoseconds: Int64(seconds * 1e9))
        var look = HostLook(
            time: now,
            sockets: sockets.filter { !left.contains($0.id) }.map { socket in
                var socket = socket
                socket.time = now
                socket.tcp?.lastReceived = ago(received[socket.id])
                socket.tcp?.lastAcknowledged = ago(acknowledged[socket.id])
                socket.tcp?.lastSent = ago(sent[socket.id])
                return socket
            })
        (look.localPorts, look.namespaces) = (localPorts, namespaces)
        (look.owners, look.processes) = (owners, processes)
        for number in processes.keys {
            look.processes[number]?.age = ago(started[number] ?? -1_000)
            for index in processes[number]?.threads.indices ?? 0..<0 {
                guard let thread = processes[number]?.threads[index] else { continue }
                look.processes[number]?.threads[index].idle = ago(slept[thread.number])
                if rung < .arguments { look.processes[number]?.threads[index].call = nil }
                if rung == .queues { look.processes[number]?.threads[index].waitChannel = "" }
            }
            if rung < .arguments { look.processes[number]?.rung = rung }
        }
        return look
    }
}

extension HostWorld {
    /// What is found by looks at these times; `change` is made before each.
    func judged(
        at times: [Double], settings: LintSettings = LintSettings(),
        _ change: (inout HostWorld, Double) -> Void = { _, _ in }
    ) -> (found: [Verdict], undecided: Set<UInt64>, judge: HostJudge) {
        var world = self
        var judge = HostJudge(settings)
        for time in times {
            change(&world, time)
            let look = world.look(time)
            var bare = HostLook(time: look.time, sockets: look.sockets)
            (bare.localPorts, bare.namespaces) = (look.localPorts, look.namespaces)
            var wanted = judge.absorb(bare)
            wanted.formUnion(judge.oldReach(in: look))
            // Only what was asked for is looked at, as the shell does; owners are known of all.
            var examined = look
            let numbers = Set(wanted.flatMap { look.owners[$0] ?? [] }.map(\.process))
            for number in look.processes.keys where !numbers.contains(number) {
                examined.processes[number]?.threads = []
                for set in look.processes[number]?.pollSets.keys.sorted() ?? [] {
                    examined.processes[number]?.pollSets[set] = .some(nil)
                }
            }
            judge.absorbExamined(examined)
        }
        let (found, undecided) = judge.verdicts()
        return (found, undecided, judge)
    }

    /// The looks of a check: at once, after a second, confirmed, and on until six seconds are over.
    static let check: [Double] = [10, 11, 11.31, 12.3, 13.3, 14.3, 15.3, 16.3]

    func found(at times: [Double] = Self.check) -> [Verdict] { judged(at: times).found }

    /// The same as another user, or under ptrace_scope 1, sees it.
    func on(_ rung: HostProcess.Rung) -> HostWorld {
        var world = self
        world.rung = rung
        return world
    }
}

extension HostCall {
    static let futex = HostCall(.other, "futex")
    static let sleep = HostCall(.other, "clock_nanosleep")
    static let running = HostCall(.running, "running")

    static func reads(_ descriptors: Int32..., of amount: UInt64? = 4_096, all: Bool = false) -> HostCall {
        var call = HostCall(.read, "recv")
        (call.reads, call.amount, call.waitsForAll) = (Set(descriptors), amount, all)
        return call
    }

    static func sends(_ descriptor: Int32, of amount: UInt64 = 50_000_000) -> HostCall {
        var call = HostCall(.write, "send")
        (call.writes, call.amount) = ([descriptor], amount)
        return call
    }

    static func polls(in reads: Set<Int32> = [], out writes: Set<Int32> = []) -> HostCall {
        var call = HostCall(.poll, "poll")
        (call.reads, call.writes, call.accepts) = (reads, writes, reads)
        return call
    }

    static func epoll(_ descriptor: Int32) -> HostCall {
        var call = HostCall(.pollSet, "epoll_wait")
        call.pollSet = descriptor
        return call
    }

    static func accepts(_ descriptor: Int32) -> HostCall {
        var call = HostCall(.accept, "accept")
        call.accepts = [descriptor]
        return call
    }

    /// The function that a thread in this call sleeps in on Linux 6.18.
    fileprivate var waitChannel: String {
        switch kind {
        case .read, .write, .connect: "wait_woken"
        case .accept: "inet_csk_accept"
        case .poll: "poll_schedule_timeout"
        case .pollSet: "do_epoll_wait"
        case .other: name == "futex" ? "futex_do_wait" : "hrtimer_nanosleep"
        case .restarted: "poll_schedule_timeout"
        case .running, .outside: ""
        }
    }
}

/// Events of an epoll set: EPOLLIN, EPOLLOUT, EPOLLEXCLUSIVE, EPOLLONESHOT and EPOLLET, with EPOLLERR and EPOLLHUP, which
/// are always there.
enum Poll {
    static let always: UInt32 = 0x18
    static let input = always | 1
    static let output = always | 4
    static let exclusive = input | 1 << 28
    static let edge = always | 5 | 1 << 31
    static let fired: UInt32 = 1 << 30
}
