import Glibc
import SocketCore
import SocketRecords
import SocketTestSupport
import Testing

/// Small captures with every oddity and many combinations: which packets are one connection, what each end sent, and how
/// long each segment is, as tshark has it.
@Suite("Odd captures", .timeLimit(.minutes(10)), .enabled(if: Peer.isUsable("tshark"), "tshark is missing"))
struct OddCaptureTests {
    /// A file format, with the link type of its packets.
    struct Format: Sendable {
        var link: LinkType
        var number: UInt16?
        var isBig = false
        var isNano = false
        var isNG = false
    }

    private static let formats = [
        Format(link: .ethernet), Format(link: .ethernet, isBig: true, isNano: true),
        Format(link: .ethernet, isNG: true), Format(link: .ethernet, isBig: true, isNG: true),
        Format(link: .raw), Format(link: .raw, number: 12), Format(link: .raw, number: 14), Format(link: .cooked),
        Format(link: .cooked2, isNano: true), Format(link: .null), Format(link: .loop, isBig: true),
    ]

    /// Where tshark 4.0 says something else: for captures with all these kinds, about these things.
    private struct Explained {
        var kinds: Set<String>
        var things: Set<String>
        var why: String
    }

    /// Of truncated segments, tshark follows what is left as if it were all, so these are compared without their gaps.
    private static let truncated = Explained(
        kinds: ["snapped"], things: [],
        why:
            "RFC 9293, 3.4: every octet has a number, so those that are not in the file are a gap; tshark leaves it out"
    )

    private static let explained = [
        truncated,
        Explained(
            kinds: ["resetWithText"], things: ["server"],
            why: "RFC 1122, 4.2.2.12: the text of a reset is its reason; tshark follows it as bytes of the stream"),
        Explained(
            kinds: ["serverOnly", "portReused"], things: ["streams", "server"],
            why:
                "RFC 9293, 3.4.1: a SYN-ACK with another initial number is of another connection; tshark waits for a SYN"
        ),
        Explained(
            kinds: ["serverOnly", "lateAfterReuse"], things: ["streams", "server"],
            why: "RFC 9293, 3.4.1, as above"),
    ]

    /// Every opening with every disturbance, and every ending with every framing; the other two by chance.
    private static func all() -> [OddCapture] {
        var random = SplitMix64(seed: 20)
        var cases: [OddCapture] = []
        func add(
            _ opening: OddCapture.Opening, _ middle: OddCapture.Middle, _ ending: OddCapture.Ending,
            _ framing: OddCapture.Framing
        ) {
            let port = UInt16(20_000 + cases.count)
            cases.append(OddCapture(opening, middle, ending, framing, port: port, &random))
        }
        for opening in OddCapture.Opening.allCases {
            for middle in OddCapture.Middle.allCases {
                add(
                    opening, middle, .allCases.randomElement(using: &random) ?? .fins,
                    .allCases.randomElement(using: &random) ?? .plain)
            }
        }
        for ending in OddCapture.Ending.allCases {
            for framing in OddCapture.Framing.allCases {
                add(.handshake, .allCases.randomElement(using: &random) ?? .plain, ending, framing)
            }
        }
        return cases
    }

    private static func file(_ cases: [OddCapture], _ format: Format) -> [UInt8] {
        var foreign = ForeignFile(isBig: format.isBig, links: [format.link])
        var file = SegmentScript.pcapHead(
            link: format.number ?? format.link.rawValue, isBig: format.isBig, isNano: format.isNano)
        var count = 0
        for odd in cases {
            for packet in odd.packets {
                let tags = format.link == .ethernet ? odd.tags : []
                let header = ForeignFile.header(format.link, isIPv6: odd.isIPv6, tags, isBig: format.isBig)
                let kept = packet.kept == .max ? .max : packet.kept + header.count
                foreign.add(packet.bytes, tags: tags, kept: packet.kept)
                file += SegmentScript.record(
                    header + packet.bytes, number: count, kept: kept, isBig: format.isBig, isNano: format.isNano)
                count += 1
            }
        }
        return format.isNG ? foreign.bytes : file
    }

    /// What a reader makes of one case.
    private struct Reading: Equatable {
        var streams = 0
        var client: [UInt8?] = []
        var server: [UInt8?] = []
        /// The length of each segment.
        var lengths: [Int] = []

        var withoutGaps: Reading {
            var reading = self
            reading.client.removeAll { $0 == nil }
            reading.server.removeAll { $0 == nil }
            return reading
        }
    }

    private static func ours(_ path: String) throws -> [UInt16: Reading] {
        let reading = try CaptureReading(path)
        var found: [UInt16: Reading] = [:]
        for socket in reading.sockets {
            let isTurned = socket.local?.port == 7_000
            guard let port = isTurned ? socket.peer?.port : socket.local?.port else { continue }
            let sent = trimmed(reading.sent(.sent, by: socket))
            let received = trimmed(reading.sent(.received, by: socket))
            found[port, default: Reading()].streams += 1
            found[port, default: Reading()].client += isTurned ? received : sent
            found[port, default: Reading()].server += isTurned ? sent : received
        }
        var reader = CaptureReader()
        var parser = PacketParser()
        reader.append(try bytes(path))
        while let entry = try reader.next() {
            guard case .packet(let packet) = entry, let parsed = parser.parse(packet) else { continue }
            let port = parsed.source.port == 7_000 ? parsed.destination.port : parsed.source.port
            found[port, default: Reading()].lengths.append(parsed.payload.count + parsed.missing)
        }
        return found
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Unusable(path: path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return bytes
    }

    /// One call: the fields of each packet, then each stream.
    private static func theirs(_ path: String, streams: Int) throws -> [UInt16: Reading] {
        let fields = ["tcp.stream", "tcp.srcport", "tcp.dstport", "tcp.len"].flatMap { ["-e", $0] }
        let follow = (0..<streams).flatMap { ["-z", "follow,tcp,raw,\($0)"] }
        let outcome = try ChildProcess.run(
            ["tshark", "-n", "-r", path, "-o", "ipv6.tso_support:TRUE", "-Y", "tcp.len", "-T", "fields"] + fields
                + follow)
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        var found: [UInt16: Reading] = [:]
        var ports: [Int: UInt16] = [:]
        for line in lines {
            let words = line.split(separator: "\t")
            guard words.count == 4, let stream = Int(words[0]), let from = UInt16(words[1]), let to = UInt16(words[2]),
                let length = Int(words[3])
            else { break }
            let port = from == 7_000 ? to : from
            found[port, default: Reading()].lengths.append(length)
            if ports.updateValue(port, forKey: stream) == nil { found[port, default: Reading()].streams += 1 }
        }
        #expect((ports.keys.max() ?? 0) < streams, "tshark has more streams than were asked for")
        // They are printed in no particular order.
        var printed: [Int: [String]] = [:]
        for section in outcome.output.split(separator: "Follow: tcp,raw\n").dropFirst() {
            let lines = section.split(separator: "\n").map(String.init)
            if let stream = lines.first?.split(separator: " ").last.flatMap({ Int($0) }) { printed[stream] = lines }
        }
        for (stream, lines) in printed.sorted(by: { $0.key < $1.key }) {
            guard let port = ports[stream] else { continue }
            let both = CaptureReading.followed(lines, clientPort: port)
            found[port, default: Reading()].client += trimmed(both.client)
            found[port, default: Reading()].server += trimmed(both.server)
        }
        return found
    }

    /// What is missing at the end of a stream is not told by tshark.
    private static func trimmed(_ bytes: [UInt8?]) -> [UInt8?] {
        Array(bytes.reversed().drop { $0 == nil }.reversed())
    }

    /// The things that differ, each in words.
    private static func differences(_ ours: Reading, _ theirs: Reading) -> [String: String] {
        var found: [String: String] = [:]
        if ours.streams != theirs.streams { found["streams"] = "\(ours.streams) for \(theirs.streams)" }
        if ours.lengths != theirs.lengths { found["lengths"] = "\(ours.lengths) for \(theirs.lengths)" }
        found["client"] = difference(ours.client, theirs.client)
        found["server"] = difference(ours.server, theirs.server)
        return found
    }

    @Test("streams, bytes and lengths are those of tshark, but for what the table explains")
    func odd() throws {
        let cases = Self.all()
        #expect(cases.count >= 200 && Self.explained.count <= 10)
        let folder = try TemporaryFolder()
        var used: Set<Set<String>> = []
        for (index, format) in Self.formats.enumerated() {
            let part = cases.enumerated().filter { $0.offset % Self.formats.count == index }.map(\.element)
            let path = folder.path + "/\(index)"
            try Self.write(Self.file(part, format), to: path)
            let ours = try Self.ours(path)
            let theirs = try Self.theirs(path, streams: 4 * part.count)
            for odd in part {
                let (one, other) = (ours[odd.port] ?? Reading(), theirs[odd.port] ?? Reading())
                var found = Self.differences(one, other)
                if !found.isEmpty, odd.framing == .snapped {
                    used.insert(Self.truncated.kinds)
                    found = Self.differences(one.withoutGaps, other.withoutGaps)
                }
                let row = Self.explained.first {
                    $0.kinds.isSubset(of: odd.kinds) && $0.things.isSuperset(of: found.keys)
                }
                if let row, !found.isEmpty { used.insert(row.kinds) }
                #expect(row != nil || found == [:], "\(odd.port) \(odd.kinds.joined(separator: " ")), file \(index)")
            }
        }
        #expect(used.count == Self.explained.count, "only \(used) were needed")
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        guard let file = fopen(path, "w") else { throw Unusable(path: path) }
        let count = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, count == bytes.count else { throw Unusable(path: path) }
    }
}
