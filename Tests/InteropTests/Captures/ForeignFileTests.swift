import SocketCore
import SocketRecords
import SocketTestSupport
import Testing

/// Files of others, written here with each kind of trouble: streams are what was sent, with gaps where bytes are missing,
/// and what tshark puts together is the same.
@Suite("Files of others", .timeLimit(.minutes(10)), .enabled(if: Peer.isUsable("tshark"), "tshark is missing"))
struct ForeignFileTests {
    /// What a file does to a dialogue.
    enum Trouble: String, CaseIterable {
        case none, loss, reordering, duplicates, overlap, wrap, middle, tags, fragments, bigEndian, links, everything

        func of(_ other: Trouble) -> Bool { self == other || self == .everything }
    }

    /// The segments that the file has, in its order.
    private static func segments(
        _ dialogue: Dialogue, _ trouble: Trouble, _ random: inout SplitMix64
    ) -> [Dialogue.Segment] {
        var segments = dialogue.segments
        if trouble == .middle { segments.removeFirst(9) }
        if trouble.of(.overlap) {
            for index in segments.indices where segments[index].payload.count > 20 && index % 4 == 0 {
                // Sent again from its middle on, with what follows.
                var again = segments[index]
                let sent = again.isClient ? dialogue.fromClient : dialogue.fromServer
                let start = again.offset + again.payload.count / 2
                (again.offset, again.payload) = (start, Array(sent[start...].prefix(900)))
                segments.insert(again, at: min(index + 3, segments.count - 2))
            }
        }
        if trouble.of(.loss) {
            segments = segments.filter { $0.payload.isEmpty || Int.random(in: 0..<8, using: &random) != 0 }
        }
        if trouble.of(.duplicates) {
            for segment in segments where Int.random(in: 0..<4, using: &random) == 0 {
                segments.insert(segment, at: Int.random(in: 3..<segments.count, using: &random))
            }
        }
        if trouble.of(.reordering) {
            for index in segments.indices.dropLast(4) where Int.random(in: 0..<3, using: &random) == 0 && index > 3 {
                segments.swapAt(index, index + Int.random(in: 1...2, using: &random))
            }
        }
        return dialogue.acknowledged(segments)
    }

    private static func file(
        _ segments: [Dialogue.Segment], of dialogue: Dialogue, _ trouble: Trouble, isIPv6: Bool
    ) -> ForeignFile {
        let all: [LinkType] = [.ethernet, .null, .raw, .loop, .cooked, isIPv6 ? .ipv6 : .ipv4, .cooked2]
        var file = ForeignFile(
            isBig: trouble.of(.bigEndian), links: trouble.of(.links) ? all : [.ethernet])
        for (index, segment) in segments.enumerated() {
            let packet = dialogue.packet(segment)
            let isCut = trouble.of(.fragments) && packet.count > 200
            let parts =
                isCut ? Dialogue.fragments(packet, of: 128, identification: UInt16(index + 1)) : [packet]
            let interface = trouble.of(.links) ? index % all.count : 0
            let tags: [[UInt16]] = [[], [5], [6, 7]]
            for part in index % 3 == 0 ? parts.reversed() : parts {
                file.add(part, on: interface, tags: trouble.of(.tags) ? tags[index % 3] : [])
            }
        }
        return file
    }

    @Test("with each trouble", arguments: Trouble.allCases, [false, true])
    func troubles(_ trouble: Trouble, isIPv6: Bool) throws {
        for seed in 0..<4 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let first = trouble.of(.wrap) ? (client: UInt32.max - 3_000, server: UInt32.max - 900) : (1_000, 2_000)
            let dialogue = Dialogue.random(&random, isIPv6: isIPv6, first: first)
            let segments = Self.segments(dialogue, trouble, &random)
            let folder = try TemporaryFolder()
            let file = Self.file(segments, of: dialogue, trouble, isIPv6: isIPv6)
            let reading = try CaptureReading(file.write(folder))
            var expected = dialogue.held(by: segments)
            let socket = try #require(reading.sockets.first)
            #expect(reading.sockets.count == 1 && socket.peer?.port == 7_000, "\(reading.sockets.map(\.target))")
            let followed = try reading.followed(0, clientPort: 40_000)
            if trouble == .middle {
                // Each side begins with the first byte that is there.
                expected.client = Array(expected.client.drop { $0 == nil })
                expected.server = Array(expected.server.drop { $0 == nil })
            }
            #expect(difference(reading.sent(.sent, by: socket), expected.client) == nil, "\(seed)")
            #expect(difference(reading.sent(.received, by: socket), expected.server) == nil, "\(seed)")
            #expect(difference(followed.client, expected.client) == nil, "\(seed)")
            #expect(difference(followed.server, expected.server) == nil, "\(seed)")
            let missing = (expected.client + expected.server).count { $0 == nil }
            let told = reading.capture.shortcomings.first { $0.hasSuffix(" missing") }
            let words = missing == 1 ? "1 byte missing" : missing > 0 ? "\(missing) bytes missing" : nil
            #expect(told == words, "\(seed) \(reading.capture.shortcomings)")
            // Either side may close first.
            let error = socket.closed?.error
            #expect(socket.phase == .closed && (error == nil || error?.reason == .closedByPeer), "\(seed)")
        }
    }

    @Test("where copies differ, the first stays, an event tells of it, and tshark keeps the same")
    func differing() throws {
        var dialogue = Dialogue()
        dialogue.handshake()
        dialogue.say(Array("the first copy".utf8), isClient: true)
        var other = dialogue.segments[3]
        other.payload = Array("the other copy and more".utf8)
        dialogue.say(Array(" and more".utf8), isClient: true)
        var segments = dialogue.segments
        segments.insert(other, at: 4)
        let folder = try TemporaryFolder()
        let reading = try CaptureReading(
            Self.file(segments, of: dialogue, .none, isIPv6: false).write(folder))
        let socket = try #require(reading.sockets.first)
        let expected = Array("the first copy and more".utf8).map { UInt8?($0) }
        #expect(reading.sent(.sent, by: socket) == expected)
        #expect(try reading.followed(0, clientPort: 40_000).client == expected)
        let events = reading.capture.snapshot(SnapshotRequest(eventsFrom: 0), named: "x")?.events ?? []
        #expect(events.contains { $0.kind == .copiesDiffer && $0.first == 5 }, "\(events)")
        #expect(reading.capture.shortcomings == ["5 retransmitted bytes that differed, ignored"])
    }

    @Test("cut off anywhere, it holds what its whole blocks hold, as for tshark")
    func cut() throws {
        var random = SplitMix64(seed: 1)
        let dialogue = Dialogue.random(&random, count: 12)
        let folder = try TemporaryFolder()
        let file = Self.file(dialogue.segments, of: dialogue, .none, isIPv6: false)
        for length in stride(from: 400, to: file.bytes.count, by: 331) {
            let reading = try CaptureReading(file.write(folder, cutAt: length))
            guard let socket = reading.sockets.first else { continue }
            let followed = try reading.followed(0, clientPort: 40_000)
            #expect(difference(reading.sent(.sent, by: socket), followed.client) == nil, "\(length)")
            #expect(difference(reading.sent(.received, by: socket), followed.server) == nil, "\(length)")
            let packets = try reading.tshark("-T", "fields", "-e", "frame.number").count
            #expect(packets < dialogue.segments.count)
            #expect(reading.capture.problemAtEnd?.hasSuffix("the rest is missing") == true, "\(length)")
        }
    }

    @Test("payload that was not captured is a gap, in place")
    func snapped() throws {
        var random = SplitMix64(seed: 2)
        let dialogue = Dialogue.random(&random, count: 20)
        let folder = try TemporaryFolder()
        var file = ForeignFile()
        var kept: [Dialogue.Segment] = []
        for segment in dialogue.segments {
            file.add(dialogue.packet(segment), kept: 140)
            kept.append(segment)
            kept[kept.count - 1].payload = Array(segment.payload.prefix(100))
        }
        let reading = try CaptureReading(file.write(folder))
        let socket = try #require(reading.sockets.first)
        let expected = dialogue.held(by: kept)
        #expect(difference(reading.sent(.sent, by: socket), expected.client) == nil)
        #expect(difference(reading.sent(.received, by: socket), expected.server) == nil)
    }

    @Test("a handshake out of order is one session, and the next connection of the same ports is another")
    func sessions() throws {
        var random = SplitMix64(seed: 3)
        let one = Dialogue.random(&random, count: 8)
        let two = Dialogue.random(&random, count: 8, first: (5_000_000, 6_000_000))
        let folder = try TemporaryFolder()
        for order in [[0, 1, 2, 3], [1, 0, 2, 3], [2, 1, 0, 3], [3, 0, 1, 2]] {
            var file = ForeignFile()
            // What comes before the SYN of another connection is taken for the former's.
            let dialogues = order[0] > 1 ? [one] : [one, two]
            for dialogue in dialogues {
                let segments = dialogue.segments
                for segment in order.map({ segments[$0] }) + segments.dropFirst(4) {
                    file.add(dialogue.packet(segment))
                }
            }
            let reading = try CaptureReading(file.write(folder))
            #expect(reading.sockets.count == dialogues.count, "\(order): \(reading.sockets.count)")
            for (dialogue, socket) in zip(dialogues, reading.sockets) {
                #expect(socket.peer?.port == 7_000, "\(order)")
                #expect(difference(reading.sent(.sent, by: socket), dialogue.fromClient) == nil, "\(order)")
                #expect(difference(reading.sent(.received, by: socket), dialogue.fromServer) == nil, "\(order)")
            }
        }
    }

    @Test("datagrams in many fragments, of both families; those that are not whole are counted")
    func datagrams() throws {
        let folder = try TemporaryFolder()
        var file = ForeignFile(links: [.raw])
        var expected: [[UInt8]] = []
        for (number, host) in ["10.9.0.", "fd00::"].enumerated() {
            let ends = [1, 2].map { SyntheticPacket.End(IPAddress(host + "\($0)") ?? .v4(0), 40_000 + UInt16($0)) }
            let payload = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 7 + number) }
            let packet = Array(SyntheticPacket(from: ends[0], to: ends[1]).udp(payload[...]).dropFirst(14))
            // The smallest packets that every link carries, of IPv4 and of IPv6.
            for part in Dialogue.fragments(packet, of: number == 0 ? 48 : 1_232, identification: 9).shuffled() {
                file.add(part)
            }
            for part in Dialogue.fragments(packet, of: 1_232, identification: 10).dropFirst() { file.add(part) }
            expected.append(payload)
        }
        let reading = try CaptureReading(file.write(folder))
        let payloads = reading.sockets.flatMap { reading.capture.traffic(of: $0.id).items.map(\.bytes) }
        #expect(payloads == expected)
        let tshark = try reading.tshark("-T", "fields", "-e", "data.len", "-Y", "udp").filter { !$0.isEmpty }
        #expect(tshark == ["60000", "60000"])
        // Those that still wait are not lost yet.
        #expect(reading.capture.shortcomings.isEmpty, "\(reading.capture.shortcomings)")
    }
}
