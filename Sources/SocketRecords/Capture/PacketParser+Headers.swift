extension PacketParser {
    /// Returns the number of bytes before a packet's payload. If it is neither TCP, UDP nor ICMP, the payload begins
    /// after the IP header, and if it is not IP, after the Ethernet header.
    package static func headers(of packet: CapturedPacket) -> Int {
        let ethernet = min(14, packet.bytes.count)
        var cursor = CaptureCursor(packet.bytes)
        guard let link = LinkType(rawValue: packet.link), reachIP(&cursor, link), let first = cursor.rest.first else {
            return ethernet
        }
        let transport = first >> 4 == 4 ? skipIPv4(&cursor) : first >> 4 == 6 ? skipIPv6(&cursor) : nil
        let before = cursor.index - packet.bytes.startIndex
        switch transport {
        case 6: return before + (cursor.rest.dropFirst(12).first.map { Int($0 >> 4) * 4 } ?? 0)
        case 1, 17, 58: return before + 8
        default: return before
        }
    }

    /// Skips the header. Returns the protocol that follows, or `nil` if it doesn't begin here.
    private static func skipIPv4(_ cursor: inout CaptureCursor) -> UInt8? {
        let start = cursor
        guard let version = cursor.byte(), cursor.skip(5), let fragment: UInt16 = cursor.number(), cursor.skip(1),
            let number = cursor.byte()
        else { return nil }
        cursor = start
        guard cursor.skip(Int(version & 15) * 4) else { return nil }
        return fragment & 0x1FFF == 0 ? number : nil
    }

    private static func skipIPv6(_ cursor: inout CaptureCursor) -> UInt8? {
        guard cursor.skip(6), var next = cursor.byte(), cursor.skip(33) else { return nil }
        for _ in 0..<8 where extensions.contains(next) {
            let start = cursor
            guard let following = cursor.byte(), let size = cursor.byte(), let place: UInt16 = cursor.number() else {
                return nil
            }
            let isFragment = next == 44
            cursor = start
            guard cursor.skip(isFragment ? 8 : next == 51 ? Int(size) * 4 + 8 : Int(size) * 8 + 8) else { return nil }
            if isFragment, place & 0xFFF8 != 0 { return nil }
            next = following
        }
        return next
    }
}
