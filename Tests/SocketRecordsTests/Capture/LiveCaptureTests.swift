import SocketCore
import SocketRecords
import SocketTestSupport
import Testing

/// What is captured as it passes, and written as it came.
@Suite("A capture that goes on")
struct LiveCaptureTests {
    private static let server = SyntheticPacket.End(IPAddress("127.0.0.1")!, 6_379)
    private static let start: Int64 = 1_700_000_000_000_000_000

    private static func packet(_ frame: [UInt8], second: Int64 = 0) -> CapturedPacket {
        var packet = CapturedPacket(interface: 0, link: LinkType.ethernet.rawValue)
        (packet.bytes, packet.length) = (frame[...], frame.count)
        packet.nanoseconds = start + second * 1_000_000_000
        return packet
    }

    /// The packets of one connection, from handshake to FIN where it ends.
    private static func connection(_ port: UInt16, ends: Bool = true, second: Int64 = 0) -> [CapturedPacket] {
        let client = SyntheticPacket.End(IPAddress("127.0.0.1")!, port)
        var stream = RecordedStream(local: client, peer: server, number: UInt64(port))
        var packets = stream.establish(isClient: true) + stream.carry(Array("PING".utf8)[...], from: .local)
        if ends { packets += stream.end(.local) + stream.end(.peer) }
        return packets.map { packet($0.frame, second: second) }
    }

    @Test("instants are those of the clock that it began by")
    func clock() {
        var sessions = CapturedSessions()
        sessions.begin(at: Self.start, as: MonotonicTime(nanoseconds: 500))
        for packet in Self.connection(40_000, second: 2) { sessions.absorb(packet) }
        #expect(sessions.sessions.first?.snapshot.opened == MonotonicTime(nanoseconds: 2_000_000_500))
    }

    @Test("of sessions that are over the latest stay, and one that is not goes on under its number")
    func forgetting() throws {
        var sessions = CapturedSessions()
        let live = Self.connection(30_000, ends: false)
        for packet in live { sessions.absorb(packet) }
        for port in 40_000..<40_100 as Range<UInt16> {
            for packet in Self.connection(port, second: Int64(port - 40_000)) { sessions.absorb(packet) }
        }
        #expect(sessions.forgetEnded(keeping: 10, live: 100, sessions.latest, idle: .seconds(60)) == 0)
        #expect(sessions.sessions.map(\.id.number) == [1] + Array(92...101))
        #expect(sessions.seen == 101)
        sessions.absorb(live[3])
        #expect(sessions.sessions.count == 11 && sessions.sessions.first?.fromLocal.repeated == 4)
        let index = try #require(sessions.index(of: 95))
        #expect(sessions.sessions[index].id.number == 95 && sessions.index(of: 5) == nil)
        // The same ends again are another session.
        for packet in Self.connection(40_000, second: 200) { sessions.absorb(packet) }
        #expect(sessions.sessions.last?.id.number == 102)
    }

    @Test("what was ignored is told, also of sessions that are forgotten")
    func ignored() {
        var sessions = CapturedSessions()
        for port in 40_000..<40_020 as Range<UInt16> {
            let client = SyntheticPacket.End(IPAddress("127.0.0.1")!, port)
            let outside = SyntheticPacket(from: Self.server, to: client)
                .tcpHead(.reset, sequence: 0x3000_0000, acknowledges: 0, payload: [], length: 0)
            let packets = Self.connection(port)
            for packet in packets.prefix(3) { sessions.absorb(packet) }
            sessions.absorb(Self.packet(outside))
            for packet in packets.dropFirst(3) { sessions.absorb(packet) }
        }
        let told = ["20 resets not accepted by their receivers, ignored"]
        #expect(sessions.ignored == told)
        _ = sessions.forgetEnded(keeping: 5, live: 5, sessions.latest, idle: .seconds(60))
        #expect(sessions.sessions.count == 5 && sessions.ignored == told)
    }

    @Test("datagrams are over when none has come for a while, and none before that")
    func datagrams() {
        var sessions = CapturedSessions()
        for port in 40_000..<40_010 as Range<UInt16> {
            let client = SyntheticPacket.End(IPAddress("127.0.0.1")!, port)
            sessions.absorb(Self.packet(SyntheticPacket(from: client, to: Self.server).udp([1])))
        }
        _ = sessions.forgetEnded(keeping: 1, live: 100, .zero + .seconds(59), idle: .seconds(60))
        #expect(sessions.sessions.count == 10)
        _ = sessions.forgetEnded(keeping: 1, live: 100, .zero + .seconds(61), idle: .seconds(60))
        #expect(sessions.sessions.count == 1)
    }

    @Test("of sessions that do not end those go that were silent for longest, and are counted")
    func silent() {
        var sessions = CapturedSessions()
        for port in 40_000..<40_100 as Range<UInt16> {
            for packet in Self.connection(port, ends: false, second: Int64(port - 40_000)) { sessions.absorb(packet) }
        }
        let first = Self.connection(40_000, ends: false, second: 200)
        sessions.absorb(first[3])
        #expect(sessions.forgetEnded(keeping: 10, live: 40, sessions.latest, idle: .seconds(60)) == 50)
        #expect(sessions.sessions.map(\.id.number) == [1] + Array(52...100))
    }

    @Test("which end closed first is told")
    func order() {
        let client = SyntheticPacket.End(IPAddress("127.0.0.1")!, 40_000)
        for (first, reason) in [(RecordedStream.Side.local, nil), (.peer, SocketError.Reason.closedByPeer)] {
            var stream = RecordedStream(local: client, peer: Self.server, number: 1)
            var packets = stream.establish(isClient: true) + stream.end(first)
            packets += stream.end(first == .local ? .peer : .local)
            var sessions = CapturedSessions()
            for packet in packets { sessions.absorb(Self.packet(packet.frame)) }
            #expect(sessions.sessions.first?.snapshot.closed?.error?.reason == reason)
        }
    }

    @Test("which end sent the reset is told, by the client's record of its close", arguments: [true, false])
    func reset(isOfClient: Bool) throws {
        let client = SyntheticPacket.End(IPAddress("127.0.0.1")!, 40_000)
        var stream = RecordedStream(local: client, peer: Self.server, number: 1)
        let packets = stream.establish(isClient: true) + stream.reset(isOfClient ? .local : .peer)
        var sessions = CapturedSessions()
        for packet in packets { sessions.absorb(Self.packet(packet.frame)) }
        let record = try #require(sessions.sessions.first?.snapshot.closed)
        #expect(record.error?.reason == (isOfClient ? nil : .system(errno: 104)))
        #expect(record.mode == (isOfClient ? .reset : nil))
    }

    // MARK: Recording

    private static func written(_ snap: Int = .max, _ entries: [RecordedEntry.Content]) -> [UInt8] {
        let capture = RecordedCapture(interface: "lo", link: LinkType.ethernet.rawValue, filter: "port 6379")
        var writer = RecordingWriter(application: "socktui", zero: 0, snap: snap, of: capture)
        for entry in entries { writer.add(RecordedEntry(SocketID(0), at: .zero, entry)) }
        return writer.take()
    }

    @Test("packets are written as they came, with what was lost before them, and the kernel's counts at the end")
    func written() throws {
        var packets = Self.connection(40_000)
        packets[2].dropped = 3
        var counts = CaptureCounts()
        (counts.received, counts.dropped) = (12, 4)
        let bytes = Self.written(
            .max, packets.map { .packet($0, lost: 0) } + [.counts(counts, nanoseconds: Self.start)])
        var reader = CaptureReader()
        reader.append(bytes)
        var read: [CapturedPacket] = []
        while let entry = try reader.next() { if case .packet(let packet) = entry { read.append(packet) } }
        #expect(read.map { Array($0.bytes) } == packets.map { Array($0.bytes) })
        #expect(read.map(\.nanoseconds) == packets.map(\.nanoseconds) && read.map(\.dropped).reduce(0, +) == 3)
        #expect(reader.lost == 4 && reader.skipped == 0)
        var opened = OpenedCapture()
        try opened.absorb(bytes)
        opened.finish()
        #expect(opened.shortcomings == ["4 packets or operations not recorded"])
    }

    @Test("what did not fit is counted in its place")
    func lost() throws {
        let packets = Self.connection(40_000)
        let bytes = Self.written(.max, [.packet(packets[0], lost: 0), .packet(packets[1], lost: 7)])
        let read = try SampleCapture.entries(bytes).compactMap { entry -> UInt64? in
            if case .packet(let packet) = entry { packet.dropped } else { nil }
        }
        #expect(read == [0, 7])
    }

    @Test("a limit leaves the headers, and of the payload so much", arguments: [0, 3])
    func snapped(snap: Int) throws {
        let packets = Self.connection(40_000)
        let sessions = try SampleCapture.sessions(Self.written(snap, packets.map { .packet($0, lost: 0) }))
        let session = try #require(sessions.sessions.first)
        #expect(SampleCapture.text(session, .sent) == String("PING".prefix(snap)))
        #expect(session.fromLocal.missing == 4 - snap && session.closed != nil && sessions.skipped == 0)
    }

    @Test("headers end where the payload begins", arguments: CaptureFileTests.links)
    func headers(link: LinkType, header: [UInt8]) throws {
        for case .packet(let packet) in try SampleCapture.entries(SampleCapture.recording()) {
            var other = CapturedPacket(interface: 0, link: link.rawValue)
            other.bytes = (header + packet.bytes.dropFirst(14))[...]
            other.length = other.bytes.count
            var parser = PacketParser()
            let payload = parser.parse(other)?.payload
            #expect(payload != nil)
            #expect(PacketParser.headers(of: other) == other.bytes.count - (payload?.count ?? 0))
        }
        var cut = CapturedPacket(interface: 0, link: link.rawValue)
        for length in 0..<60 {
            cut.bytes = (header + [UInt8](repeating: 0x45, count: 60)).prefix(length)[...]
            _ = PacketParser.headers(of: cut)
        }
    }

    // MARK: Who has the ends

    private static func row(_ number: UInt64, _ local: SocketAddress, _ peer: SocketAddress?) -> SocketSnapshot {
        var socket = HostSocket(id: number, .tcp, .established, time: .zero, inode: number)
        (socket.local, socket.peer, socket.receiveQueue, socket.sendQueue) = (local, peer, 5, 0)
        var facts = SocketSnapshot.Facts(
            id: SocketID(number), role: .client, phase: .connected, target: "", opened: .zero)
        (facts.local, facts.peer, facts.descriptor) = (local, peer, 7)
        var host = HostSnapshot(socket)
        host.program = "program[\(number)]"
        facts.host = host
        return SocketSnapshot(facts)
    }

    @Test("both ends are found by their addresses; once a socket is gone, its program stays and its queues do not")
    func owners() throws {
        var sessions = CapturedSessions()
        for packet in Self.connection(40_000, ends: false) { sessions.absorb(packet) }
        let session = try #require(sessions.sessions.first).snapshot
        let (client, server) = try (#require(session.local), #require(session.peer))
        var owners = CapturedOwners()
        #expect(owners.ends(of: session) == CapturedEnds())
        var host = EngineSnapshot(engine: "host", time: .zero + .seconds(1), wallNanoseconds: 0)
        host.sockets = [
            Self.row(1, client, server), Self.row(2, server, client),
            Self.row(3, server, .v4(host: "127.0.0.1", port: 1)),
        ]
        owners.absorb(host)
        #expect(owners.rows(of: sessions.sessions) == [SocketID(1), SocketID(2)])
        let found = owners.ends(of: session)
        #expect(found.local?.host.program == "program[1]" && found.peer?.host.program == "program[2]")
        #expect(found.local?.host.unread == 5 && found.local?.descriptor == 7)
        host.time = .zero + .seconds(2)
        host.sockets.removeFirst()
        owners.absorb(host)
        let later = owners.ends(of: session)
        #expect(later.local?.host.program == "program[1]" && later.local?.host.unread == nil)
        #expect(later.peer?.host.unread == 5)
    }
}
