import SocketCore

/// The TCP or UDP contents of a frame.
package struct ParsedPacket: Sendable {
    package enum Content: Sendable {
        case tcp(TCPSegment)
        case udp
    }

    package struct TCPSegment: Equatable, Sendable {
        package var sequence: UInt32
        package var acknowledges: UInt32
        package var flags: SyntheticPacket.Flags

        package init(sequence: UInt32, acknowledges: UInt32 = 0, flags: SyntheticPacket.Flags = .ack) {
            (self.sequence, self.acknowledges, self.flags) = (sequence, acknowledges, flags)
        }
    }

    package var source: SyntheticPacket.End
    package var destination: SyntheticPacket.End
    package var content: Content
    package var payload: ArraySlice<UInt8>
    /// The number of payload bytes that were on the wire but are not in the file.
    package var missing: Int
}

/// Finds TCP and UDP in frames of any link type, and reassembles fragments.
package struct PacketParser: Sendable {
    /// The number of frames that carry neither TCP nor UDP, or are truncated before their payload.
    package private(set) var skipped: UInt64 = 0
    private var fragments = FragmentStore()

    package init() {}

    /// The number of fragments that were given up, for lack of room or of the rest.
    package var lostFragments: UInt64 { fragments.lost }

    /// Returns the contents of a packet, or `nil` if it is a fragment that completes no packet, or carries neither TCP
    /// nor UDP.
    package mutating func parse(_ packet: CapturedPacket) -> ParsedPacket? {
        var cursor = CaptureCursor(packet.bytes)
        guard let link = LinkType(rawValue: packet.link), Self.reachIP(&cursor, link),
            let first = cursor.rest.first
        else { return skip() }
        switch first >> 4 {
        case 4: return parseIPv4(cursor, packet.nanoseconds)
        case 6: return parseIPv6(cursor, packet.nanoseconds)
        default: return skip()
        }
    }

    private mutating func skip() -> ParsedPacket? {
        skipped += 1
        return nil
    }

    /// Moves to the IP header. Returns `false` if there is none.
    static func reachIP(_ cursor: inout CaptureCursor, _ link: LinkType) -> Bool {
        switch link {
        case .raw, .ipv4, .ipv6: return true
        case .null, .loop: return cursor.skip(4)
        case .ethernet: return cursor.skip(12) && reachIP(&cursor)
        case .cooked: return cursor.skip(14) && reachIP(&cursor)
        case .cooked2:
            guard let type: UInt16 = cursor.number(), cursor.skip(18) else { return false }
            return isIP(type) || isTag(type) && cursor.skip(2) && reachIP(&cursor)
        }
    }

    /// Skips an EtherType and any VLAN tags before the IP header.
    private static func reachIP(_ cursor: inout CaptureCursor) -> Bool {
        for _ in 0..<4 {
            guard let type: UInt16 = cursor.number() else { return false }
            if isIP(type) { return true }
            guard isTag(type), cursor.skip(2) else { return false }
        }
        return false
    }

    private static func isIP(_ type: UInt16) -> Bool { type == 0x0800 || type == 0x86DD }
    private static func isTag(_ type: UInt16) -> Bool { [0x8100, 0x88A8, 0x9100].contains(type) }

    private mutating func parseIPv4(_ start: CaptureCursor, _ time: Int64) -> ParsedPacket? {
        var cursor = start
        guard let version = cursor.byte(), cursor.skip(1), var total: UInt16 = cursor.number(),
            let identification: UInt16 = cursor.number(), let fragment: UInt16 = cursor.number(), cursor.skip(1),
            let number = cursor.byte(), cursor.skip(2), let source = cursor.take(4), let destination = cursor.take(4)
        else { return skip() }
        let header = Int(version & 15) * 4
        // A segment that the network card will split has no length yet.
        if total == 0 { total = UInt16(clamping: start.left) }
        guard header >= 20, total >= header, cursor.skip(header - 20),
            let from = IPAddress(networkBytes: source), let to = IPAddress(networkBytes: destination)
        else { return skip() }
        let length = Int(total) - header
        let payload = cursor.rest.prefix(length)
        guard fragment & 0x3FFF != 0 else { return transport(number, from, to, payload, length) }
        let key = FragmentStore.Key(source: from, destination: to, identification: UInt32(identification), number)
        return whole(
            key, payload, at: Int(fragment & 0x1FFF) * 8, isLast: fragment & 0x2000 == 0, length, time)
    }

    private mutating func parseIPv6(_ start: CaptureCursor, _ time: Int64) -> ParsedPacket? {
        var cursor = start
        guard cursor.skip(4), let total: UInt16 = cursor.number(), var next = cursor.byte(), cursor.skip(1),
            let source = cursor.take(16), let destination = cursor.take(16),
            let from = IPAddress(networkBytes: source), let to = IPAddress(networkBytes: destination)
        else { return skip() }
        var length = total == 0 ? cursor.left : Int(total)
        for _ in 0..<8 where Self.extensions.contains(next) {
            let left = cursor.left
            guard let following = cursor.byte(), let size = cursor.byte() else { return skip() }
            if next == 44 {
                guard let place: UInt16 = cursor.number(), let identification: UInt32 = cursor.number() else {
                    return skip()
                }
                let key = FragmentStore.Key(source: from, destination: to, identification: identification, following)
                return whole(
                    key, cursor.rest.prefix(max(0, length - 8)), at: Int(place & 0xFFF8), isLast: place & 1 == 0,
                    max(0, length - 8), time)
            }
            guard cursor.skip(next == 51 ? Int(size) * 4 + 6 : Int(size) * 8 + 6) else { return skip() }
            next = following
            length -= left - cursor.left
        }
        guard length >= 0 else { return skip() }
        return transport(next, from, to, cursor.rest.prefix(length), length)
    }

    /// The hop-by-hop, routing, fragment, authentication and destination options headers.
    static let extensions: Set<UInt8> = [0, 43, 44, 51, 60]

    private mutating func whole(
        _ key: FragmentStore.Key, _ bytes: ArraySlice<UInt8>, at offset: Int, isLast: Bool, _ length: Int, _ time: Int64
    ) -> ParsedPacket? {
        guard bytes.count == length else {
            fragments.lose()
            return nil
        }
        guard let whole = fragments.add(bytes, at: offset, isLast: isLast, of: key, time) else { return nil }
        return transport(key.number, key.source, key.destination, whole[...], whole.count)
    }

    private mutating func transport(
        _ number: UInt8, _ from: IPAddress, _ to: IPAddress, _ bytes: ArraySlice<UInt8>, _ length: Int
    ) -> ParsedPacket? {
        var cursor = CaptureCursor(bytes)
        guard number == 6 || number == 17, let source: UInt16 = cursor.number(),
            let destination: UInt16 = cursor.number()
        else { return skip() }
        var packet = ParsedPacket(
            source: .init(from, source), destination: .init(to, destination), content: .udp, payload: [], missing: 0)
        var header = 8
        var length = length
        if number == 6 {
            guard let sequence: UInt32 = cursor.number(), let acknowledges: UInt32 = cursor.number(),
                let offset = cursor.byte(), let flags = cursor.byte()
            else { return skip() }
            header = Int(offset >> 4) * 4
            guard header >= 20 else { return skip() }
            packet.content = .tcp(
                .init(sequence: sequence, acknowledges: acknowledges, flags: .init(rawValue: flags)))
        } else {
            guard let said: UInt16 = cursor.number() else { return skip() }
            if said >= 8 { length = min(length, Int(said)) }
        }
        guard length >= header else { return skip() }
        packet.payload = bytes.dropFirst(header).prefix(length - header)
        packet.missing = length - header - packet.payload.count
        return packet
    }
}
