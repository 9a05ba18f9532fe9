import Glibc
import SocketCore
import SocketRecords
import SocketTestSupport

/// A capture file as other programs write it: pcapng with an interface for each link type, in either byte order.
struct ForeignFile {
    private(set) var bytes: [UInt8] = []
    private let isBig: Bool
    private let links: [LinkType]
    private(set) var packets = 0

    static let start: UInt64 = 1_700_000_000_000_000_000

    init(isBig: Bool = false, links: [LinkType] = [.ethernet]) {
        (self.isBig, self.links) = (isBig, links)
        section()
    }

    /// Begins a section, in which the interfaces are described again.
    mutating func section() {
        block(0x0A0D_0D0A, number(UInt32(0x1A2B_3C4D)) + number(UInt16(1)) + number(UInt16(0)) + number(UInt64.max))
        for link in links {
            let resolution = number(UInt16(9)) + number(UInt16(1)) + [9, 0, 0, 0] + number(UInt32(0))
            block(1, number(link.rawValue) + number(UInt16(0)) + number(UInt32(262_144)) + resolution)
        }
    }

    /// Adds what begins with an IP header, a millisecond after the one before; `tags`: VLANs, on Ethernet; `kept`: bytes of
    /// it that were captured.
    mutating func add(_ packet: [UInt8], on interface: Int = 0, tags: [UInt16] = [], kept: Int = .max) {
        let header = Self.header(links[interface], isIPv6: packet[0] >> 4 == 6, tags, isBig: isBig)
        let frame = header + packet
        let captured = frame.prefix(max(0, min(kept, packet.count)) + header.count)
        let time = Self.start + UInt64(packets) * 1_000_000
        packets += 1
        let padding = [UInt8](repeating: 0, count: (4 - captured.count % 4) % 4)
        block(
            6,
            number(UInt32(interface)) + number(UInt32(time >> 32)) + number(UInt32(truncatingIfNeeded: time))
                + number(UInt32(captured.count)) + number(UInt32(frame.count)) + captured + padding)
    }

    /// Its first `count` bytes, or all, in a file of the folder.
    func write(_ folder: TemporaryFolder, cutAt count: Int = .max) throws -> String {
        let path = folder.path + "/foreign.pcapng"
        let content = bytes.prefix(count)
        guard let file = fopen(path, "w") else { throw Unusable(path: path) }
        let count = content.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        guard fclose(file) == 0, count == content.count else { throw Unusable(path: path) }
        return path
    }

    /// What stands before the IP header.
    static func header(_ link: LinkType, isIPv6: Bool, _ tags: [UInt16] = [], isBig: Bool = false) -> [UInt8] {
        let kind: [UInt8] = isIPv6 ? [0x86, 0xDD] : [0x08, 0x00]
        switch link {
        case .raw, .ipv4, .ipv6: return []
        case .null: return isBig ? [0, 0, 0, isIPv6 ? 24 : 2] : [isIPv6 ? 24 : 2, 0, 0, 0]
        case .loop: return [0, 0, 0, isIPv6 ? 24 : 2]
        case .cooked: return [0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0] + kind
        case .cooked2: return kind + [0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0]
        case .ethernet:
            let outer: [UInt8] = tags.count > 1 ? [0x88, 0xA8] : [0x81, 0x00]
            let vlans = tags.enumerated().flatMap { index, tag in
                (index == 0 ? outer : [0x81, 0x00]) + [UInt8(tag >> 8), UInt8(tag & 255)]
            }
            return [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2] + vlans + kind
        }
    }

    private func number<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
        withUnsafeBytes(of: isBig ? value.bigEndian : value.littleEndian) { Array($0) }
    }

    private mutating func block(_ kind: UInt32, _ content: [UInt8]) {
        let length = number(UInt32(content.count + 12))
        bytes += number(kind) + length + content + length
    }
}

/// One stream in each direction, and the packets that carried it.
struct Dialogue {
    /// A packet from one end to the other, as a test may lose, repeat or move it.
    struct Segment {
        var isClient: Bool
        /// Where its first byte is in what that end sent; -1: its SYN.
        var offset: Int
        var payload: [UInt8]
        var flags: SyntheticPacket.Flags
        /// Bytes of the other end that it acknowledges.
        var acknowledges: Int
    }

    let client: SyntheticPacket.End
    let server: SyntheticPacket.End
    /// The number of each end's SYN.
    let first: (client: UInt32, server: UInt32)
    private(set) var fromClient: [UInt8] = []
    private(set) var fromServer: [UInt8] = []
    private(set) var segments: [Segment] = []

    init(isIPv6: Bool = false, port: UInt16 = 7_000, first: (client: UInt32, server: UInt32) = (1_000, 2_000)) {
        let host = isIPv6 ? "fd00::" : "10.9.0."
        func end(_ number: Int, _ port: UInt16) -> SyntheticPacket.End {
            SyntheticPacket.End(IPAddress(host + "\(number)") ?? .v4(0), port)
        }
        (client, server, self.first) = (end(1, 40_000), end(2, port), first)
    }

    mutating func handshake() {
        segments.append(Segment(isClient: true, offset: -1, payload: [], flags: .syn, acknowledges: 0))
        segments.append(Segment(isClient: false, offset: -1, payload: [], flags: [.syn, .ack], acknowledges: 0))
        segments.append(Segment(isClient: true, offset: 0, payload: [], flags: .ack, acknowledges: 0))
    }

    mutating func say(_ bytes: [UInt8], isClient: Bool) {
        let acknowledges = (isClient ? fromServer : fromClient).count
        let offset = (isClient ? fromClient : fromServer).count
        segments.append(
            Segment(
                isClient: isClient, offset: offset, payload: bytes, flags: [.push, .ack], acknowledges: acknowledges))
        if isClient { fromClient += bytes } else { fromServer += bytes }
    }

    mutating func end() {
        for isClient in [true, false] {
            let (mine, theirs) = isClient ? (fromClient, fromServer) : (fromServer, fromClient)
            segments.append(
                Segment(
                    isClient: isClient, offset: mine.count, payload: [], flags: [.fin, .ack],
                    acknowledges: theirs.count))
        }
    }

    /// A dialogue of many segments of different lengths.
    static func random(
        _ random: inout SplitMix64, count: Int = 40, isIPv6: Bool = false, port: UInt16 = 7_000,
        first: (client: UInt32, server: UInt32) = (1_000, 2_000)
    ) -> Dialogue {
        var dialogue = Dialogue(isIPv6: isIPv6, port: port, first: first)
        dialogue.handshake()
        for _ in 0..<count {
            let bytes = (0..<Int.random(in: 1...500, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            dialogue.say(bytes, isClient: Bool.random(using: &random))
        }
        dialogue.end()
        return dialogue
    }

    /// A segment, from its IP header on.
    func packet(_ segment: Segment) -> [UInt8] {
        let (from, to) = segment.isClient ? (client, server) : (server, client)
        let (mine, theirs) = segment.isClient ? (first.client, first.server) : (first.server, first.client)
        let payload = segment.payload[...]
        let head = SyntheticPacket(from: from, to: to).tcpHead(
            segment.flags, sequence: mine &+ UInt32(truncatingIfNeeded: segment.offset + 1),
            acknowledges: theirs &+ 1 &+ UInt32(segment.acknowledges), payload: payload, length: payload.count)
        return Array((head + payload).dropFirst(14))
    }

    /// The segments with acknowledgements as a receiver sends them: of no byte that comes after.
    func acknowledged(_ segments: [Segment]) -> [Segment] {
        func places(_ sent: [UInt8], isClient: Bool) -> [Int] {
            var places = [Int](repeating: .max, count: sent.count)
            for (place, segment) in segments.enumerated() where segment.isClient == isClient && segment.offset >= 0 {
                for index in segment.payload.indices where places[segment.offset + index] == .max {
                    places[segment.offset + index] = place
                }
            }
            return places
        }
        let seen = [true: places(fromClient, isClient: true), false: places(fromServer, isClient: false)]
        return segments.enumerated().map { place, segment in
            var segment = segment
            let later = seen[!segment.isClient]?.firstIndex { $0 != .max && $0 > place }
            segment.acknowledges = min(segment.acknowledges, later ?? .max)
            return segment
        }
    }

    /// What these segments hold of what each end sent, with `nil` where a byte is in none of them, up to the last one.
    func held(by segments: [Segment]) -> (client: [UInt8?], server: [UInt8?]) {
        func held(_ sent: [UInt8], isClient: Bool) -> [UInt8?] {
            var held = [UInt8?](repeating: nil, count: sent.count)
            for segment in segments where segment.isClient == isClient && segment.offset >= 0 {
                for index in segment.payload.indices { held[segment.offset + index] = segment.payload[index] }
            }
            return held
        }
        return (held(fromClient, isClient: true), held(fromServer, isClient: false))
    }

    /// An IPv4 packet in fragments, each but the last with `length` bytes, a multiple of 8; of IPv6 with a fragment header.
    static func fragments(_ packet: [UInt8], of length: Int, identification: UInt16) -> [[UInt8]] {
        let isIPv6 = packet[0] >> 4 == 6
        let (header, body) = (Array(packet.prefix(isIPv6 ? 40 : 20)), Array(packet.dropFirst(isIPv6 ? 40 : 20)))
        func two(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
        return stride(from: 0, to: body.count, by: length).map { start in
            let part = Array(body[start...].prefix(length))
            let isLast = start + part.count == body.count
            var header = header
            if isIPv6 {
                header.replaceSubrange(4..<6, with: two(part.count + 8))
                let place = two(start | (isLast ? 0 : 1))
                header += [header[6], 0] + place + [0, 0] + two(Int(identification))
                header[6] = 44
            } else {
                header.replaceSubrange(2..<4, with: two(part.count + 20))
                header.replaceSubrange(4..<8, with: two(Int(identification)) + two(start / 8 | (isLast ? 0 : 0x2000)))
                header.replaceSubrange(10..<12, with: [0, 0])
                var sum = stride(from: 0, to: 20, by: 2).reduce(0) { $0 + Int(header[$1]) << 8 + Int(header[$1 + 1]) }
                while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
                header.replaceSubrange(10..<12, with: two(~sum & 0xFFFF))
            }
            return header + part
        }
    }
}
