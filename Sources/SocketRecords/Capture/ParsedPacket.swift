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
        /// The window as it is in the header, before scaling, or `nil` if it is not known.
        package var window: UInt16?
        /// The window scale that a SYN offers, or `nil` if it has none.
        package var scale: UInt8?

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
    /// The number of frames that carry neither TCP nor UDP.
    package private(set) var skipped: UInt64 = 0
    /// The number of frames whose headers are incomplete or contradict each other.
    package private(set) var broken: UInt64 = 0
    /// The frames of other link types.
    private(set) var unread = UnreadLinks()
    private var fragments = FragmentStore()

    package init() {}

    /// The number of fragments that were given up, for lack of room or of the rest.
    package var lostFragments: UInt64 { fragments.lost }

    /// Returns the contents of a packet, or `nil` if it is a fragment that completes no packet, or carries neither TCP
    /// nor UDP.
    package mutating func parse(_ packet: CapturedPacket) -> ParsedPacket? {
        var cursor = CaptureCursor(packet.bytes)
        guard let link = LinkType(rawValue: packet.link) else {
            unread.add(packet.link)
            return nil
        }
        guard Self.reachIP(&cursor, link), let first = cursor.rest.first else { return skip() }
        let wire = packet.length - (packet.bytes.count - cursor.left)
        switch first >> 4 {
        case 4: return parseIPv4(cursor, wire, packet.nanoseconds)
        case 6: return parseIPv6(cursor, wire, packet.nanoseconds)
        default: return skip()
        }
    }

    private mutating func skip() -> ParsedPacket? {
        skipped += 1
        return nil
    }

    private mutating func refuse() -> ParsedPacket? {
        broken += 1
        return nil
    }

    /// Returns the length of an IP packet, or of an IPv6 packet after its header, whose header says `said` and which
    /// has `wire` bytes in its frame. Packets that the network card splits or has joined have no length (0), or are
    /// longer than its 16 bits can say. Shorter frames are padded.
    private static func length(_ said: UInt16, wire: Int, captured: Int) -> Int {
        guard said == 0 || wire > UInt16.max else { return Int(said) }
        guard wire > longest else { return wire }
        return said == 0 ? captured : Int(said)
    }

    /// The longest packet that Linux builds, GSO_MAX_SIZE. A longer one is a mistake of the file.
    private static let longest = 8 * 65_536

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

    private mutating func parseIPv4(_ start: CaptureCursor, _ wire: Int, _ time: Int64) -> ParsedPacket? {
        var cursor = start
        guard let version = cursor.byte(), cursor.skip(1), let said: UInt16 = cursor.number(),
            let identification: UInt16 = cursor.number(), let fragment: UInt16 = cursor.number(), cursor.skip(1),
            let number = cursor.byte(), cursor.skip(2), let source = cursor.take(4), let destination = cursor.take(4)
        else { return refuse() }
        let header = Int(version & 15) * 4
        let total = Self.length(said, wire: wire, captured: start.left)
        guard header >= 20, total >= header, cursor.skip(header - 20),
            let from = IPAddress(networkBytes: source), let to = IPAddress(networkBytes: destination)
        else { return refuse() }
        let length = total - header
        let payload = cursor.rest.prefix(length)
        guard fragment & 0x3FFF != 0 else { return transport(number, from, to, payload, length) }
        let key = FragmentStore.Key(source: from, destination: to, identification: UInt32(identification), number)
        return whole(
            key, payload, at: Int(fragment & 0x1FFF) * 8, isLast: fragment & 0x2000 == 0, length, time)
    }

    private mutating func parseIPv6(_ start: CaptureCursor, _ wire: Int, _ time: Int64) -> ParsedPacket? {
        var cursor = start
        guard cursor.skip(4), let said: UInt16 = cursor.number(), let next = cursor.byte(), cursor.skip(1),
            let source = cursor.take(16), let destination = cursor.take(16),
            let from = IPAddress(networkBytes: source), let to = IPAddress(networkBytes: destination)
        else { return refuse() }
        return upper(next, from, to, cursor, Self.length(said, wire: wire - 40, captured: cursor.left), time)
    }

    /// Parses what follows an IPv6 header: further headers, then a fragment, TCP or UDP. `time` is `nil` for a packet
    /// that was put together, which contains no fragments.
    private mutating func upper(
        _ first: UInt8, _ from: IPAddress, _ to: IPAddress, _ start: CaptureCursor, _ whole: Int, _ time: Int64?
    ) -> ParsedPacket? {
        var (next, cursor, length) = (first, start, whole)
        for _ in 0..<8 where Self.extensions.contains(next) {
            let left = cursor.left
            guard let following = cursor.byte(), let size = cursor.byte() else { return refuse() }
            if next == 44 {
                guard let time, let place: UInt16 = cursor.number(), let identification: UInt32 = cursor.number() else {
                    return refuse()
                }
                let key = FragmentStore.Key(source: from, destination: to, identification: identification, following)
                return self.whole(
                    key, cursor.rest.prefix(max(0, length - 8)), at: Int(place & 0xFFF8), isLast: place & 1 == 0,
                    max(0, length - 8), time)
            }
            guard cursor.skip(next == 51 ? Int(size) * 4 + 6 : Int(size) * 8 + 6) else { return refuse() }
            next = following
            length -= left - cursor.left
        }
        guard length >= 0 else { return refuse() }
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
        guard case .v6 = key.source else {
            return transport(key.number, key.source, key.destination, whole[...], whole.count)
        }
        return upper(key.number, key.source, key.destination, CaptureCursor(whole[...]), whole.count, nil)
    }

    private mutating func transport(
        _ number: UInt8, _ from: IPAddress, _ to: IPAddress, _ bytes: ArraySlice<UInt8>, _ length: Int
    ) -> ParsedPacket? {
        guard number == 6 || number == 17 else { return skip() }
        var cursor = CaptureCursor(bytes)
        guard let source: UInt16 = cursor.number(), let destination: UInt16 = cursor.number() else { return refuse() }
        var packet = ParsedPacket(
            source: .init(from, source), destination: .init(to, destination), content: .udp, payload: [], missing: 0)
        var header = 8
        var length = length
        if number == 6 {
            guard let (segment, size) = Self.segment(&cursor) else { return refuse() }
            (packet.content, header) = (.tcp(segment), size)
        } else {
            guard let said: UInt16 = cursor.number() else { return refuse() }
            if said >= 8, length <= UInt16.max { length = min(length, Int(said)) }
        }
        guard length >= header else { return refuse() }
        packet.payload = bytes.dropFirst(header).prefix(length - header)
        packet.missing = length - header - packet.payload.count
        return packet
    }

    /// Reads a TCP header after the ports. Returns its contents and the header's length.
    private static func segment(_ cursor: inout CaptureCursor) -> (ParsedPacket.TCPSegment, Int)? {
        guard let sequence: UInt32 = cursor.number(), let acknowledges: UInt32 = cursor.number(),
            let offset = cursor.byte(), let flags = cursor.byte(), offset >> 4 >= 5
        else { return nil }
        var segment = ParsedPacket.TCPSegment(
            sequence: sequence, acknowledges: acknowledges, flags: .init(rawValue: flags))
        let header = Int(offset >> 4) * 4
        segment.window = cursor.number()
        if segment.flags.contains(.syn), cursor.skip(4) { segment.scale = scale(in: cursor.rest.prefix(header - 20)) }
        return (segment, header)
    }

    /// Returns the window scale among the options of a SYN (RFC 7323, 2.2).
    private static func scale(in options: ArraySlice<UInt8>) -> UInt8? {
        var cursor = CaptureCursor(options)
        while let kind = cursor.byte(), kind != 0 {
            if kind == 1 { continue }
            guard let length = cursor.byte(), length >= 2, let value = cursor.take(Int(length) - 2) else { return nil }
            if kind == 3 { return value.first.map { min($0, 14) } }
        }
        return nil
    }
}
