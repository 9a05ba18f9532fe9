import InspectorCore
import SocketCore
import Testing

/// Listeners, connections that end halfway or do not come about, and what the kernel's counters say.
@Suite("Verdicts on the host: connections")
struct HostConnectionTests {
    /// A listener with connections that wait since second 0: socket 1, and its children after it.
    static func listener(_ call: HostCall, waiting: Int, limit: Int64 = 128) -> HostWorld {
        var world = HostWorld()
        world.program(812, "nginx", call)
        world.program(81, "curl", .reads(3))
        let id = world.listen(812, 6, port: 80, limit: limit)
        for number in 0..<Int32(waiting) { _ = world.connect((81, 3 + number), nil, port: 80) }
        world[id].receiveQueue = Int64(waiting)
        world[id].memory = HostMemory(received: 0, receiveBuffer: 0, sent: 0, sendBuffer: 0, drops: 37)
        return world
    }

    @Test("a queue that is full with the same connections; one that only waits")
    func accept() {
        var found = Self.listener(.reads(9), waiting: 5, limit: 4).found(at: [10, 11, 11.31])
        #expect(found.map(\.lint) == ["accept-full"] && found.first?.severity == .warning)
        #expect(found.first?.claim == "nginx[812] has accepted nothing on :80")
        #expect(
            found.first?.reason?.hasPrefix(
                "5 connections wait, the backlog is 4, 37 dropped; thread 812 is in recv")
                == true)
        found = Self.listener(.reads(9), waiting: 1).found(at: [10, 11, 11.31])
        #expect(found.map(\.lint) == ["accept-stuck"] && found.first?.severity == .warning)
        #expect(found.first?.reason?.hasPrefix("1 connection waits, the backlog is 128") == true)
    }

    @Test("a thread that runs for five seconds without a pause while a client waits is a warning")
    func running() throws {
        func found(
            _ pauses: @escaping (Double) -> UInt64?, _ change: (inout HostWorld) -> Void = { _ in }
        ) -> [Verdict] {
            var world = Self.listener(.running, waiting: 1)
            change(&world)
            return world.judged(at: HostWorld.check) { world, time in
                world.processes[812]?.threads[0].switches = pauses(time)
            }.found
        }
        let verdict = try #require(found { _ in 7 }.first)
        #expect(verdict.lint == "loop-stuck" && verdict.severity == .warning)
        #expect(
            verdict.reason?.hasSuffix("thread 812 is running without pausing for 6.3s") == true,
            "\(verdict)")
        #expect(found { UInt64($0 * 10) }.map(\.severity) == [.note], "it pauses")
        #expect(found { _ in nil }.map(\.severity) == [.note], "it is not known")
        let world = Self.listener(.running, waiting: 1)
        var accepting = world.judged(at: HostWorld.check) { world, time in
            world.processes[812]?.threads[0].switches = 7
            if time == 15.3 { _ = world.connect((81, 90), (812, 91), port: 80) }
        }
        #expect(accepting.found.map(\.severity) == [.note], "it is only busy")
        accepting = world.judged(at: [10, 11, 11.31]) { world, _ in
            world.processes[812]?.threads[0].switches = 7
        }
        #expect(accepting.undecided.contains(1), "a longer look may prove it")
    }

    @Test("of listeners that share an address one verdict tells; who waits is named")
    func shared() throws {
        var world = Self.listener(.reads(9), waiting: 3, limit: 2)
        world.program(813, "nginx", .accepts(6))
        let other = world.listen(813, 6, port: 80, limit: 2)
        let third = world.listen(813, 7, port: 80, limit: 2)
        world[third].receiveQueue = 3
        world.program(814, "nginx", .sleep)
        let fourth = world.listen(814, 6, port: 80, limit: 2)
        world[fourth].receiveQueue = 3
        let found = world.found(at: [10, 11, 11.31])
        let verdict = try #require(found.first)
        #expect(found.count == 1 && verdict.lint == "accept-full" && !verdict.sockets.contains(other))
        #expect(
            verdict.reason?.hasPrefix("3 of 4 listeners on this address: 3 connections wait") == true)
        #expect(verdict.processes.map(\.number).sorted() == [812, 813, 814])
        #expect(
            verdict.ends.contains { $0.name == "curl" && $0.words.hasPrefix("is waiting to be accepted") })
    }

    @Test("below the arguments, as another user and of a stopped program it is a note")
    func acceptRungs() {
        let world = Self.listener(.reads(9), waiting: 5, limit: 4)
        for rung in [HostProcess.Rung.waitChannel, .queues] {
            #expect(world.on(rung).found().map(\.severity) == [.note])
        }
        var stranger = world
        stranger.owners = [:]
        #expect(
            stranger.found().map(\.lint) == ["accept-full"] && stranger.found().first?.severity == .note)
        #expect(
            stranger.found().first?.claim.hasPrefix("a program of user 0 has accepted nothing") == true)
        var stopped = world
        stopped.processes[812]?.threads[0].state = UInt8(ascii: "T")
        #expect(stopped.found().map(\.severity) == [.note])
    }

    /// Whoever starts a server anew unlinks the path first, while the former one may still have its queue.
    @Test("a listener of a path is judged by its own queue, not by that of a former one")
    func formerListener() {
        var world = HostWorld()
        world.program(81, "curl", .reads(3))
        world.program(77, "former.py", .futex)
        world.program(78, "app.py", .futex)
        world.queue((81, 3), at: (77, 4), path: "/run/app")
        #expect(world.judged(at: HostWorld.check).found.flatMap(\.processes).map(\.number) == [77])
        world.queue((81, 5), at: (78, 4), path: "/run/app")
        // Its client has just connected, so this queue proves nothing.
        let found = world.judged(at: HostWorld.check) { world, time in
            let last = world.sockets.count
            world[UInt64(last)].receiveQueue = Int64(time >= HostWorld.check.last ?? 0 ? 1 : 0)
            world[UInt64(last - 1)].listenerInode = time >= HostWorld.check.last ?? 0 ? world[UInt64(last)].inode : 0
        }.found
        #expect(found.flatMap(\.processes).map(\.number) == [77], "\(found)")
    }

    @Test("who accepts is not accused, nor a full queue that moves")
    func accepting() {
        #expect(Self.listener(.accepts(6), waiting: 5, limit: 4).found().isEmpty)
        #expect(Self.listener(.polls(in: [6]), waiting: 5, limit: 4).found().isEmpty)
        var world = Self.listener(.epoll(7), waiting: 5, limit: 4)
        world.set(812, 7, [(1, Poll.exclusive)])
        #expect(world.found().isEmpty)
        world.set(812, 7, [(1, Poll.edge)])
        #expect(world.found().map(\.lint) == ["accept-full"])
        let moving = Self.listener(.running, waiting: 5, limit: 4).judged(at: HostWorld.check) {
            world, _ in
            // The former ones were accepted and closed; others wait in their place.
            for id in world.waiting { world.leave(id) }
            for number in 0..<5 as Range<Int32> { _ = world.connect((81, 90 + number), nil, port: 80) }
        }
        #expect(moving.found.isEmpty && moving.undecided.isEmpty)
    }

    @Test("a connection that waits to be accepted is not unread data of anybody")
    func children() {
        var world = Self.listener(.accepts(6), waiting: 1)
        world.fill(3, 500)
        world[2].sendQueue = 90_000
        let (found, undecided, _) = world.judged(at: HostWorld.check)
        #expect(found.isEmpty && undecided.isEmpty)
    }

    /// Connections of 4711 to one server that the server has closed.
    static func leak(_ count: Int32, read: Bool, isServer: Bool = false) -> HostWorld {
        var world = HostWorld()
        world.program(11, "orders.jar", .futex)
        world.program(12, "postgres", .futex)
        if isServer { _ = world.listen(11, 3, port: 5432) }
        for number in 0..<count {
            let (client, server) =
                isServer
                ? world.connect((12, 10 + number), (11, 10 + number), port: 5432)
                : world.connect((11, 10 + number), (12, 10 + number), port: 5432)
            world.close(isServer ? server : client, by: isServer ? client : server, read: read)
        }
        return world
    }

    @Test("a leak is a warning from 20 on; a pool that has not read the end is a note")
    func closeWait() {
        func found(_ world: HostWorld) -> Verdict? {
            world.found(at: [40, 41, 41.31]).first { $0.lint == "close-wait" }
        }
        let leak = found(Self.leak(30, read: true))
        #expect(leak?.severity == .warning && leak?.evidence == .queues && leak?.sockets.count == 30)
        #expect(
            leak?.claim == "orders.jar[11] has left 30 connections open after 127.0.0.1:5432 closed them")
        #expect(leak?.sentence.hasSuffix(" for at least 41s: FIN read on 30") == true)
        #expect(found(Self.leak(19, read: true))?.severity == .note)
        #expect(found(Self.leak(25, read: false))?.severity == .note)
        #expect(found(Self.leak(20, read: false, isServer: true))?.severity == .warning)
        #expect(Self.leak(30, read: true).found(at: [20, 21, 21.31]).isEmpty)
        #expect(Self.leak(30, read: true).on(.queues).found(at: [40, 41]).first?.severity == .warning)
    }

    @Test("half a close is a note, and is not told beside the leak that causes it")
    func halfClosed() {
        var world = HostWorld()
        world.program(11, "nc", .reads(3))
        let id = world.reach((11, 3), port: 80)
        world[id].state = .finWait2
        let found = world.found(at: [40, 41, 41.31])
        #expect(found.map(\.lint) == ["half-closed-long"] && found.first?.severity == .note)
        #expect(
            Self.leak(30, read: true).found(at: [40, 41, 41.31]).allSatisfy {
                $0.lint != "half-closed-long"
            })
    }

    @Test(
        "an idle socket that is older than its only owner, which runs another program, was inherited")
    func inherited() {
        var world = HostWorld()
        world.program(4473, "sleep", .sleep)
        world.program(81, "curl", .reads(3))
        _ = world.connect((81, 3), (4473, 5), port: 9000)
        world.started[4473] = 3
        world.processes[4473]?.keptOverExec = [5]
        #expect(world.found().map(\.lint) == ["inherited"] && world.found().first?.severity == .note)
        func innocent(_ change: (inout HostWorld) -> Void) -> Bool {
            var other = world
            change(&other)
            return other.found().isEmpty
        }
        #expect(innocent { $0.started[4473] = -10 })
        #expect(innocent { $0.processes[4473]?.keptOverExec = [] })
        #expect(innocent { $0.processes[4473]?.parentExecutable = "sleep" })
        #expect(innocent { $0.processes[4473]?.parentExecutable = nil })
        #expect(innocent { $0.thread(4473, 4473, .reads(5)) })
        #expect(innocent { $0.open(2, 81, 9) })
        #expect(innocent { $0.set(4473, 7, [(2, Poll.input)]) })
        world.processes[4473]?.parentExecutable = nil
        world.processes[4473]?.parent = 1
        #expect(!world.found().isEmpty)
    }

    @Test("datagrams that were dropped: with a full buffer a warning, else a note, and old news none")
    func drops() {
        var world = HostWorld()
        world.program(11, "slow.py", .sleep)
        let id = world.datagrams(11, 3, port: 514)
        func found(_ times: [Double], held: UInt32, until last: Double = 99) -> [Verdict] {
            world.judged(at: times) { world, time in
                world[id].memory?.received = held
                world[id].memory?.drops = UInt32(min(time, last) * 100)
            }.found
        }
        #expect(found([10, 11], held: 200_000).map(\.severity) == [.warning])
        #expect(
            found([10, 11], held: 200_000)[0].claim == "slow.py[11] lost 100 datagrams in 1s on :514")
        #expect(
            HostParagraph.lines(found([10, 11], held: 200_000)[0]).last?.contains("SO_RCVBUF") == true)
        #expect(found([10, 11], held: 10).map(\.severity) == [.note])
        #expect(found([10, 11, 22], held: 200_000, until: 11).isEmpty)
        #expect(found([10], held: 200_000).isEmpty)
    }

    @Test("a connect without an answer, unless a full listener of this host explains it")
    func silent() {
        var world = HostWorld()
        world.program(81, "curl", .polls(out: [3]))
        let id = world.reach((81, 3), port: 443)
        world[id].state = .synSent
        world[id].sendQueue = 1
        #expect(world.found().isEmpty)
        (world[id].retransmits, world[id].timer) = (1, 1)
        #expect(world.judged(at: [10]).undecided.isEmpty == false)
        world[id].retransmits = 2
        let found = world.found(at: [10, 11])
        #expect(found.map(\.lint) == ["connecting-silent"] && found.first?.subject == "192.0.2.7:443")
        #expect(found.first?.next?.hasPrefix("ip route get 192.0.2.7 ") == true)
        let listener = world.listen(81, 5, port: 443, limit: 4)
        world[listener].receiveQueue = 5
        #expect(world.found(at: [10, 11]).allSatisfy { $0.lint != "connecting-silent" })
    }

    @Test("a segment that nobody acknowledges, from the third try on")
    func retransmitting() {
        var world = HostWorld()
        world.program(81, "curl", .reads(3))
        let id = world.reach((81, 3), port: 443)
        world[id].sendQueue = 500
        world[id].tcp?.tries = 2
        #expect(world.found().isEmpty)
        world[id].tcp?.tries = 3
        #expect(
            world.found().map(\.lint) == ["retransmitting"] && world.found().first?.severity == .warning)
    }

    @Test("ports that connections to one address use up")
    func ports() {
        var world = HostWorld()
        world.localPorts = 50_000...50_019
        world.program(81, "wrk", .epoll(4))
        func connect(_ number: UInt16) {
            let id = world.reach((81, 10 + Int32(number)), port: 443)
            world[id].local = .v4(host: "127.0.0.1", port: 50_000 + number)
        }
        for number in 0..<18 as Range<UInt16> { connect(number) }
        #expect(world.found().isEmpty)
        connect(18)
        let found = world.found()
        #expect(found.map(\.lint) == ["ports-exhausted"] && found.first?.severity == .warning)
        #expect(found.first?.reason == "19 of 20 are in use")
    }

    @Test("a slow reader is a note, and its proxy is none")
    func slowReader() {
        var world = HostBlockingTests.chain(.reads(3))
        func found(_ world: HostWorld, rate: Int64) -> [Verdict] {
            world.judged(at: HostWorld.check) { world, time in
                for (writer, reader) in [(4, 3), (2, 1)] as [(UInt64, UInt64)] {
                    world[writer].tcp?.acknowledged = UInt64(time * 1_000)
                    world[writer].tcp?.windowLimited = .milliseconds(Int(time * 990))
                    world.read(reader, rate)
                    world.fill(reader, rate, at: time)
                }
            }.found
        }
        _ = world
        let slow = found(world, rate: 50_000)
        #expect(slow.map(\.lint) == ["slow-reader"] && slow[0].severity == .note)
        #expect(slow[0].subject == "curl[81]" && slow[0].claim.hasSuffix("/s from socat[78]"))
        #expect(found(world, rate: 2_000_000).isEmpty)
        world = HostBlockingTests.chain(.reads(3))
        #expect(world.found().isEmpty)
    }
}

extension HostWorld {
    /// Connections that wait to be accepted.
    var waiting: [UInt64] { sockets.filter { $0.inode == 0 && $0.state == .established }.map(\.id) }
}
