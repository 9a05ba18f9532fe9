import InspectorCore
import SocketCore
import Testing

/// What is said of sockets of the host: columns, the story, lines and JSON.
@Suite("Words on the host's sockets")
struct HostWordsTests {
    private static func judge(_ world: HostWorld, at times: [Double] = [10, 11, 11.31]) -> HostJudge {
        world.judged(at: times).judge
    }

    /// A judge that looked at every program, as a screen that shows all of them makes it.
    private static func looking(_ world: HostWorld) -> HostJudge {
        var judge = HostJudge()
        for time in [10.0, 11] { judge.absorbExamined(world.look(time)) }
        return judge
    }

    private static func quiet(_ server: HostCall = .reads(4), sent: [Double?] = [1, 3]) -> HostWorld {
        var world = HostWorld()
        world.program(77, "web.js", server)
        world.program(81, "curl", .reads(3))
        _ = world.listen(77, 3, port: 80)
        let (client, far) = world.connect((81, 3), (77, 4), port: 80)
        for (id, time) in [(client, sent[0]), (far, sent[1])] {
            if time == nil { world[id].tcp?.sent = 0 }
            world.sent[id] = time
        }
        return world
    }

    @Test("nothing is under way: both wait to read, who sent last")
    func story() {
        #expect(
            Self.looking(Self.quiet()).story(of: 2)
                == "Idle: nothing is in transit. Both ends are waiting to read. Last to send: web.js[77], 100 B in all, 8s ago. curl[81] "
                + "fd 3: thread 81 is in recv of 4.0K, for at least 11s; web.js[77] fd 4: thread 77 is in recv of 4.0K, "
                + "for at least 11s.")
        let silent = Self.looking(Self.quiet(.futex, sent: [nil, nil])).story(of: 2)
        #expect(silent?.hasPrefix("Idle: nothing is in transit. Neither has sent a byte. curl[81]") == true)
        #expect(Self.looking(Self.quiet()).story(of: 99) == nil)
        #expect(
            Self.looking(HostReadingTests.unread()).story(of: 3)?.contains("api.py[4711] has 18 B unread")
                == true)
    }

    @Test(
        "a connection has one story, whichever end is asked for; what the clock cannot tell apart is told of both"
    )
    func tie() {
        for (sent, words) in [
            ([1, 1.02], "Both sent last 10s ago, within 20ms of each other."),
            ([1, 1.03], "Last to send: web.js[77]"),
        ] {
            let judge = Self.looking(Self.quiet(sent: sent))
            let story = judge.story(of: 2)
            #expect(story == judge.story(of: 3) && story?.contains(words) == true, "\(story ?? "-")")
        }
    }

    @Test("a connection that one end has closed is told as such, and many are counted")
    func halfClosed() throws {
        func lines(_ count: Int32) throws -> [String] {
            var world = Self.quiet()
            for number in 0..<count {
                let (client, server) = world.connect((81, 10 + number), (77, 10 + number), port: 80)
                world.close(server, by: client, read: true, at: 5)
            }
            return try #require(HostAnswer(.port(80), [], world.look(11), Self.looking(world))).lines
        }
        #expect(
            try lines(1).contains {
                $0.contains(
                    ": curl[81] sent FIN 6s ago, and web.js[77] has not closed yet (CLOSE-WAIT). curl[81] "
                )
            })
        #expect(
            try lines(40).contains(
                "40 connections were closed by one end, the first 6s ago, but not yet by web.js[77] (CLOSE-WAIT).")
        )
    }

    @Test("an address is no actor, and a thread that is just running has not waited")
    func actors() {
        var world = HostConnectionTests.listener(.running, waiting: 1)
        world.fill(3, 78)
        let story = Self.looking(world).story(of: 3)
        #expect(
            story?.contains("78 B unread and 0 B unsent at 127.0.0.1:80") == true, "\(story ?? "-")")
        #expect(story?.contains("127.0.0.1:80: waits to be accepted") == true)
        world.thread(81, 81, .reads(3))
        world.slept[81] = 11
        #expect(Self.looking(world).shown(2)?.host.asksFor == nil)
        #expect(Self.looking(world).story(of: 2)?.contains("0ms") == false)
    }

    @Test("half a MSG_WAITALL, and half a TLS record, by what is asked for")
    func halves() {
        let all = Self.looking(Self.quiet(.reads(4, of: 1 << 20, all: true))).story(of: 3)
        #expect(all?.contains("recv of 1.0M with MSG_WAITALL, for at least 11s") == true)
        let record = Self.looking(Self.quiet(.reads(4, of: 15_381))).story(of: 3)
        #expect(record?.contains("the rest of a record, of which 15K have not arrived") == true)
        #expect(all?.contains("record") == false)
        #expect(
            Self.looking(Self.quiet(.reads(4, of: 4_096))).story(of: 3)?.contains("record") == false)
        #expect(Self.looking(Self.quiet(.reads(4, of: 5))).story(of: 3)?.contains("record") == false)
    }

    @Test("what is not connected is told as what it is")
    func unconnected() {
        func story(_ change: (inout HostSocket) -> Void) -> String? {
            var world = Self.quiet()
            change(&world[2])
            return Self.looking(world).story(of: 2)
        }
        let connecting = story { socket in
            (socket.state, socket.retransmits, socket.timer) = (.synSent, 2, 1)
            socket.timerExpires = .milliseconds(1_200)
        }
        #expect(
            connecting?.hasPrefix("Connecting for at least 2s, try 2, next in 1.2s. curl[81] fd 3: ")
                == true)
        #expect(
            story { ($0.transport, $0.state, $0.peer) = (.udp, .closed, nil) }?.hasPrefix(
                "Bound, not connected.")
                == true)
        #expect(
            story { ($0.state, $0.peer) = (.closed, nil) }?.hasPrefix("Bound, not connected.") == true)
    }

    @Test("of connections that are kept for late segments alone, why tells how many there are")
    func closed() throws {
        func lines(_ count: UInt64) throws -> [String] {
            let world = Self.quiet()
            var judge = HostJudge()
            var look = world.look(10)
            for number in 0..<count {
                var socket = HostSocket(id: 900 + number, .tcp, .timeWait, time: look.time, inode: 0)
                socket.local = .v4(host: "127.0.0.1", port: 80)
                socket.peer = .v4(host: "127.0.0.1", port: 50_000 + UInt16(number))
                look.sockets.insert(socket, at: 0)
            }
            judge.absorbExamined(look)
            return try #require(HostAnswer(.port(80), [], look, judge)).lines
        }
        let many = try lines(500)
        #expect(many.prefix(2) == ["Nothing is wrong with web.js[77]: 1 connection, no request is waiting.", ""])
        #expect(
            many.count == 5 && many[2].contains("Idle: nothing is in transit") && many[3].contains("listens"),
            "\(many)")
        #expect(many[4] == "500 connections are closed and in TIME-WAIT.")
        #expect(try lines(1)[2].contains("in case late segments arrive"))
    }

    @Test("of processes of a name, why says how many did not show their sockets")
    func partlyHidden() throws {
        var world = Self.quiet()
        world.program(78, "web.js")
        var look = world.look(11)
        func hidden(_ look: HostLook) -> [String]? {
            HostAnswer(.name("web.js"), [77, 78], look, Self.looking(world))?.lines.filter {
                $0.hasPrefix("Not visible")
            }
        }
        #expect(hidden(look) == [])
        look.processes[78]?.rung = .queues
        #expect(
            hidden(look) == [
                "Not visible: the sockets of 1 of these 2 processes (other users; use sudo)."
            ])
    }

    @Test("a column says how each is asked for, and for how long")
    func columns() throws {
        let judge = Self.looking(HostBlockingTests.deadlock())
        #expect(judge.shown(3)?.host.asks == "send 48M" && judge.shown(3)?.host.asksFor == .seconds(11))
        #expect(judge.owner(of: 3)?.text == "api.py[4711]" && judge.owner(of: 3)?.descriptor == 4)
        #expect(judge.peer(of: 3)?.id == 2 && judge.unread(for: 3) == .seconds(11))
        #expect(Self.looking(HostReadingTests.unread()).shown(3)?.host.asks == "nobody")
        #expect(Self.looking(Self.quiet()).shown(2)?.host.asks == "recv 4.0K")
        var world = Self.quiet(.epoll(7))
        world.set(77, 7, [(3, Poll.edge)])
        #expect(Self.looking(world).shown(3)?.host.asks == "epoll ET")
        world.set(77, 7, [(3, Poll.input)])
        #expect(Self.looking(world).shown(3)?.host.asks == "epoll in")
        world.set(77, 7, [(3, Poll.input | Poll.output)])
        #expect(Self.looking(world).shown(3)?.host.asks == "epoll in, out")
        #expect(Self.looking(Self.quiet(.running)).asking(of: 3)?.words == "thread 77 is running")
        world.owners = [:]
        #expect(Self.looking(world).shown(3)?.host.asks == nil && Self.looking(world).owner(of: 3) == nil)
        #expect(Self.looking(world).shown(99) == nil)
    }

    @Test("the lines of a check, and what it could not see")
    func check() {
        let found =
            HostBlockingTests.deadlock().found(at: [10, 11, 11.31]) + HostBlockingTests.chain().found()
        var hidden = HostLook.Hidden()
        (hidden.calls, hidden.reason, hidden.sockets) = (14, "ptrace_scope 1", 3)
        #expect(
            HostCheck.lines(found, sockets: 212, hidden: hidden) == [
                "CRITICAL deadlock      worker.py[4712] and api.py[4711] are both writing, and",
                "                       neither reads for at least 11s",
                "WARNING  write-blocked curl[81] has left 3.9M unread for at least 16s: no thread",
                "                       or event loop is reading this socket (thread 81 is in",
                "                       clock_nanosleep); server[77] is stuck in send of 48M;",
                "                       socat[78] is stuck in send of 48M",
                "2 problems, 0 notes in 212 sockets; not checked: calls of 14 processes (ptrace_scope 1), owners of 3 "
                    + "sockets",
            ])
        #expect(HostCheck.lines([], sockets: 1) == ["0 problems, 0 notes in 1 socket"])
        hidden = HostLook.Hidden()
        (hidden.tables, hidden.withoutCalls) = ([.udp6, .unix], [7, 8])
        #expect(
            HostCheck.summary([], sockets: 1, hidden: hidden).hasSuffix(
                "not checked: calls of 2 processes, UDP over IPv6, which this kernel does not list, Unix-domain "
                    + "sockets, which this kernel does not list"))
        #expect(HostCheck.lines(found, sockets: 212, width: nil).count == 3)
    }

    @Test("users whose programs are hidden are named and counted, and so are tables that are missing")
    func hidden() {
        #expect(HiddenOwners.text([:], names: [:]) == nil)
        #expect(HiddenOwners.text([33: 1], names: [33: "www"]) == "1 socket of user 33 (www)")
        #expect(
            HiddenOwners.text([0: 1, 33: 2, 5: 1, 7: 1, 8: 2], names: [:])
                == "2 sockets of user 8, 2 of user 33, 1 of user 0, 2 of 2 more users")
        var hidden = HostLook.Hidden()
        hidden.tables = [.udp4]
        #expect(
            HostCheck.missing(hidden, "1 socket of user 33").last?.contains("this kernel does not list")
                == true)
        #expect(
            HostCheck.missing(hidden, "1 socket of user 33").first == "owners of 1 socket of user 33")
    }

    @Test("what has been stopped is continued, not looked into")
    func stopped() throws {
        var world = HostBlockingTests.chain()
        for index in world.processes[81]?.threads.indices ?? 0..<0 {
            world.processes[81]?.threads[index].state = UInt8(ascii: "T")
        }
        #expect(world.found().first?.next == "kill -CONT 81")
    }

    @Test("JSON has the names of a warning line, with the sockets and processes")
    func json() throws {
        let verdict = try #require(HostBlockingTests.chain().found().first)
        let text = JSON.object(verdict.hostMembers(.standard)).text
        #expect(
            text.hasPrefix(
                #"{"lint":"write-blocked","severity":"warning","evidence":"arguments","subject":"curl[81]","#
            ))
        #expect(text.contains(#""for_seconds":16.3,"#) && text.contains(#""processes":[81,77,78]"#))
        #expect(text.contains(#""next":"eu-stack -p 81""#))
    }

    @Test(
        "the next step is that of what runs the program",
        arguments: [
            ("python3.12", false, "py-spy dump --pid 77"),
            ("java", false, "jcmd 77 Thread.print  # nid=0x126b"),
            ("node", false, "node inspect -p 77"), ("caddy", true, "dlv attach 77  # then: goroutines"),
            ("nginx", false, "eu-stack -p 77"),
        ])
    func next(_ executable: String, _ isGo: Bool, _ command: String) {
        var process = HostProcess(
            id: HostProcess.ID(number: 77, start: 1), name: "x", command: "x", state: 83, parent: 1)
        (process.executable, process.isGo) = (executable, isGo)
        #expect(process.stackCommand(thread: 0x126B) == command)
    }
}
