@testable import InspectorCore
import SocketCore
import Testing

@Suite("Who waits for whom")
struct WaitChainTests {
    /// curl asks nginx at second 2, which asks a server in Python right after; curl is 81, nginx 77, the server 91.
    static func proxied(_ call: HostCall = .accepts(3)) -> HostWorld {
        var world = HostWorld()
        world.program(81, "curl", .polls(in: [5]))
        world.server(77, "nginx", port: 8080, .epoll(9))
        world.server(91, "hang_up.py", port: 9001, call)
        let near = world.ask((81, 5), (77, 10), port: 8080, bytes: 83, at: 2)
        let far = world.ask((77, 11), (91, 4), port: 9001, at: 2)
        world.set(77, 9, [(1, Poll.input), (near.server, Poll.edge), (far.client, Poll.edge)])
        return world
    }

    @Test("a chain is one sentence, a line for each link, and what helps next")
    func words() throws {
        let words = try #require(Self.proxied().chains(about: 77).first)
        #expect(
            words.paragraph == [
                "WAITING: curl[81] waits 9.3s for nginx[77], which waits for hang_up.py[91]: it took 101 B 9.3s ago, has "
                    + "sent no answer, and is in accept.",
                "  curl[81]       fd 5 -> 127.0.0.1:8080   sent 83 B 9.3s ago; in poll for this socket",
                "  nginx[77]      fd 11 -> 127.0.0.1:9001  sent 101 B 9.3s ago; its event loop waits for this socket "
                    + "(probable link: sent within 20ms of the request)",
                "  hang_up.py[91] fd 4                     read 101 B; is in accept for 11s",
                "Next: py-spy dump --pid 91",
            ])
        #expect(words.json.text.contains(#""link":"probable","because":"sent within 20ms of the request""#))
    }

    @Test("asked from each member it is the same chain", arguments: [81, 77, 91])
    func members(process: Int32) {
        #expect(Self.proxied().drawn(about: process) == ["curl[81] ~> nginx[77] > hang_up.py[91]: call"])
    }

    @Test("a link is proven where the only thread sits in a call on the next connection")
    func five() {
        var world = HostWorld()
        for number in Int32(11)...14 {
            world.server(number, "p.py", port: 9_000 + UInt16(number), number == 14 ? .futex : .reads(5))
        }
        world.program(9, "ask.py", .reads(3))
        world.ask((9, 3), (11, 4), port: 9011, at: 2)
        for number in Int32(11)...13 {
            world.ask((number, 5), (number + 1, 4), port: 9_001 + UInt16(number), at: 1.1 + Double(number) / 10)
        }
        let drawn = ["ask.py[9] => p.py[11] => p.py[12] => p.py[13] > p.py[14]: lock"]
        for member in [9, 11, 12, 13, 14] as [Int32] { #expect(world.drawn(about: member) == drawn) }
    }

    @Test(
        "what the last program does",
        arguments: [
            (HostCall.futex, "lock", "waits for a lock (futex)"), (.sleep, "sleep", "sleeps (clock_nanosleep)"),
            (HostCall(.other, "wait4"), "child", "waits for a child process (wait4)"),
            (.accepts(3), "call", "is in accept"), (HostCall(.other, "openat"), "call", "is in openat"),
            (HostCall(.other, "fsync"), "disk", "waits for disk I/O (fsync)"),
        ])
    func ends(call: HostCall, kind: String, words: String) throws {
        let chain = try #require(Self.proxied(call).chains(about: 91).first)
        #expect(chain.chain.end.kind.rawValue == kind && chain.chain.end.words == words, "\(chain.chain.end)")
    }

    @Test("stopped, traced, frozen, in disk wait; and what is not seen")
    func states() throws {
        func end(_ change: (inout HostWorld) -> Void) throws -> (kind: WaitEnd.Kind, words: String, next: String?) {
            var world = Self.proxied()
            change(&world)
            let words = try #require(world.chains(about: 81).first)
            return (words.chain.end.kind, words.chain.end.words, words.next)
        }
        let stopped = try end { $0.processes[91]?.threads[0].state = UInt8(ascii: "T") }
        #expect(
            stopped.kind == .stopped && stopped.words == "is stopped by a signal" && stopped.next == "kill -CONT 91")
        let traced = try end { $0.processes[91]?.threads[0].state = UInt8(ascii: "t") }
        #expect(traced.kind == .stopped && traced.words == "is in a debugger" && traced.next == nil)
        #expect(try end { $0.processes[91]?.isFrozen = true }.words == "is in a frozen cgroup")
        let disk = try end { $0.processes[91]?.threads[0].state = UInt8(ascii: "D") }
        #expect(disk.kind == .disk)
        let hidden = try end { $0.processes[91]?.threads = [] }
        #expect(hidden.kind == .hidden)
        let several = try end { $0.thread(91, 92, .futex) }
        #expect(several.kind == .threads && several.words.contains("2 threads"), "\(several)")
        let unowned = try end { world in world.owners[world[6].inode] = nil }
        #expect(unowned.kind == .hidden && unowned.next == nil, "\(unowned)")
    }

    @Test("a thread that runs without a pause, and serves nobody meanwhile")
    func running() throws {
        var world = Self.proxied(.running)
        world.processes[91]?.threads[0].state = UInt8(ascii: "R")
        // Who works for one client alone is no loop.
        let alone = world.judged(at: HostWorld.check) { world, _ in world.processes[91]?.threads[0].switches = 7 }.found
        #expect(alone.map(\.severity) == [.note], "\(alone)")
        world.set(91, 9, [(2, Poll.input), (6, Poll.input)])
        let found = world.chains(about: 81, at: HostWorld.check) { world, time in
            world.processes[91]?.threads[0].switches = 7
            world.processes[91]?.threads[0].ran = .seconds(time)
        }
        #expect(
            found.first?.chain.end.words
                == "has been running without pausing for at least 6.3s (6.3s of CPU time); its event loop serves no "
                + "other socket")
        let verdicts = world.judged(at: HostWorld.check) { world, _ in world.processes[91]?.threads[0].switches = 7 }
            .found
        #expect(verdicts.map(\.lint) == ["loop-stuck"] && verdicts.first?.severity == .warning, "\(verdicts)")
        let pausing = world.judged(at: HostWorld.check) { world, time in
            world.processes[91]?.threads[0].switches = UInt64(time * 10)
        }.found
        #expect(pausing.allSatisfy { $0.severity == .note }, "\(pausing)")
        // It answers somebody else meanwhile: it is only busy.
        let serving = world.judged(at: HostWorld.check) { world, time in
            world.processes[91]?.threads[0].switches = 7
            if time == 10 { _ = world.ask((81, 7), (91, 8), port: 9001, at: 9) }
            world[8].tcp?.sent = UInt64(time)
            world.sent[8] = time - 0.1
        }.found
        #expect(serving.allSatisfy { $0.severity == .note }, "\(serving)")
    }

    @Test("one look at a thread that runs decides nothing, two do", arguments: [7, 8])
    func runningOn(switches: UInt64) {
        var world = Self.proxied(.running), judge = HostJudge()
        world.processes[91]?.threads[0].state = UInt8(ascii: "R")
        for (time, count, mayRunOn) in [(10.0, 7, true), (11, switches, false)] {
            world.processes[91]?.threads[0].switches = count
            judge.absorbExamined(world.look(time))
            #expect(judge.mayRunOn(about: [], [81]) == mayRunOn)
        }
        let waiting = Self.proxied(.futex)
        var other = HostJudge()
        other.absorbExamined(waiting.look(10))
        #expect(!other.mayRunOn(about: [], [81]))
    }

    // MARK: Rules of a link

    @Test("of an event loop, a question that was asked long after, or before, is no link; of two, none is chosen")
    func loops() {
        var world = HostWorld()
        world.program(81, "curl", .polls(in: [5]))
        world.server(77, "nginx", port: 8080, .epoll(9))
        world.server(91, "a.py", port: 9001)
        world.server(92, "b.py", port: 9002)
        let near = world.ask((81, 5), (77, 10), port: 8080, at: 5)
        func drawn(_ times: [Double]) -> [String] {
            var world = world
            var entries: [(UInt64, UInt32)] = [(1, Poll.input), (near.server, Poll.input)]
            for (index, time) in times.enumerated() {
                let server = (Int32(91 + index), Int32(4)), port = UInt16(9001 + index)
                entries.append((world.ask((77, Int32(11 + index)), server, port: port, at: time).client, Poll.input))
            }
            world.set(77, 9, entries)
            return world.drawn(about: 81)
        }
        #expect(drawn([]) == ["curl[81] > nginx[77]: loop"])
        #expect(drawn([5.01]) == ["curl[81] ~> nginx[77] > a.py[91]: lock"])
        #expect(drawn([6]) == ["curl[81] ~> nginx[77] > a.py[91]: lock"], "the only one since")
        #expect(drawn([3]) == ["curl[81] > nginx[77]: loop"], "asked before")
        #expect(drawn([3, 5.03]) == ["curl[81] ~> nginx[77] > b.py[92]: lock"])
        #expect(drawn([5.01, 8]) == ["curl[81] ~> nginx[77] > a.py[91]: lock"], "right after")
        #expect(drawn([5.01, 5.02]) == ["curl[81] > nginx[77]: several"])
        #expect(drawn([7, 8]) == ["curl[81] > nginx[77]: several"])
    }

    @Test("a question that another client's request explains is not taken for this one's")
    func claimed() {
        var world = Self.proxied()
        world.program(82, "wget", .reads(3))
        let early = world.ask((82, 3), (77, 12), port: 8080, at: 1)
        world.set(77, 9, [(1, Poll.input), (4, Poll.input), (5, Poll.input), (early.server, Poll.input)])
        #expect(world.drawn(about: 82) == ["wget[82] > nginx[77]: loop"])
        #expect(world.drawn(about: 81) == ["curl[81] ~> nginx[77] > hang_up.py[91]: call"])
    }

    @Test("a tie says nothing, unless a thread waits for nothing else and nobody reads at the other end")
    func ties() {
        func drawn(_ client: HostCall, _ server: HostCall) -> [String] {
            var world = HostWorld()
            world.program(81, "psql", client)
            world.server(91, "db", port: 5432, server)
            world.askAgain((81, 3), (91, 4), port: 5432, answered: 4.99, at: 5)
            return world.drawn(about: 81)
        }
        #expect(drawn(.polls(in: [3]), .futex) == ["psql[81] > db[91]: lock"])
        #expect(drawn(.polls(in: [3]), .reads(4)).isEmpty, "both wait to read")
        #expect(drawn(.polls(in: [0]), .futex).isEmpty, "it waits for its user")
    }

    @Test("through an accept queue, a Unix socket, and a server that cannot be reached")
    func others() throws {
        var world = HostWorld()
        world.program(81, "curl", .reads(3))
        world.server(77, "app.py", port: 8080, .reads(5))
        world.server(91, "db.py", port: 9001)
        let waiting = world.ask((81, 3), nil, port: 8080, at: 5)
        world.ask((77, 5), (91, 4), port: 9001, at: 1)
        world[1].receiveQueue = 1
        #expect(world.drawn(about: 81) == ["curl[81] => app.py[77] > db.py[91]: lock"])
        #expect(waiting.server > 0)

        var local = HostWorld()
        local.program(81, "curl", .reads(3))
        local.program(77, "app.py", .futex)
        _ = local.pair((81, 3), (77, 4), path: "/run/app")
        #expect(local.drawn(about: 77) == ["curl[81] > app.py[77]: lock"])

        var queued = HostWorld()
        queued.program(81, "curl", .reads(3))
        queued.program(77, "app.py", .futex)
        queued.queue((81, 3), at: (77, 4), path: "/run/app")
        for member in [77, 81] as [Int32] { #expect(queued.drawn(about: member) == ["curl[81] > app.py[77]: lock"]) }
        let found = queued.judged(at: HostWorld.check).found
        #expect(found.map(\.lint) == ["accept-stuck"] && found.first?.ends.last?.name == "curl", "\(found)")

        var far = HostWorld()
        far.program(81, "curl", .polls(out: [3]))
        let id = far.reach((81, 3), port: 80)
        (far[id].state, far[id].retransmits) = (.synSent, 3)
        let words = try #require(far.chains(about: 81).first)
        #expect(words.chain.end.kind == .handshake)
        #expect(
            words.sentence == "curl[81] waits 3s for 192.0.2.7:80: it has not answered the SYN, try 3",
            "\(words.sentence)")
    }

    @Test("of another host, what the kernel knows")
    func far() throws {
        var world = HostWorld()
        world.program(81, "curl", .reads(3))
        let id = world.reach((81, 3), port: 443)
        world[id].tcp?.received = 0
        world.sent[id] = 2
        var words = try #require(world.chains(about: 81).first)
        #expect(
            words.sentence
                == "curl[81] waits 9.3s for 192.0.2.7:443: it has acknowledged the request but not answered it")
        world[id].sendQueue = 100
        world[id].retransmits = 4
        words = try #require(world.chains(about: 81).first)
        #expect(words.sentence.hasSuffix("it has not acknowledged 100 B, try 4"), "\(words.sentence)")
    }

    @Test("two that wait for each other's answer, whichever is asked")
    func rings() throws {
        var world = HostWorld()
        for number in Int32(11)...12 { world.server(number, "p.py", port: 9_000 + UInt16(number), .reads(5)) }
        world.ask((11, 5), (12, 4), port: 9012, at: 2)
        world.ask((12, 5), (11, 4), port: 9011, at: 3)
        let sentence = "p.py[11] waits 9.3s for p.py[12], which waits for p.py[11]: each waits for the other's answer"
        for member in [11, 12] as [Int32] {
            let words = try #require(world.chains(about: member).first)
            #expect(words.sentence == sentence && words.paragraph[0].hasPrefix("MUTUAL WAIT"))
        }
        let found = world.judged(at: HostWorld.check).found
        #expect(found.map(\.lint) == ["mutual-wait"] && found.first?.severity == .warning, "\(found)")
        var queued = HostWorld()
        for number in Int32(11)...12 { queued.server(number, "p.py", port: 9_000 + UInt16(number), .reads(5)) }
        queued.ask((11, 5), nil, port: 9012, at: 2)
        queued.ask((12, 5), nil, port: 9011, at: 3)
        for listener in [1, 2] as [UInt64] { queued[listener].receiveQueue = 1 }
        #expect(queued.judged(at: HostWorld.check).found.map(\.lint) == ["mutual-wait"])
        var loop = world
        loop.thread(12, 12, .epoll(9))
        loop.set(12, 9, [(2, Poll.input), (4, Poll.input), (5, Poll.input)])
        #expect(loop.judged(at: HostWorld.check).found.allSatisfy { $0.severity == .note })
    }

    // MARK: The innocent

    @Test("who waits rightly gets nothing above a note, and who is idle or only sends gets nothing")
    func innocents() {
        func found(_ client: HostCall, _ change: (inout HostWorld) -> Void) -> [Verdict] {
            var world = HostWorld()
            world.program(81, "client", client)
            world.server(91, "redis-server", port: 6379, .epoll(9))
            change(&world)
            return world.judged(at: HostWorld.check).found
        }
        let blocking = found(.reads(3)) { world in
            let ends = world.ask((81, 3), (91, 4), port: 6379, at: 1)
            world.set(91, 9, [(1, Poll.input), (ends.server, Poll.input)])
        }
        #expect(blocking.map(\.lint) == ["wait-chain"] && blocking.first?.severity == .note)
        let subscribed = found(.reads(3)) { world in
            let ends = world.askAgain((81, 3), (91, 4), port: 6379, answered: 1, at: 1)
            world.set(91, 9, [(1, Poll.input), (ends.server, Poll.input)])
        }
        #expect(subscribed.isEmpty, "\(subscribed)")
        let idle = found(.polls(in: [3])) { world in
            let ends = world.askAgain((81, 3), (91, 4), port: 6379, answered: 2, at: 1)
            world.set(91, 9, [(1, Poll.input), (ends.server, Poll.input)])
        }
        #expect(idle.isEmpty, "\(idle)")
        let shipper = found(.sleep) { world in
            let ends = world.ask((81, 3), (91, 4), port: 6379, at: 1)
            world.set(91, 9, [(1, Poll.input), (ends.server, Poll.input)])
        }
        #expect(shipper.isEmpty, "\(shipper)")
        let stopped = found(.reads(3)) { world in
            world.ask((81, 3), (91, 4), port: 6379, at: 1)
            world.processes[91]?.threads[0].state = UInt8(ascii: "T")
        }
        #expect(stopped.map(\.severity) == [.warning] && stopped.first?.lint == "wait-chain", "\(stopped)")
    }

    @Test("a healthy program is one line; the details are told of a few connections, or of all")
    func healthy() throws {
        var world = HostWorld()
        world.server(91, "redis-server", port: 6379, .epoll(9))
        world.program(81, "bench", .epoll(9))
        for number in Int32(0)..<50 {
            world.askAgain((81, 10 + number), (91, 10 + number), port: 6379, answered: 9, at: 9)
        }
        var judge = HostJudge()
        let look = world.look(11)
        judge.absorbExamined(look)
        let answer = try #require(HostAnswer(.port(6379), [], look, judge))
        #expect(answer.lines == ["Nothing is wrong with redis-server[91]: 50 connections, no request is waiting."])
        let all = try #require(HostAnswer(.port(6379), [], look, judge, HostAnswer.Options(tellsAll: true)))
        #expect(all.lines.count > 50)
    }

    @Test("the status is that of a question that waits for longer than allowed")
    func late() throws {
        var judge = HostJudge()
        let look = Self.proxied().look(11)
        judge.absorbExamined(look)
        for (limit, isLate) in [(5, true), (20, false)] {
            let options = HostAnswer.Options(limit: .seconds(limit))
            let answer = try #require(HostAnswer(.port(9001), [], look, judge, options))
            #expect(answer.isLate == isLate)
        }
    }
}
