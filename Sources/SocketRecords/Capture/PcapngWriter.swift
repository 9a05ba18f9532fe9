import SocketCore

/// Writes the blocks of a pcapng file, in little-endian order with times in nanoseconds.
///
/// Every interface has the same link type and snaplen, because libpcap refuses a file whose interfaces differ in
/// either.
package struct PcapngWriter: Sendable {
    /// The bytes after `parts` that were written since `take()`.
    private var tail: [UInt8] = []
    /// The bytes before `tail`: blocks, and long payload that was not copied.
    private var parts: [ArraySlice<UInt8>] = []
    private var partsCount = 0
    /// The number of interfaces described since the last section header.
    package private(set) var interfaces: UInt32 = 0

    package static let snapLength = 262_144
    /// The length from which payload is not copied.
    private static let longPayload = 4_096

    package init() {}

    /// The blocks written since `take()`.
    package var bytes: [UInt8] { parts.flatMap { $0 } + tail }
    /// The number of bytes written since `take()`.
    package var count: Int { partsCount + tail.count }

    /// Returns the blocks written since the last call, and removes them.
    package mutating func take() -> [UInt8] { Array(takeParts().joined()) }

    /// Returns the blocks written since the last call in parts, without copying long payload, and removes them.
    package mutating func takeParts() -> [ArraySlice<UInt8>] {
        endPart()
        defer { (parts, partsCount) = ([], 0) }
        return parts
    }

    private mutating func endPart() {
        guard !tail.isEmpty else { return }
        add(tail[...])
        tail = []
    }

    /// Adds bytes within a block, without copying long ones.
    private mutating func addPayload(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= Self.longPayload else { return tail += bytes }
        endPart()
        add(bytes)
    }

    private mutating func add(_ part: ArraySlice<UInt8>) {
        parts.append(part)
        partsCount += part.count
    }

    /// Begins a section, which drops the interfaces of the previous one.
    package mutating func section(application: String, comment: String) {
        interfaces = 0
        block(.section) { block in
            block.append(little: CaptureBlock.byteOrder)
            block.append(little: UInt16(1))
            block.append(little: UInt16(0))
            block.append(little: UInt64.max)
            block.option(1, text: comment)
            block.option(4, text: application)
            block.endOfOptions()
        }
    }

    /// Describes an interface and returns its number. `filter` is the filter of its packets in tcpdump's syntax.
    package mutating func interface(
        name: String, description: String, link: UInt16 = LinkType.ethernet.rawValue, filter: String = ""
    ) -> UInt32 {
        defer { interfaces += 1 }
        block(.interface) { block in
            block.append(little: link)
            block.append(little: UInt16(0))
            block.append(little: UInt32(Self.snapLength))
            block.option(2, text: name)
            block.option(3, text: description)
            block.option(9, [9])
            // Code 0 means a text.
            if !filter.isEmpty { block.option(11, [0] + Array(filter.utf8)) }
            block.endOfOptions()
        }
        return interfaces
    }

    /// Writes a packet, whose payload can be passed separately. `length` is its length on the wire, of which these
    /// bytes may be only the beginning.
    package mutating func packet(
        _ frame: [UInt8], _ payload: ArraySlice<UInt8> = [], length: Int, interface: UInt32, nanoseconds: UInt64,
        notes: PacketNotes
    ) {
        var ending = [UInt8](repeating: 0, count: -(frame.count + payload.count) & 3)
        notes.append(to: &ending)
        let whole = UInt32(32 + frame.count + payload.count + ending.count)
        tail.append(little: CaptureBlock.Kind.packet.rawValue)
        tail.append(little: whole)
        tail.append(little: interface)
        tail.append(little: UInt32(truncatingIfNeeded: nanoseconds >> 32))
        tail.append(little: UInt32(truncatingIfNeeded: nanoseconds))
        tail.append(little: UInt32(frame.count + payload.count))
        tail.append(little: UInt32(clamping: length))
        tail += frame
        addPayload(payload)
        tail += ending
        tail.append(little: whole)
    }

    /// Writes how many packets an interface received, and how many of them were lost for lack of room.
    package mutating func statistics(interface: UInt32, nanoseconds: UInt64, _ counts: CaptureCounts) {
        block(.statistics) { block in
            block.append(little: interface)
            block.append(little: UInt32(truncatingIfNeeded: nanoseconds >> 32))
            block.append(little: UInt32(truncatingIfNeeded: nanoseconds))
            for (code, count) in [(UInt16(4), counts.received), (5, counts.dropped)] {
                var number: [UInt8] = []
                number.append(little: count)
                block.option(code, number)
            }
            block.endOfOptions()
        }
    }

    /// Writes the name of an address, in a block of its own.
    package mutating func name(_ name: String, of address: IPAddress) {
        block(.names) { block in
            let bytes = address.networkBytes
            let text = Array(name.utf8.filter { $0 != 0 }.prefix(255))
            block.append(little: UInt16(bytes.count == 4 ? 1 : 2))
            block.append(little: UInt16(bytes.count + text.count + 1))
            block += bytes + text + [0]
            block.padToWords()
            block.append(little: UInt32(0))
        }
    }

    /// Writes lines of a TLS key log, which decrypt the packets that follow.
    package mutating func secrets(_ lines: [UInt8]) {
        block(.secrets) { block in
            block.append(little: CaptureBlock.keyLog)
            block.append(little: UInt32(lines.count))
            block += lines
        }
    }

    /// Writes frames of the inspection wire, in a block that other readers skip.
    package mutating func frames(_ frames: [UInt8]) {
        let padding = -frames.count & 3
        let whole = UInt32(24 + frames.count + padding)
        tail.append(little: CaptureBlock.Kind.local.rawValue)
        tail.append(little: whole)
        tail += CaptureBlock.magic
        tail.append(little: CaptureBlock.version)
        tail.append(little: UInt32(frames.count))
        addPayload(frames[...])
        tail += [UInt8](repeating: 0, count: padding)
        tail.append(little: whole)
    }

    private mutating func block(_ kind: CaptureBlock.Kind, _ content: (inout [UInt8]) -> Void) {
        let start = tail.count
        tail.append(little: kind.rawValue)
        tail.append(little: UInt32(0))
        content(&tail)
        while (tail.count - start) % 4 != 0 { tail.append(0) }
        let length = UInt32(tail.count - start + 4)
        tail.append(little: length)
        for offset in 0..<4 { tail[start + 4 + offset] = UInt8(truncatingIfNeeded: length >> (8 * offset)) }
    }
}

/// The block types of pcapng, and the header of the inspection block.
package enum CaptureBlock {
    enum Kind: UInt32 {
        case section = 0x0A0D_0D0A
        case interface = 1
        case oldPacket = 2
        case simplePacket = 3
        case names = 4
        case statistics = 5
        case packet = 6
        case secrets = 10
        case local = 0x8000_0A51

        var isOfPacket: Bool { self == .packet || self == .simplePacket || self == .oldPacket }
    }

    static let byteOrder: UInt32 = 0x1A2B_3C4D
    static let keyLog: UInt32 = 0x544C_534B
    static let magic = Array("STUI".utf8)
    static let version: UInt32 = 1

    /// Returns the length of the complete little-endian blocks among the first `count` bytes.
    package static func whole(_ bytes: [UInt8], upTo count: Int) -> Int {
        var end = 0
        while end + 12 <= count {
            let length = bytes[(end + 4)..<(end + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
            guard length >= 12, end + length <= count else { break }
            end += length
        }
        return end
    }
}

/// The kernel's counts of a capture.
package struct CaptureCounts: Equatable, Sendable {
    /// The number of packets that passed the filter.
    package var received: UInt64 = 0
    /// The number of those that were lost for lack of room.
    package var dropped: UInt64 = 0

    package init() {}
}

/// The options of a packet block.
package struct PacketNotes: Equatable, Sendable {
    /// Whether the packet was received rather than sent, or `nil` if that isn't known.
    package var isInbound: Bool?
    package var comment = ""
    /// The number of packets lost between the previous packet and this one.
    package var dropped: UInt64 = 0
    /// A number that packets of the same origin share, or 0 for none.
    package var packet: UInt64 = 0

    package init(isInbound: Bool? = nil, comment: String = "", dropped: UInt64 = 0, packet: UInt64 = 0) {
        (self.isInbound, self.comment, self.dropped, self.packet) = (isInbound, comment, dropped, packet)
    }

    fileprivate func append(to block: inout [UInt8]) {
        var little: [UInt8] = []
        if !comment.isEmpty { block.option(1, text: comment) }
        if let isInbound { block.option(2, [isInbound ? 1 : 2, 0, 0, 0]) }
        if dropped > 0 {
            little.append(little: dropped)
            block.option(4, little)
        }
        if packet > 0 {
            little = []
            little.append(little: packet)
            block.option(5, little)
        }
        block.endOfOptions()
    }
}

extension [UInt8] {
    fileprivate mutating func option(_ code: UInt16, text: String) { option(code, Array(text.utf8)) }

    fileprivate mutating func option(_ code: UInt16, _ value: [UInt8]) {
        guard !value.isEmpty else { return }
        let value = value.prefix(60_000)
        append(little: code)
        append(little: UInt16(value.count))
        self += value
        for _ in 0..<((4 - value.count % 4) % 4) { append(0) }
    }

    fileprivate mutating func endOfOptions() { append(little: UInt32(0)) }
}

extension IPAddress {
    /// The 4 or 16 bytes in network order.
    package var networkBytes: [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .v4(let bits): bytes.append(big: UInt32(bigEndian: bits))
        case .v6(let high, let low):
            bytes.append(big: UInt64(bigEndian: high))
            bytes.append(big: UInt64(bigEndian: low))
        }
        return bytes
    }

    /// Creates an address from 4 or 16 bytes in network order. Returns `nil` for any other number of bytes.
    package init?(networkBytes bytes: ArraySlice<UInt8>) {
        var cursor = CaptureCursor(bytes)
        switch bytes.count {
        case 4:
            guard let bits: UInt32 = cursor.number() else { return nil }
            self = .v4(bits.bigEndian)
        case 16:
            guard let high: UInt64 = cursor.number(), let low: UInt64 = cursor.number() else { return nil }
            self = .v6(high.bigEndian, low.bigEndian)
        default: return nil
        }
    }
}
