import SocketCore
import SocketRecords
import Testing

@Suite("The wire between an agent and its viewer")
struct AgentWireTests {
    /// An update in which every field has a value.
    private static var update: HostUpdate {
        var update = HostUpdate()
        (update.number, update.isFull, update.time) = (7, true, MonotonicTime(nanoseconds: 5_000))
        (update.interval, update.sent) = (.seconds(1), MonotonicTime(nanoseconds: 9_000))
        update.told = [socket(1, .v4(host: "10.77.0.1", port: 9_100)), socket(2, .v6(host: "fd00::1", port: 65_535))]
        update.told += [socket(3, .unix(path: "/run/x.sock")), socket(4, .abstract(name: "x")), socket(5, .unnamed)]
        update.gone = [1 << 48 | 77]
        update.owners = [4_711: [HostLook.Owner(process: 156, descriptor: 4)], 4_712: []]
        update.processes = [process]
        update.ended = [81]
        update.namespaces = [HostNamespace(ordinal: 1, inode: 4_026_532_201, name: "blue")]
        update.examined = [4_711]
        update.lowWater = [4_711: 16]
        (update.closings, update.closingsLost) = ([socket(6, .v4(host: "10.77.0.1", port: 1))], 3)
        (update.hidden.processes, update.hidden.withoutCalls, update.hidden.reason) = (4, [9], "ptrace_scope 1")
        (update.hidden.sockets, update.hidden.tables) = (2, [.udp6])
        return update
    }

    private static func socket(_ cookie: UInt64, _ local: SocketAddress) -> HostSocket {
        var socket = HostSocket(id: cookie, .tcp, .closeWait, time: MonotonicTime(nanoseconds: 4_000), inode: 4_711)
            .placed(in: 1)
        (socket.local, socket.peer, socket.user) = (local, local, 1_000)
        (socket.receiveQueue, socket.sendQueue, socket.shutdown) = (10, 0, 3)
        (socket.timer, socket.retransmits, socket.timerExpires, socket.interface) = (4, 2, .milliseconds(7), 5)
        (socket.peerInode, socket.listenerInode, socket.congestion) = (12, 13, "cubic")
        var tcp = HostTCP()
        (tcp.lastSent, tcp.lastReceived, tcp.lastAcknowledged) = (.zero, .seconds(1), .seconds(2))
        (tcp.roundTrip, tcp.congestionWindow, tcp.retransmitted) = (.microseconds(3), 10, 0)
        (tcp.tries, tcp.probes, tcp.backoff) = (1, 2, 3)
        (tcp.acknowledged, tcp.received, tcp.sent, tcp.retransmittedBytes) = (1, 2, 3, 0)
        (tcp.notSent, tcp.windowLimited, tcp.bufferLimited) = (4, .seconds(3), .seconds(4))
        (tcp.sendWindow, tcp.receiveWindow) = (0, .max)
        socket.tcp = tcp
        socket.memory = HostMemory(received: 1, receiveBuffer: 2, sent: 3, sendBuffer: 4, drops: 5)
        socket.multipath = HostMultipath(receiveQueue: 8, sendQueue: 9)
        return socket
    }

    private static var process: HostProcess {
        var process = HostProcess(
            id: HostProcess.ID(number: 156, start: 99), name: "api.py", command: "python3", state: 83, parent: 1)
        (process.executable, process.isGo, process.parentExecutable, process.user) = ("python3", true, "bash", 0)
        (process.age, process.sockets, process.keptOverExec) = (.seconds(4), [4: 4_711], [4])
        (process.nonBlocking, process.flagsRead, process.hasRing, process.isFrozen) = ([4], [4, 5], true, true)
        process.pollSets[6] = .some([HostProcess.PollEntry(descriptor: 4, events: 1 << 31 | 1, inode: 4_711)])
        process.pollSets.updateValue(nil, forKey: 7)
        (process.cgroup, process.rung) = ("/a", .waitChannel)
        var thread = HostThread(number: 156, name: "main", state: 83, waitChannel: "ep_poll")
        var call = HostCall(.pollSet, "epoll_wait")
        (call.reads, call.writes, call.accepts) = ([4], [5], [6])
        (call.pollSet, call.amount, call.waitsForAll) = (6, 4_096, true)
        (thread.call, thread.idle, thread.switches, thread.ran) = (call, .seconds(9), 44, .seconds(1))
        process.threads = [thread]
        return process
    }

    private static func bytes(_ updates: [HostUpdate]) -> [UInt8] {
        var hello = AgentHello()
        (hello.program, hello.boot, hello.namespace) = ("1", "b", 4_026_531_840)
        return updates.reduce(AgentFrame.preamble + AgentFrame.hello(hello).bytes) { bytes, update in
            bytes + update.frames(sent: update.sent).flatMap(\.bytes)
        }
    }

    private func read(_ bytes: [UInt8], _ reader: inout AgentReader) throws(WireError) -> [AgentReader.News] {
        try reader.take(bytes, at: .zero)
    }

    @Test("what an agent tells arrives as it was, byte by byte, after whatever a shell prints before it")
    func roundTrip() throws {
        var reader = AgentReader()
        var news: [AgentReader.News] = []
        for byte in Array("Welcome!\n\0sock\0".utf8) + Self.bytes([Self.update]) {
            news += try reader.take([byte], at: .zero)
        }
        #expect(news.count == 2 && !reader.isTorn)
        guard case .update(let update) = news.last else { throw WireError.unknown }
        #expect(update == Self.update)
    }

    @Test("a torn frame is no news, and is known to be torn")
    func torn() throws {
        let whole = Self.bytes([Self.update])
        for count in [whole.count - 1, whole.count - 40] {
            var reader = AgentReader()
            let news = try read(Array(whole.prefix(count)), &reader)
            #expect(news.count == 1 && reader.isTorn)
        }
    }

    @Test("whatever is malformed ends the reading: noise, order, sizes, numbers of looks")
    func liars() {
        let hello = AgentFrame.preamble + AgentFrame.hello(AgentHello()).bytes
        var endless = AgentLook()
        endless.number = 1
        let many = (0..<11).map { number -> HostUpdate in
            var update = HostUpdate()
            update.number = UInt64(number)
            return update
        }
        let cases: [[UInt8]] = [
            [UInt8](repeating: 7, count: AgentReader.mostNoise + 1),
            AgentFrame.preamble + AgentFrame.look(AgentLook()).bytes,
            hello + AgentFrame.hello(AgentHello()).bytes,
            hello + AgentFrame.sockets([]).bytes,
            hello + AgentFrame.look(endless).bytes + AgentFrame.look(endless).bytes,
            hello + AgentFrame.lookEnd(AgentLookEnd()).bytes,
            hello + AgentFrame.ask(AgentAsk()).bytes,
            hello + [0x7F, 0xFF, 0xFF, 0xFF],
            Self.bytes(many),
        ]
        for bytes in cases {
            var reader = AgentReader()
            #expect(throws: WireError.self) { try reader.take(bytes, at: .zero) }
        }
    }

    @Test("an endless look ends at its limit, and holds no more memory than that")
    func endless() {
        var reader = AgentReader()
        let begin = AgentFrame.preamble + AgentFrame.hello(AgentHello()).bytes + AgentFrame.look(AgentLook()).bytes
        let frame = AgentFrame.sockets(Array(repeating: HostSocket.blank, count: 4_000)).bytes
        var frames = 0
        #expect(throws: WireError.self) {
            _ = try reader.take(begin, at: .zero)
            while frames < 1_000 {
                _ = try reader.take(frame, at: .zero)
                frames += 1
            }
        }
        #expect(frames == 32)
    }

    @Test("another major version is refused, and fields and kinds of a later minor one are skipped")
    func versions() throws {
        var hello = AgentHello()
        hello.minor = 9
        #expect(hello.refusal == nil)
        hello.major = 2
        #expect(hello.refusal?.contains("version 2") == true && hello.refusal?.contains("version 1") == true)
        hello.magic = "x"
        #expect(hello.refusal == "does not speak the protocol of agents")
        var reader = AgentReader()
        // Kind 99, and a field 99 of an empty look's end.
        let unknown: [UInt8] = [0, 0, 0, 2, 99, 1], later: [UInt8] = [0, 0, 0, 4, 25, 0x98, 0x06, 1]
        let news = try reader.take(
            AgentFrame.preamble + AgentFrame.hello(AgentHello()).bytes + unknown
                + AgentFrame.look(AgentLook()).bytes + later, at: .zero)
        #expect(news.count == 2)
    }

    @Test("an agent reads questions only, of limited size, number and rate")
    func asks() throws {
        var ask = AgentAsk()
        (ask.taken, ask.inodes, ask.names, ask.ports) = (3, Array(1...4_097), ["nginx"], [80])
        ask.processes = Array(1...65)
        var reader = AgentAskReader()
        let heard = try #require(try reader.take(AgentFrame.ask(ask).bytes, at: .zero))
        #expect(heard.taken == 3 && heard.inodes.count == 4_096 && heard.processes.count == 64)
        #expect(heard.names == ["nginx"] && heard.ports == [80])
        let cases: [[UInt8]] = [
            AgentFrame.hello(AgentHello()).bytes, [0, 1, 0, 1],
            Array(repeating: AgentFrame.ask(AgentAsk()).bytes, count: 11).flatMap { $0 },
        ]
        for bytes in cases {
            var reader = AgentAskReader()
            #expect(throws: WireError.self) { try reader.take(bytes, at: .zero) }
        }
    }

    @Test("changes that were not told are united with the next look")
    func credit() throws {
        var writer = HostUpdateWriter()
        func look(_ time: Int64, _ sockets: [HostSocket], told: Set<UInt64>?, gone: Set<UInt64> = []) -> HostLook {
            var look = HostLook(time: MonotonicTime(nanoseconds: time), sockets: sockets)
            look.places = Dictionary(uniqueKeysWithValues: sockets.enumerated().map { ($1.id, $0) })
            look.changes = told.map { told in
                HostLook.Changes(since: MonotonicTime(nanoseconds: time - 1), told: told, gone: gone)
            }
            return look
        }
        let sockets = (1...4 as ClosedRange<UInt64>).map {
            HostSocket(id: $0, .tcp, .established, time: .zero, inode: $0)
        }
        let first = look(1, Array(sockets[0..<2]), told: nil)
        writer.note(first)
        #expect(writer.update(first, interval: .zero).isFull)
        // The third comes, changes and stays; the second goes; the fourth comes and goes unseen.
        writer.note(look(2, [sockets[0], sockets[2], sockets[3]], told: [3, 4], gone: [2]))
        let third = look(3, [sockets[0], sockets[2]], told: [3], gone: [4])
        writer.note(third)
        let update = writer.update(third, interval: .zero)
        #expect(!update.isFull && update.told.map(\.id) == [3] && update.gone == [2, 4] && update.number == 2)
        // A look that was not noted makes the next one a full one.
        let fifth = look(5, [sockets[0]], told: [])
        writer.note(fifth)
        #expect(writer.update(fifth, interval: .zero).isFull)
    }
}
