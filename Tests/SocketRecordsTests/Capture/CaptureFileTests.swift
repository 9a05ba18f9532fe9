import SocketCore
import SocketRecords
import SocketTestSupport
import Testing

@Suite("Capture files")
struct CaptureFileTests {
    @Test("what was written is read again, however it is cut into pieces", arguments: [1, 3, 4, 64, 10_000])
    func roundTrip(step: Int) throws {
        let entries = try SampleCapture.entries(SampleCapture.recording(), step: step)
        let packets = entries.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
        #expect(packets.count == 9)
        #expect(packets.map(\.comment) == (0..<9).map { "packet \($0)" })
        #expect(packets.map(\.nanoseconds).first == 1_700_000_000_000_000_000)
        #expect(packets[3].isInbound == false && packets[4].isInbound == true)
        let session = try #require(SampleCapture.sessions(SampleCapture.recording()).sessions.first)
        #expect(SampleCapture.text(session, .sent) == "PING\r\n")
        #expect(SampleCapture.text(session, .received) == "+PONG\r\n")
        #expect(session.snapshot.phase == .closed)
        #expect(session.snapshot.peer?.description == "127.0.0.1:6379")
    }

    @Test("a file that was cut anywhere is read up to its last whole block")
    func cut() throws {
        let whole = SampleCapture.recording()
        var most = 0
        for length in 0..<whole.count {
            let count = try SampleCapture.entries(Array(whole.prefix(length))).count
            #expect(count >= most)
            most = max(most, count)
        }
        #expect(most == 10)
    }

    @Test("payload that was not kept counts, and leaves a gap")
    func snapped() throws {
        let session = try #require(SampleCapture.sessions(SampleCapture.recording(snap: 2)).sessions.first)
        #expect(SampleCapture.text(session, .sent) == "PI")
        #expect(session.fromLocal.missing == 4 && session.fromPeer.missing == 5)
    }

    /// The packets of a recording as pcap, in one byte order and resolution, behind another link header.
    static func pcap(isBig: Bool, nanoseconds: Bool, link: UInt16, header: [UInt8]) throws -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isBig ? bytes.reversed() : bytes
        }
        let version: [UInt8] = isBig ? [0, 2, 0, 4] : [2, 0, 4, 0]
        var file = number(nanoseconds ? 0xA1B2_3C4D : 0xA1B2_C3D4) + version + number(0) + number(0) + number(262_144)
        file += number(UInt32(link))
        for case .packet(let packet) in try SampleCapture.entries(SampleCapture.recording()) {
            let bytes = header + packet.bytes.dropFirst(14)
            file += number(1_700_000_000) + number(5) + number(UInt32(bytes.count)) + number(UInt32(bytes.count))
            file += bytes
        }
        return file
    }

    static let links: [(LinkType, [UInt8])] = [
        (.null, [2, 0, 0, 0]), (.loop, [0, 0, 0, 2]), (.raw, []), (.ipv4, []),
        (.ethernet, [UInt8](repeating: 1, count: 12) + [8, 0]),
        (.ethernet, [UInt8](repeating: 1, count: 12) + [0x81, 0, 0, 5, 8, 0]),
        (.ethernet, [UInt8](repeating: 1, count: 12) + [0x88, 0xA8, 0, 5, 0x81, 0, 0, 6, 8, 0]),
        (.cooked, [UInt8](repeating: 0, count: 14) + [8, 0]),
        (.cooked2, [8, 0] + [UInt8](repeating: 0, count: 18)),
    ]

    @Test("pcap of either byte order and resolution, of every link type", arguments: [true, false], [true, false])
    func pcap(isBig: Bool, nanoseconds: Bool) throws {
        for (link, header) in Self.links {
            let file = try Self.pcap(isBig: isBig, nanoseconds: nanoseconds, link: link.rawValue, header: header)
            let session = try #require(SampleCapture.sessions(file).sessions.first, "\(link)")
            #expect(SampleCapture.text(session, .sent) == "PING\r\n", "\(link)")
            #expect(SampleCapture.text(session, .received) == "+PONG\r\n", "\(link)")
        }
    }

    @Test("what is no capture is refused, and so are blocks that cannot be")
    func refused() throws {
        #expect(throws: CaptureError.self) { try SampleCapture.entries(Array("GET / HTTP/1.1".utf8)) }
        var short = SampleCapture.recording()
        short[4] = 8
        #expect(throws: CaptureError("a block of 8 bytes at offset 0; must be a multiple of 4, at least 12")) {
            try SampleCapture.entries(short)
        }
        var long = SampleCapture.recording()
        long[7] = 0x7F
        #expect(throws: CaptureError.self) { try SampleCapture.entries(long) }
    }

    @Test("frames, names and drop counts are read again")
    func blocks() throws {
        var writer = PcapngWriter()
        writer.section(application: "socktui", comment: "")
        let interface = writer.interface(name: "#1", description: "")
        writer.name("unix:/run/x", of: IPAddress("127.128.0.1")!)
        writer.frames([1, 2, 3])
        writer.secrets(Array("CLIENT_RANDOM a b\n".utf8))
        writer.packet([1], length: 9, interface: interface, nanoseconds: 1, notes: PacketNotes(dropped: 4))
        let entries = try SampleCapture.entries(writer.bytes)
        #expect(entries.count == 6)
        guard case .name(let address, "unix:/run/x") = entries[2] else { return #expect(Bool(false), "\(entries[2])") }
        #expect(address == IPAddress("127.128.0.1"))
        guard case .frames([1, 2, 3]) = entries[3] else { return #expect(Bool(false), "\(entries[3])") }
        guard case .packet(let packet) = entries[5] else { return #expect(Bool(false), "\(entries[5])") }
        guard case .secrets(let lines) = entries[4] else { return #expect(Bool(false), "\(entries[4])") }
        #expect(String(decoding: lines, as: UTF8.self) == "CLIENT_RANDOM a b\n")
        #expect(packet.dropped == 4 && packet.length == 9)
    }

    @Test("fragments are put together in any order, and what lacks one is counted")
    func fragments() throws {
        let frame = SyntheticPacket(from: SampleCapture.client, to: SampleCapture.server).udp(
            Array(repeating: 7, count: 3_000)[...])
        let ip = frame[14..<34]
        let body = Array(frame.dropFirst(34))
        func fragment(_ range: Range<Int>, isLast: Bool) -> CapturedPacket {
            var header = Array(ip)
            let length = UInt16(20 + range.count)
            (header[2], header[3]) = (UInt8(length >> 8), UInt8(length & 255))
            let place = UInt16(range.lowerBound / 8) | (isLast ? 0 : 0x2000)
            (header[6], header[7]) = (UInt8(place >> 8), UInt8(place & 255))
            var packet = CapturedPacket(interface: 0, link: LinkType.raw.rawValue)
            packet.bytes = (header + body[range])[...]
            packet.length = packet.bytes.count
            return packet
        }
        let parts = [
            fragment(0..<1_480, isLast: false), fragment(1_480..<2_960, isLast: false),
            fragment(2_960..<body.count, isLast: true),
        ]
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [1, 1, 0, 2]] {
            var parser = PacketParser()
            let parsed = order.compactMap { parser.parse(parts[$0]) }
            #expect(parsed.count == 1 && parsed.first?.payload.count == 3_000, "\(order)")
        }
    }

    @Test("headers of IPv6 inside a packet that was fragmented are read")
    func headersInFragments() {
        var datagram: [UInt8] = [17, 0, 1, 4, 0, 0, 0, 0]
        datagram += [0x30, 0x39, 0, 53, 0, 20, 0, 0] + Array("hello, world".utf8)
        func fragment(_ range: Range<Int>, isLast: Bool) -> CapturedPacket {
            let place = UInt8(range.lowerBound | (isLast ? 0 : 1))
            var bytes: [UInt8] = [0x60, 0, 0, 0, 0, UInt8(8 + range.count), 44, 64]
            for end in [UInt8(1), 2] { bytes += [0x20, 1, 0x0D, 0xB8] + Array(repeating: UInt8(0), count: 11) + [end] }
            bytes += [60, 0, 0, place, 0, 0, 0, 9] + datagram[range]
            var packet = CapturedPacket(interface: 0, link: LinkType.raw.rawValue)
            (packet.bytes, packet.length) = (bytes[...], bytes.count)
            return packet
        }
        var parser = PacketParser()
        let parsed = [fragment(0..<16, isLast: false), fragment(16..<28, isLast: true)].compactMap { parser.parse($0) }
        #expect(parsed.map { Array($0.payload) } == [Array("hello, world".utf8)])
        #expect(parser.skipped == 0 && parser.lostFragments == 0)
    }
}
