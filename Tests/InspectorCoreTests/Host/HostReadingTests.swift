import InspectorCore
import SocketCore
import Testing

/// Bytes that nobody reads, with nobody stuck behind them.
@Suite("Verdicts on the host: reading")
struct HostReadingTests {
    /// A server that has 18 bytes of its client unread; the server is socket 3 as descriptor 4.
    static func unread(_ call: HostCall = .futex, bytes: Int64 = 18) -> HostWorld {
        var world = HostWorld()
        world.program(4711, "api.py", call)
        world.program(81, "curl", .reads(3))
        _ = world.listen(4711, 3, port: 9000)
        let ends = world.connect((81, 3), (4711, 4), port: 9000)
        world.fill(ends.server, bytes)
        return world
    }

    @Test("a server that never reads: 18 bytes are enough")
    func unasked() throws {
        let found = Self.unread().found(at: [10, 11, 11.31])
        let verdict = try #require(found.first)
        #expect(found.count == 1 && verdict.lint == "unread-unasked" && verdict.severity == .warning)
        #expect(verdict.evidence == .arguments && verdict.lasting == .milliseconds(11_310))
        #expect(
            verdict.sentence
                == "api.py[4711] has left 18 B unread for at least 11s: no thread or event loop is reading "
                + "this socket (thread 4711 is in futex)")
        #expect(
            HostParagraph.lines(verdict) == [
                "UNREAD-UNASKED for at least 11s: api.py[4711] has left 18 B unread: no thread or event loop is reading "
                    + "this socket (thread 4711 is in futex).",
                "  api.py fd 4: thread 4711 is in futex; 18 B unread",
                "  curl   fd 3: thread 81 is in recv of 4.0K",
                "Next: py-spy dump --pid 4711",
            ])
    }

    @Test("a trickling sender hides nothing: our own looks prove it")
    func trickle() {
        let (found, _, _) = Self.unread().judged(at: HostWorld.check) { world, time in
            world.fill(3, 1, at: time - 0.4)
        }
        #expect(found.map(\.lint) == ["unread-unasked"] && found.first?.severity == .warning)
        let early = Self.unread().judged(at: [10, 11, 11.31]) { world, time in world.fill(3, 1, at: time - 0.4) }
        #expect(early.found.isEmpty && !early.undecided.isEmpty)
    }

    @Test("who wakes now and then may look at what came, which is a note; who sleeps on, or has more threads, does not")
    func wakes() {
        func found(_ call: HostCall, _ change: (inout HostWorld, Double) -> Void = { _, _ in }) -> [Severity] {
            Self.unread(call).judged(at: HostWorld.check, change).found.map(\.severity)
        }
        #expect(found(.sleep) { world, time in world.slept[4711] = time - 0.4 } == [.note])
        #expect(found(.polls()) { world, time in world.slept[4711] = time - 0.4 } == [.note])
        #expect(found(.sleep) == [.warning] && found(.polls()) == [.warning])
        #expect(found(.futex) { world, time in world.slept[4711] = time - 0.4 } == [.warning])
        let two = found(.sleep) { world, time in
            world.slept[4711] = time - 0.4
            world.thread(4711, 4712, .futex)
        }
        #expect(two == [.warning])
    }

    @Test("age alone is no proof: a consumer that takes 100 B each three seconds is never accused")
    func slowConsumer() {
        var world = Self.unread(.sleep, bytes: 20_000)
        world.slept[4711] = 9.5
        for start in stride(from: 10.0, to: 13, by: 0.5) {
            let times = HostWorld.check.map { $0 + start }
            let found = world.judged(at: times) { world, time in
                world.slept[4711] = time - 0.5
                if Int(time) % 3 == 0 { world.read(3, 100) }
            }.found
            #expect(found.isEmpty)
        }
    }

    @Test("a bulk reader whose queue is never empty is not accused, whatever its calls look like")
    func bulk() {
        for rung in [HostProcess.Rung.arguments, .waitChannel, .queues] {
            let found = Self.unread(.reads(4), bytes: 1 << 20).on(rung).judged(at: HostWorld.check) { world, time in
                world.read(3, 1 << 20)
                world.fill(3, 1 << 20, at: time)
                world.slept[4711] = time
            }.found
            #expect(found.isEmpty)
        }
    }

    @Test("who asks is not accused", arguments: [HostCall.reads(4), .polls(in: [4]), .epoll(7)])
    func asks(_ call: HostCall) {
        var world = Self.unread(call)
        world.set(4711, 7, [(3, Poll.exclusive)])
        #expect(world.found().isEmpty)
        let once = Self.unread().judged(at: HostWorld.check) { world, time in
            world.thread(4711, 4711, time == 12.3 ? .reads(4) : .futex)
        }
        #expect(once.found.isEmpty)
    }

    @Test("poll and select without the socket; a one-shot that fired")
    func without() throws {
        #expect(
            Self.unread(.polls(in: [9])).found().map(\.sentence).first?.hasSuffix("(thread 4711 is in poll)") == true)
        var world = Self.unread(.epoll(7))
        world.set(4711, 7, [(3, Poll.fired | Poll.always)])
        let verdict = try #require(world.found().first)
        #expect(verdict.lint == "unread-unasked")
        #expect(verdict.sentence.hasSuffix("is registered for no events on it (one-shot, fired and not rearmed)"))
    }

    @Test("an edge-triggered loop that waits; a loop that is stuck, with its thread's call")
    func loops() {
        var world = Self.unread(.epoll(7))
        world.set(4711, 7, [(3, Poll.edge)])
        #expect(world.found().map(\.lint) == ["edge-unread"])
        world.thread(4711, 4711, .futex)
        #expect(world.found().map(\.lint) == ["loop-stuck"])
        world.set(4711, 7, [(3, Poll.input)])
        let found = world.found()
        #expect(found.map(\.lint) == ["loop-stuck"] && found.first?.severity == .warning)
        #expect(found.first?.reason?.hasSuffix("(thread 4711 is in futex)") == true)
        // The loop was seen in its wait once.
        let once = world.judged(at: HostWorld.check) { world, time in
            world.thread(4711, 4711, time == 12.3 ? .epoll(7) : .running)
        }
        #expect(once.found.isEmpty)
    }

    @Test("a loop that is busy with other sockets is not stuck; an edge-triggered one has lost an event")
    func busy() {
        var world = Self.unread(.running)
        let other = world.connect((81, 5), (4711, 6), port: 9000).server
        world.set(4711, 7, [(3, Poll.input), (other, Poll.input)])
        func found(_ world: HostWorld) -> [String] {
            world.judged(at: HostWorld.check) { world, time in
                world.fill(other, 10, at: time)
                world.read(other, 10)
            }.found.map(\.lint)
        }
        #expect(found(world).isEmpty)
        world.set(4711, 7, [(3, Poll.edge), (other, Poll.edge)])
        #expect(found(world) == ["edge-unread"])
    }

    @Test("a set inside another set: who waits in the outer one asks")
    func nested() {
        var world = Self.unread(.epoll(8))
        world.set(4711, 7, [(3, Poll.input)])
        #expect(world.found().map(\.lint) == ["loop-stuck"])
        let inner = HostProcess.PollEntry(descriptor: 7, events: Poll.input, inode: 13)
        world.processes[4711]?.pollSets[8] = .some([inner])
        #expect(world.found().isEmpty)
        let edge = HostProcess.PollEntry(descriptor: 7, events: Poll.input | 1 << 31, inode: 13)
        world.processes[4711]?.pollSets[8] = .some([edge])
        #expect(world.found().map(\.lint) == ["edge-unread"])
    }

    @Test("a set that was not read, and a process that was not looked at, prove nothing")
    func unknown() {
        var world = Self.unread()
        world.processes[4711]?.pollSets[7] = .some(nil)
        #expect(world.found().isEmpty)
        world = Self.unread()
        world.processes[4711]?.threads = []
        #expect(world.found().isEmpty)
        world = Self.unread()
        world.owners[world[3].inode] = nil
        #expect(world.found().isEmpty)
    }

    @Test("a client's few bytes are a note: session tickets and notices; 16 KB are not few")
    func pools() {
        var world = HostWorld()
        world.program(11, "java", .futex)
        world.program(12, "redis", .reads(9))
        _ = world.listen(12, 3, port: 6379)
        var ends: [UInt64] = []
        for number in 0..<25 as Range<Int32> {
            let client = world.connect((11, 10 + number), (12, 10 + number), port: 6379).client
            world.fill(client, 510)
            ends.append(client)
        }
        let found = world.found()
        #expect(found.count == 1 && found.first?.severity == .note && found.first?.more == 24)
        #expect(
            found.first?.sentence.hasSuffix("; the same on 24 more sockets") == true && found[0].sockets.count == 25)
        #expect(found.first?.next == "jcmd 11 Thread.print  # nid=0xb")
        world.fill(ends[3], 16_384)
        #expect(world.found().map(\.severity) == [.warning, .note])
    }

    @Test("a peer that has closed for good, io_uring, and a thread that waits elsewhere make it a note")
    func notes() throws {
        var world = Self.unread()
        world[2].inode = 0
        world[2].state = .finWait2
        world[3].state = .closeWait
        #expect(world.found().filter { $0.lint == "unread-unasked" }.map(\.severity) == [.note])
        world = Self.unread()
        world.processes[4711]?.hasRing = true
        #expect(world.found().map(\.severity) == [.note] && world.found().first?.reason?.contains("io_uring") == true)
        #expect(world.found().first?.reason?.contains("no thread") == false)
        world = Self.unread(.reads(7))
        world.program(90, "redis", .epoll(5))
        _ = world.connect((4711, 7), (90, 6), port: 6379)
        let verdict = try #require(world.found().first)
        #expect(verdict.severity == .note)
        #expect(verdict.reason?.hasSuffix("thread 4711 waits in recv of 4.0K on fd 7 for redis[90]") == true)
    }

    @Test("stopped, traced and frozen programs are notes; so is a call that cannot be told")
    func stopped() {
        for state in ["T", "t"] {
            var world = Self.unread()
            world.processes[4711]?.threads[0].state = state.utf8.first ?? 0
            #expect(world.found().map(\.severity) == [.note])
        }
        var world = Self.unread()
        world.processes[4711]?.isFrozen = true
        #expect(world.found().map(\.severity) == [.note])
        #expect(Self.unread(HostCall(.restarted, "restart_syscall")).found().isEmpty)
        // No table has this call, so it may wait for anything; a thread that has not run waits for nothing that is here.
        let unknown = Self.unread(HostCall(.other, "system call 7"))
        #expect(unknown.found().map(\.evidence) == [.idle])
        let ran = unknown.judged(at: HostWorld.check) { world, time in world.slept[4711] = time }
        #expect(ran.found.isEmpty)
    }

    @Test("a proxy that another socket holds up is not accused, edge-triggered or not, nor one at the window's mercy")
    func heldUp() {
        for events in [Poll.output, Poll.edge] {
            var world = Self.unread(.epoll(7))
            world.program(99, "far", .reads(3))
            let onward = world.connect((4711, 6), (99, 3), port: 7000).client
            world.set(4711, 7, [(3, Poll.edge), (onward, events)])
            world[onward].sendQueue = 10_000
            #expect(world.found().isEmpty)
            // Its bytes move, but the window limits it.
            let found = world.judged(at: HostWorld.check) { world, time in
                world[onward].tcp?.acknowledged = UInt64(time * 1_000)
                world[onward].tcp?.windowLimited = .milliseconds(Int(time * 900))
            }.found
            #expect(found.isEmpty)
        }
    }

    @Test("a listener's send queue is its limit: it holds nobody up")
    func listener() {
        var world = Self.unread(.epoll(7))
        world.set(4711, 7, [(1, Poll.edge), (3, Poll.edge)])
        #expect(world.found().map(\.lint) == ["edge-unread"])
    }

    @Test("below the arguments: idle threads prove it, threads that ran do not")
    func rungs() {
        for rung in [HostProcess.Rung.waitChannel, .queues] {
            let found = Self.unread().on(rung).found()
            #expect(found.map(\.lint) == ["unread-unasked"] && found.first?.severity == .warning)
            #expect(found.first?.evidence == .idle)
            let ran = Self.unread().on(rung).judged(at: HostWorld.check) { world, time in world.slept[4711] = time }
            #expect(ran.found.allSatisfy { $0.severity == .note })
        }
        // A thread in recv may wait for more bytes than there are (SO_RCVLOWAT).
        #expect(Self.unread(.reads(9)).on(.waitChannel).found().allSatisfy { $0.severity == .note })
        #expect(Self.unread(.reads(4)).on(.waitChannel).found().allSatisfy { $0.severity == .note })
        var world = Self.unread(.epoll(7)).on(.waitChannel)
        world.set(4711, 7, [(3, Poll.edge)])
        #expect(world.found().map(\.lint) == ["edge-unread"])
        world.set(4711, 7, [(3, Poll.input)])
        #expect(world.found().isEmpty)
        world.thread(4711, 4711, .futex)
        #expect(world.found().map(\.lint) == ["loop-stuck"])
    }

    @Test("of several owners, one that asks is enough; the parent of a server is not the subject")
    func shared() {
        var world = Self.unread(.reads(9))
        world.program(4720, "api.py", .reads(4))
        world.open(3, 4720, 4)
        #expect(world.found().isEmpty)
        world.thread(4720, 4720, .futex)
        #expect(
            world.found().map(\.subject) == ["api.py[4720]"]
                && world.found().first?.claim.hasPrefix("api.py[4720]+1 ") == true)
    }

    @Test("settings are those of the one table: times and what is told")
    func settings() throws {
        var settings = LintSettings()
        try settings.warn(reading: "unread-unasked=1m")
        #expect(Self.unread().judged(at: HostWorld.check, settings: settings).found.isEmpty)
        _ = settings.allow("unread-unasked")
        #expect(Self.unread().judged(at: [70, 71, 71.31], settings: settings).found.isEmpty)
    }

    @Test("names are made safe, and cut")
    func hostile() {
        var world = Self.unread()
        world.processes[4711]?.name = "a\u{1B}[31m" + String(repeating: "x", count: 900)
        let verdict = world.found()[0]
        for text in HostParagraph.lines(verdict) + [verdict.sentence, verdict.subject ?? ""] {
            #expect(!text.contains("\u{1B}") && text.contains("\\x1b") == text.contains("[31m") && text.count < 600)
        }
    }
}
