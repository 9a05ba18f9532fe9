import InspectorCore
import SocketCore
import Testing

/// Writers and readers that hold each other up, as faults and as innocent neighbours.
@Suite("Verdicts on the host: blocking")
struct HostBlockingTests {
    /// Two programs that both write and neither reads.
    static func deadlock(_ api: HostCall = .sends(4), _ worker: HostCall = .sends(5)) -> HostWorld {
        var world = HostWorld()
        world.program(4711, "api.py", api)
        world.program(4712, "worker.py", worker)
        _ = world.listen(4711, 3, port: 9000)
        let (client, server) = world.connect((4712, 5), (4711, 4), port: 9000)
        world.jam(client, into: server)
        world.jam(server, into: client)
        return world
    }

    @Test("both write and neither reads: critical, with both ends, at the first looks")
    func bothWrite() throws {
        let found = Self.deadlock().found(at: [10, 11, 11.31])
        let verdict = try #require(found.first)
        #expect(found.count == 1 && verdict.lint == "deadlock" && verdict.severity == .critical)
        #expect(verdict.evidence == .arguments && verdict.lasting.map { $0 >= .seconds(11) } == true)
        #expect(Set(verdict.processes.map(\.number)) == [4711, 4712] && Set(verdict.sockets) == [2, 3])
        #expect(
            HostParagraph.lines(verdict) == [
                "DEADLOCK for at least 11s: worker.py[4712] and api.py[4711] are both writing, and neither reads.",
                "  worker.py fd 5: in send of 48M; 3.9M unread in its own receive queue",
                "  api.py    fd 4: in send of 48M; 3.9M unread in its own receive queue",
                "Next: py-spy dump --pid 4712",
            ])
    }

    @Test("below the arguments it is a note; with room waited for a warning; edge-triggered a note")
    func severities() {
        let note = Self.deadlock().on(.waitChannel).found()
        #expect(note.map(\.lint) == ["deadlock"] && note[0].severity == .note && note[0].evidence == .wchan)
        var world = Self.deadlock(.polls(out: [4]), .polls(out: [5]))
        #expect(world.found().map(\.severity) == [.warning])
        world = Self.deadlock(.epoll(7), .epoll(8))
        world.set(4711, 7, [(3, Poll.output)])
        world.set(4712, 8, [(2, Poll.output)])
        #expect(world.found().map(\.severity) == [.warning])
        world.set(4711, 7, [(3, Poll.edge)])
        world.set(4712, 8, [(2, Poll.edge)])
        #expect(world.found().map(\.lint) == ["deadlock"] && world.found().first?.severity == .note)
    }

    @Test("no deadlock while one of them asks to read, moves, or has not stood for five seconds")
    func innocent() {
        #expect(Self.deadlock(.polls(in: [4], out: [4])).found().allSatisfy { $0.lint != "deadlock" })
        var world = Self.deadlock()
        world.thread(4711, 4713, .reads(4))
        #expect(world.found().allSatisfy { $0.severity == .note })
        let moving = Self.deadlock().judged(at: HostWorld.check) { world, _ in
            world.read(3, 1_000)
            world.fill(3, 1_000)
        }
        #expect(moving.found.isEmpty)
        var young = Self.deadlock()
        for id in [2, 3] as [UInt64] { (young.received[id], young.sent[id]) = (9, 9) }
        for thread in [4711, 4712] as [Int32] { young.slept[thread] = 9 }
        let early = young.judged(at: [10, 11, 11.31])
        #expect(early.found.isEmpty && !early.undecided.isEmpty)
        #expect(young.found().map(\.lint) == ["deadlock"])
    }

    @Test("what stands in others' sockets has to do with a relay to them, and with nobody else")
    func related() {
        var world = Self.deadlock()
        for id in [2, 3] as [UInt64] { (world.received[id], world.sent[id]) = (9, 9) }
        for thread in [4711, 4712] as [Int32] { world.slept[thread] = 9 }
        for (number, name) in [(21, "client"), (22, "relay"), (23, "other")] { world.program(Int32(number), name) }
        let (near, _) = world.connect((21, 3), (22, 4), port: 80)
        let (_, far) = world.connect((22, 5), (4711, 9), port: 9_001)
        world.fill(far, 5, at: 9)
        let (stranger, _) = world.connect((23, 3), (23, 4), port: 81)
        let (_, undecided, judge) = world.judged(at: [10, 11, 11.31])
        #expect(undecided.isSuperset(of: [2, 3]))
        #expect(judge.related(to: [world[stranger]]) == [stranger, stranger + 1])
        #expect(judge.related(to: [world[near]]).isSuperset(of: [2, 3]) == false)
        world.fill(far - 1, 5, at: 9)
        let waiting = world.judged(at: [10, 11, 11.31])
        #expect(waiting.judge.related(to: [world[near]]).isSuperset(of: [2, 3]))
        #expect(waiting.judge.related(to: [], [23]).isEmpty)
    }

    @Test("a ring of three is one verdict that names all")
    func ring() throws {
        var world = HostWorld()
        for (number, name) in [(1, "a"), (2, "b"), (3, "c")] as [(Int32, String)] { world.program(number + 10, name) }
        for number in 1...3 as ClosedRange<Int32> {
            let next = number % 3 + 1
            let (client, server) = world.connect((number + 10, 4), (next + 10, 5), port: 7_000 + UInt16(number))
            world.jam(client, into: server)
            world.thread(number + 10, number + 10, .sends(4))
        }
        let found = world.found()
        #expect(found.count == 1 && found.first?.severity == .critical && found.first?.processes.count == 3)
        #expect(found.first?.claim == "a[11], b[12] and c[13] write in a ring and none reads")
        #expect(found.first?.ends.allSatisfy { $0.words.hasSuffix("unread in its own receive queue of fd 5") } == true)
    }

    @Test("a program that writes to itself is its own ring")
    func itself() {
        var world = HostWorld()
        world.program(11, "a", .sends(4))
        let (client, server) = world.connect((11, 4), (11, 5), port: 7_000)
        world.jam(client, into: server)
        #expect(world.found().map(\.claim) == ["a[11] writes to itself and does not read"])
    }

    @Test("a pair of Unix-domain sockets in send is a deadlock; memory alone is not")
    func unix() {
        var world = HostWorld()
        world.program(11, "a", .sends(4))
        world.program(12, "b", .sends(5))
        let ends = world.pair((11, 4), (12, 5), path: "/run/x")
        for id in [ends.0, ends.1] {
            (world[id].receiveQueue, world[id].sendQueue) = (200_000, 222_000)
        }
        #expect(world.found().map(\.lint) == ["deadlock"] && world.found().first?.severity == .critical)
        var hidden = world.on(.waitChannel)
        for number in [11, 12] as [Int32] { hidden.processes[number]?.threads[0].waitChannel = "sock_alloc_send_pskb" }
        #expect(hidden.found().map(\.lint) == ["unread-unasked", "unread-unasked"])
        // 7 bytes that an idle reader has not read make 768 bytes of the writer's memory.
        world.thread(11, 11, .sleep)
        world.thread(12, 12, .reads(5))
        (world[ends.0].receiveQueue, world[ends.1].receiveQueue) = (0, 7)
        (world[ends.0].sendQueue, world[ends.1].sendQueue) = (768, 0)
        #expect(world.found().isEmpty)
    }

    @Test("a reader of a Unix-domain socket at full speed is not accused; one that does nothing is")
    func unixAtFullSpeed() {
        var world = HostWorld()
        world.program(11, "source", .sends(4))
        world.program(12, "sink", .sleep)
        let ends = world.pair((11, 4), (12, 5), path: "/run/x")
        (world[ends.1].receiveQueue, world[ends.0].sendQueue) = (200_000, 222_000)
        #expect(world.found().map(\.lint) == ["write-blocked"])
        // What it read is not counted, and the queue is as long at each look.
        world.thread(12, 12, .running)
        #expect(world.found().isEmpty)
    }

    /// A relay chain: curl does not read, socat is stuck with it, and a server behind socat.
    static func chain(_ curl: HostCall = .sleep) -> HostWorld {
        var world = HostWorld()
        world.program(77, "server", .sends(5))
        world.program(78, "socat", .sends(6))
        world.program(81, "curl", curl)
        let (near, far) = world.connect((78, 7), (77, 5), port: 80)
        world.jam(far, into: near)
        let (client, server) = world.connect((81, 3), (78, 6), port: 8080)
        world.jam(server, into: client)
        return world
    }

    @Test("a chain is told at its end, with all who wait")
    func chainEnd() throws {
        let found = Self.chain().found()
        let verdict = try #require(found.first)
        #expect(found.count == 1 && verdict.lint == "write-blocked" && verdict.severity == .warning)
        #expect(verdict.subject == "curl[81]" && verdict.next == "eu-stack -p 81")
        #expect(verdict.claim == "curl[81] has left 3.9M unread")
        #expect(
            verdict.reason?.hasSuffix("server[77] is stuck in send of 48M; socat[78] is stuck in send of 48M") == true)
        #expect(verdict.processes.map(\.number) == [81, 77, 78])
    }

    @Test("who reads, however slowly, is not blamed, nor who waits for it")
    func slowConsumer() {
        let found = Self.chain().judged(at: HostWorld.check) { world, time in
            world.read(3, 1_000)
            world.fill(3, 1_000, at: time)
        }.found
        #expect(found.isEmpty)
        #expect(Self.chain(.reads(3)).found().isEmpty)
    }

    @Test("a stopped reader is a note", arguments: ["T", "t", "frozen"])
    func stopped(_ how: String) {
        var world = Self.chain()
        if how == "frozen" { world.processes[81]?.isFrozen = true }
        if how != "frozen" { world.processes[81]?.threads[0].state = how.utf8.first ?? 0 }
        let found = world.found()
        #expect(found.map(\.severity) == [.note] && found.first?.lint == "write-blocked")
    }

    @Test("the end of a chain that is an edge-triggered or a stuck loop is called so")
    func loops() {
        var world = Self.chain(.epoll(9))
        world.set(81, 9, [(3, Poll.edge)])
        #expect(world.found().map(\.lint) == ["edge-unread"])
        world.thread(81, 81, .futex)
        world.set(81, 9, [(3, Poll.input)])
        #expect(world.found().map(\.lint) == ["loop-stuck"])
        #expect(world.found().first?.sentence.contains("thread 81 is in futex") == true)
        world.thread(81, 81, .epoll(9))
        #expect(world.found().isEmpty)
    }

    @Test("a peer on another host with a shut window")
    func zeroWindow() {
        var world = HostWorld()
        world.program(81, "curl", .sends(3))
        let id = world.reach((81, 3), port: 443)
        world[id].sendQueue = 100_000
        world[id].tcp?.sendWindow = 0
        // Since when it is shut, only our own looks tell.
        #expect(world.found(at: [10, 11, 11.31]).isEmpty)
        let found = world.found()
        #expect(found.map(\.lint) == ["zero-window"] && found.first?.severity == .warning)
        #expect(found.first?.subject == "192.0.2.7:443" && found.first?.evidence == .queues)
        world[id].tcp?.sendWindow = 1_000
        #expect(world.found().isEmpty)
    }
}
