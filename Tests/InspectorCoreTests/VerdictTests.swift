import InspectorCore
import SocketCore
import Testing

/// The conditions of the verdicts, with time and both ends in the test's hand.
@Suite("Verdicts")
struct VerdictTests {
    private static let python = PeerEnd.Program(process: 77, name: "python3", descriptor: 5)
    private static let netcat = PeerEnd.Program(process: 81, name: "nc", descriptor: 3)

    private static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(seconds * 1e9))
    }

    /// A connection whose write has got nothing out since second 100.
    private static func stuck(_ id: UInt64, _ role: SocketRole = .client, linked: UInt64? = nil) -> SocketSnapshot {
        var socket = SocketSnapshot(
            id: SocketID(id), role: role, phase: .connected, target: role == .client ? "db:5432" : "", opened: at(1))
        socket.connected = at(1)
        socket.linked = linked.map { SocketID($0) }
        socket.relay = linked.map { _ in RelaySnapshot() }
        socket.local = .v4(host: "127.0.0.1", port: UInt16(4_000 + id))
        socket.peer = .v4(host: "127.0.0.1", port: UInt16(5_000 + id))
        socket.sent = 1 << 20
        socket.writing.current = OperationSnapshot(
            id: OperationID(id), kind: .write, done: 10, total: 1_000, started: at(90), lastProgress: at(100))
        socket.writing.pendingBytes = 990
        socket.flags.remove(.socketCanAcceptBytes)
        socket.activity.lastByte = at(100)
        var kernel = KernelSnapshot()
        (kernel.sendQueue, kernel.notSent, kernel.receiveQueue) = (1 << 16, 1 << 16, 0)
        socket.kernel = kernel
        return socket
    }

    private static func snapshot(_ sockets: [SocketSnapshot], _ seconds: Double) -> EngineSnapshot {
        World.snapshot(sockets, time: at(seconds))
    }

    private static let unread = PeerEnd(program: python, unread: 4 << 20, unsent: 0)

    /// What is found at each of these instants, the last one told.
    private static func find(
        _ sockets: [SocketSnapshot], _ ends: [UInt64: PeerEnd], at times: [Double], _ settings: LintSettings = .init()
    ) -> Findings {
        var findings = Findings(settings)
        let peers = Dictionary(uniqueKeysWithValues: ends.map { (SocketID($0), $1) })
        for time in times { findings.absorb(snapshot(sockets, time), among: Surroundings(peers: peers), lost: 0) }
        return findings
    }

    @Test("a reader that takes nothing for five seconds is named first, with its next step")
    func writeBlocked() throws {
        #expect(Self.find([Self.stuck(1)], [1: Self.unread], at: [100, 104.9]).count == 0)
        let found = Self.find([Self.stuck(1)], [1: Self.unread], at: [100, 105])
        let finding = try #require(found[SocketID(1)].first)
        #expect(found.count == 1 && finding.lint == "write-blocked" && finding.severity == .warning)
        #expect(finding.evidence == .engine && finding.subject == "python3[77]" && finding.lasting == .seconds(5))
        #expect(finding.sentence == "python3[77] has not read for 5s: 4.0M unread there, 65K are unsent here")
        #expect(finding.next == "py-spy dump --pid 77")
        #expect(found.looking(at: [], in: nil) == [SocketID(1)], "it is looked at even out of sight")
    }

    @Test("a reader that takes a little at a time is not accused, nor one whose bytes do not arrive")
    func slowReader() {
        var findings = Findings(LintSettings())
        for second in stride(from: 100.0, to: 130, by: 1) {
            // It takes 100 bytes each three seconds, and the window stays shut.
            let end = PeerEnd(program: Self.python, unread: 4 << 20 - Int(second / 3) * 100)
            let socket = Self.stuck(1)
            findings.absorb(
                Self.snapshot([socket], second), among: Surroundings(peers: [socket.id: end]), lost: 0)
            #expect(findings.count == 0, "\(second)")
        }
        let gone = Self.find([Self.stuck(1)], [1: PeerEnd(program: Self.python, unread: 0)], at: [100, 110])
        #expect(gone[SocketID(1)].first?.subject == "db:5432")
        #expect(gone[SocketID(1)].first?.sentence.contains("has read everything it received") == true)
    }

    @Test("a program that somebody has stopped is a note")
    func stopped() {
        var end = Self.unread
        end.program?.isStopped = true
        let found = Self.find([Self.stuck(1)], [1: end], at: [100, 110])
        #expect(found[SocketID(1)].first?.severity == .note && found.urgent == 0)
        #expect(found[SocketID(1)].first?.sentence.hasPrefix("python3[77] is stopped") == true)
    }

    @Test("what one leg of a relay sends at full speed is no backlog of the other")
    func relayedBulk() {
        var legs = [Self.stuck(1, .accepted, linked: 2), Self.stuck(2, linked: 1)]
        for index in legs.indices { legs[index].writing.pendingBytes = 2 << 20 }
        #expect(Self.find(legs, [:], at: [100, 101]).urgent == 0)
        legs[1].linked = nil
        let found = Self.find([legs[1]], [:], at: [100, 101])
        #expect(found[SocketID(2)].map(\.lint) == ["write-backlog"])
    }

    @Test("both directions of a relayed pair stand: one critical verdict, about both legs")
    func deadlock() throws {
        let legs = [Self.stuck(1, .accepted, linked: 2), Self.stuck(2, linked: 1)]
        let ends: [UInt64: PeerEnd] = [1: PeerEnd(program: Self.netcat, unread: 1 << 20), 2: Self.unread]
        let found = Self.find(legs, ends, at: [100, 112])
        #expect(found.count == 1 && found.count(.critical) == 1)
        #expect(found[SocketID(1)].map(\.lint) == ["deadlock"] && found[SocketID(2)].map(\.lint) == ["deadlock"])
        let text = try #require(found[SocketID(1)].first?.sentence)
        #expect(
            text == "nc[81] and python3[77] are both writing, and neither reads, for 12s; unread there: 1.0M and 4.0M")
        #expect(found.first(9, selected: SocketID(2)).count == 1)
    }

    @Test("a deadlock through a relay is told by its pair, not by a program at its end", arguments: [UInt64(1), 9])
    func deadlockSeenFromItsEnd(number: UInt64) {
        let legs = [Self.stuck(2, .accepted, linked: 3), Self.stuck(3, linked: 2)]
        var end = Self.stuck(number)
        (end.local, end.peer) = (legs[0].peer, legs[0].local)
        end.kernel?.receiveQueue = 1 << 16
        end.activity.unreadSince = Self.at(100)
        let ends: [UInt64: PeerEnd] = [
            2: PeerEnd(program: Self.netcat, unread: 1 << 20), 3: Self.unread,
            number: PeerEnd(program: Self.python, unread: 1 << 20, unsent: 1 << 20),
        ]
        #expect(Self.find([end], ends, at: [100, 112])[end.id].map(\.lint) == ["deadlock"])
        let found = Self.find((legs + [end]).sorted { $0.id < $1.id }, ends, at: [100, 112])
        #expect(found.count(.critical) == 1 && found[end.id].isEmpty)
        #expect(found[SocketID(2)].map(\.lint) == ["deadlock"] && found[SocketID(3)].map(\.lint) == ["deadlock"])
    }

    @Test("what a stalled server does to the other leg is no second warning")
    func consequence() throws {
        var client = Self.stuck(1, .accepted, linked: 2)
        client.writing = QueueSnapshot()
        client.isHeldBack = true
        client.activity.peerClosed = Self.at(101)
        var server = Self.stuck(2, linked: 1)
        server.writing.pendingCount = 200
        let ends: [UInt64: PeerEnd] = [1: PeerEnd(program: Self.netcat, unread: 0, unsent: 3 << 20), 2: Self.unread]
        let found = Self.find([client, server], ends, at: [100, 110])
        #expect(found[SocketID(1)].isEmpty && found[SocketID(2)].map(\.lint) == ["write-blocked"])
        #expect(found[SocketID(2)].first?.sentence.hasSuffix("; nc[81] waits to send 3.0M more") == true)
    }

    @Test("of a chain of relays the last reader is blamed")
    func chain() {
        // 1-2 is the first relay, whose target is the second relay, 3-4; the program behind 4 does not read.
        var sockets = [
            Self.stuck(1, .accepted, linked: 2), Self.stuck(2, linked: 1), Self.stuck(3, .accepted, linked: 4),
            Self.stuck(4, linked: 3),
        ]
        for index in [0, 2] { sockets[index].writing = QueueSnapshot() }
        (sockets[2].local, sockets[2].peer) = (sockets[1].peer, sockets[1].local)
        let found = Self.find(sockets, [4: Self.unread], at: [100, 110])
        #expect(found.count == 1 && found[SocketID(4)].map(\.lint) == ["write-blocked"])
    }

    @Test("connections that a program does not close: a note each, and told once; twenty of a leak are a warning")
    func closeWait() throws {
        func shut(_ id: UInt64) -> SocketSnapshot {
            var socket = Self.stuck(id)
            socket.writing = QueueSnapshot()
            socket.isWriteShut = true
            socket.activity.lastByte = Self.at(90)
            return socket
        }
        let end = PeerEnd(program: Self.python, unread: 0, isClosing: true, hasReadEnd: true)
        func found(_ count: UInt64, at times: [Double]) -> Findings {
            let ends = Dictionary(uniqueKeysWithValues: (1...count).map { ($0, end) })
            return Self.find((1...count).map(shut), ends, at: times)
        }
        #expect(found(1, at: [100, 129]).count == 0)
        let one = found(1, at: [50, 100, 131])
        #expect(one.count == 1 && one.urgent == 0)
        let text = "python3[77] has not closed a connection that this end closed 81s or longer ago; it has read the FIN"
        #expect(one[SocketID(1)].first?.sentence == text)
        let many = found(20, at: [100, 131])
        #expect(many.count == 1 && many.urgent == 1 && many.sockets.count == 20)
        #expect(many.first(9, selected: nil).first?.more == 19)
    }

    @Test("a reset is explained by the last look before it, and is old news after a minute")
    func resetCause() throws {
        var socket = Self.stuck(1)
        socket.writing = QueueSnapshot()
        var findings = Findings(LintSettings())
        let peers = [socket.id: PeerEnd(program: Self.python, unread: 98 << 10)]
        findings.absorb(Self.snapshot([socket], 100), among: Surroundings(peers: peers), lost: 0)
        socket.phase = .closed
        socket.closed = CloseRecord(
            time: Self.at(100.2), error: SocketError(.system(errno: 104), operation: "read", detail: ""), unreadBytes: 0
        )
        findings.absorb(Self.snapshot([socket], 101), lost: 0)
        let finding = try #require(findings[socket.id].first)
        #expect(finding.sentence == "python3[77] closed with 98K unread, which causes a reset")
        #expect(finding.severity == .warning && finding.subject == "python3[77]" && finding.next == nil)
        findings.absorb(Self.snapshot([socket], 170), lost: 0)
        #expect(findings[socket.id].first?.severity == .note)
    }

    @Test("the worst comes first, whatever is selected")
    func order() {
        var idle = Self.stuck(3)
        idle.writing = QueueSnapshot()
        var settings = LintSettings()
        _ = settings.warn("idle")
        let legs = [Self.stuck(4, .accepted, linked: 5), Self.stuck(5, linked: 4)]
        let ends: [UInt64: PeerEnd] = [1: Self.unread, 4: Self.unread, 5: Self.unread]
        let found = Self.find([Self.stuck(1), idle] + legs, ends, at: [100, 170], settings)
        let first = found.first(9, selected: SocketID(3)).map(\.lint)
        #expect(first.first == "deadlock" && first.contains("write-blocked") && first.contains("idle"))
        #expect(first.firstIndex(of: "write-blocked") ?? 9 < first.firstIndex(of: "idle") ?? 0)
    }

    @Test("that nothing is under way is said of a connection at rest, with who sent last")
    func quiet() throws {
        var socket = Self.stuck(1)
        socket.writing = QueueSnapshot()
        socket.kernel?.sendQueue = 0
        let item = TrafficItem(
            sequence: 1, operation: OperationID(1), time: Self.at(100), direction: .received, tag: 0,
            kind: .read(.available(limit: nil)), done: 312, total: nil, state: .inProgress, bytes: [])
        let side = Side(socket, end: PeerEnd(program: Self.netcat, unread: 0, unsent: 0))
        let text = Situation(side, now: Self.at(141)).quiet(last: item)
        #expect(
            text == "Idle: nothing is in transit. No read is queued here. Last to send: nc[81], 312 B, 41s ago.")
        socket.reading.current = OperationSnapshot(
            id: OperationID(2), kind: .read(.available(limit: nil)), tag: 0, isStanding: true)
        let waiting = Situation(Side(socket), now: Self.at(141)).quiet(last: item)
        #expect(
            waiting?.hasPrefix("Waits for data: t0 reads any. Idle: nothing is in transit.") == true, "\(waiting ?? "")"
        )
        socket.kernel?.receiveQueue = 1
        #expect(Situation(Side(socket), now: Self.at(141)).quiet(last: item) == nil)
    }
}
