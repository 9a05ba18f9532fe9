import SocketCore
import SocketRecords
import SocketTestSupport
import Testing

/// Frames and files of others: their lengths, their link types and their damage.
@Suite("Frames of others")
struct ForeignFrameTests {
    private static func script(_ payload: [UInt8], isIPv6: Bool = false) -> SegmentScript {
        var script = SegmentScript(isIPv6: isIPv6)
        script.handshake()
        script.send(.server, at: 1, ack: 1, bytes: payload)
        script.send(.client, at: 1, ack: 1 + payload.count)
        return script
    }

    /// What a card that joins or splits segments leaves in the length field.
    @Test(
        "a length of 0, or one that 16 bits cannot hold, is that of the frame",
        arguments: [(900, true), (60_000, true), (100_000, true), (100_000, false)], [false, true])
    func offloaded(_ length: (count: Int, isZero: Bool), isIPv6: Bool) throws {
        let payload = (0..<length.count).map { UInt8(truncatingIfNeeded: $0) }
        var script = Self.script(payload, isIPv6: isIPv6)
        let place = isIPv6 ? 4 : 2
        if length.isZero { script.packets[3].replaceSubrange(place..<(place + 2), with: [0, 0]) }
        let capture = try script.opened()
        #expect(capture.shown.sockets.first?.received == UInt64(length.count))
        #expect(capture.shortcomings.isEmpty, "\(capture.shortcomings)")
    }

    @Test("what a frame had on the wire beyond what is in the file is missing, also where its length is 0")
    func truncated() throws {
        var script = Self.script([UInt8](repeating: 7, count: 100_000))
        script.packets[3].replaceSubrange(2..<4, with: [0, 0])
        var file = SegmentScript.pcapHead(link: 101)
        for (index, packet) in script.packets.enumerated() {
            file += SegmentScript.record(packet, number: index, kept: 30_040)
        }
        let capture = try SegmentScript.opened(file)
        #expect(capture.shown.sockets.first?.received == 30_000)
        #expect(capture.shortcomings == ["70000 bytes missing"])
    }

    @Test("padding after a short packet is not part of it")
    func padded() throws {
        let script = Self.script(Array("hi".utf8))
        var file = SegmentScript.pcapHead(link: 101)
        for (index, packet) in script.packets.enumerated() {
            file += SegmentScript.record(packet + [1, 2, 3, 4, 5, 6], number: index)
        }
        #expect(try SegmentScript.opened(file).text(0, .received) == "hi")
    }

    @Test("raw IP has three numbers", arguments: [12, 14, 101])
    func raw(link: UInt16) throws {
        #expect(try Self.script(Array("hi".utf8)).opened(link: link).text(0, .received) == "hi")
    }

    @Test("a link type that is not read is named with its packets; if nothing was read, that is the file's problem")
    func unread() throws {
        let capture = try Self.script([1]).opened(link: 9, header: [0xFF, 3, 0, 0x21])
        #expect(capture.shortcomings == ["5 packets of an unsupported link type, PPP (9)"])
        #expect(
            capture.problemAtEnd
                == "nothing in it could be read: 5 packets of an unsupported link type, PPP (9)")
        #expect(try Self.script([1]).opened(link: 4_711).shortcomings.first?.hasSuffix("link type, 4711") == true)
        #expect(try SegmentScript().opened().problemAtEnd == nil)
    }

    // MARK: Damage

    private static func block(_ kind: UInt32, _ content: [UInt8], second: UInt32? = nil, isBig: Bool) -> [UInt8] {
        let length = UInt32(content.count + 12)
        return SegmentScript.number(kind, isBig: isBig) + SegmentScript.number(length, isBig: isBig) + content
            + SegmentScript.number(second ?? length, isBig: isBig)
    }

    private static func section(isBig: Bool) -> [UInt8] {
        func number(_ value: some FixedWidthInteger) -> [UInt8] { SegmentScript.number(value, isBig: isBig) }
        return block(
            0x0A0D_0D0A, number(UInt32(0x1A2B_3C4D)) + number(UInt16(1)) + number(UInt16(0)) + number(UInt64.max),
            isBig: isBig)
            + block(1, number(UInt16(101)) + number(UInt16(0)) + number(UInt32(0)), isBig: isBig)
    }

    private static func packet(_ bytes: [UInt8], claims count: Int? = nil, second: UInt32? = nil, isBig: Bool)
        -> [UInt8]
    {
        func number(_ value: Int) -> [UInt8] { SegmentScript.number(UInt32(value), isBig: isBig) }
        let padding = [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
        let head = number(0) + number(0) + number(0) + number(count ?? bytes.count) + number(bytes.count)
        return block(6, head + bytes + padding, second: second, isBig: isBig)
    }

    @Test("a block whose two lengths differ ends the reading, where it is", arguments: [false, true])
    func twoLengths(isBig: Bool) throws {
        let packets = Self.script(Array("hi".utf8)).packets
        let before = Self.section(isBig: isBig) + packets.prefix(4).flatMap { Self.packet($0, isBig: isBig) }
        var capture = OpenedCapture()
        let error = #expect(throws: CaptureError.self) {
            try capture.absorb(before + Self.packet(packets[4], second: 1_000, isBig: isBig))
        }
        #expect(
            error?.sentence
                == "the block at offset \(before.count) has two lengths, 72 and 1000; it and everything after it cannot be "
                + "trusted and are not read")
        #expect(capture.text(0, .received) == "hi")
    }

    @Test("a damaged block is told with its offset, and the rest is read")
    func damaged() throws {
        let packets = Self.script(Array("hi".utf8)).packets
        let section = Self.section(isBig: false)
        let file =
            section + Self.packet(packets[0], claims: 5_000, isBig: false)
            + packets.dropFirst().flatMap { Self.packet($0, isBig: false) }
        let capture = try SegmentScript.opened(file)
        #expect(capture.problemAtEnd == "a block at offset \(section.count) is damaged")
        #expect(capture.text(0, .received) == "hi")
        let cut = try SegmentScript.opened(Array(file.dropLast(7)))
        #expect(
            cut.problemAtEnd == "it ends after 65 bytes of a block at offset \(file.count - 72); the rest is missing")
    }
}
