import SocketCore

/// One sentence that says why a capture file can't be read further.
package struct CaptureError: Error, Equatable, Sendable {
    package var sentence: String
    package init(_ sentence: String) { self.sentence = sentence }
}

/// Reads pcapng and pcap, in either byte order, from bytes as they arrive. It keeps no more than one block.
///
/// A truncated file is read up to its last complete block. After an error nothing more can be read.
package struct CaptureReader: Sendable {
    /// One entry of a file.
    package enum Entry: Sendable {
        case interface(CaptureInterface)
        case packet(CapturedPacket)
        /// The name of an address.
        case name(IPAddress, String)
        /// Lines of a TLS key log.
        case secrets(ArraySlice<UInt8>)
        /// Frames of the inspection wire, from a socktui recording.
        case frames(ArraySlice<UInt8>)
        /// The program that wrote what follows, and its comment.
        case section(application: String, comment: String)
    }

    private enum Form {
        case unknown
        case pcapng
        case pcap(CaptureInterface, headerLength: Int)
    }

    /// The longest block, which is four times the longest that Wireshark writes.
    package static let blockLimit = 16 << 20
    /// The most interfaces of one section. Packets of others are counted as skipped.
    package static let interfaceLimit = 1 << 20

    private var gathered: [UInt8] = []
    private var head = 0
    private var isBigEndian = false
    private var form = Form.unknown
    private var interfaces: [CaptureInterface] = []
    private var waiting: [Entry] = []
    /// The time of the last packet.
    private var latest: Int64 = 0
    /// The number of bytes before the next block.
    package private(set) var offset: UInt64 = 0
    /// The number of blocks of unknown types.
    package private(set) var skipped: UInt64 = 0
    /// The number of blocks whose contents are invalid, and the offset of the first.
    package private(set) var damaged: (count: UInt64, first: UInt64) = (0, 0)
    /// The number of packets that its interfaces lost, as last reported by each, in this section and in earlier ones.
    package var lost: UInt64 { losses.values.reduce(lostBefore) { $0.saturatingAdd($1) } }
    private var losses: [UInt32: UInt64] = [:]
    private var lostBefore: UInt64 = 0

    package init() {}

    /// The number of bytes of an incomplete block.
    package var pending: Int { gathered.count - head }

    /// The problem of a file that ends here, or `nil` if there is none or it was thrown.
    package var problemAtEnd: String? {
        if case .unknown = form { return "it is neither pcapng nor pcap: it has \(pending) bytes" }
        if pending > 0 {
            return "it ends after \(pending) bytes of a block at offset \(offset); the rest is missing"
        }
        guard damaged.count > 0 else { return nil }
        return damaged.count == 1
            ? "a block at offset \(damaged.first) is damaged"
            : "\(damaged.count) blocks are damaged, the first at offset \(damaged.first)"
    }

    /// Appends the next bytes of the file.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        if head == gathered.count {
            gathered.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 1 << 20 {
            gathered.removeFirst(head)
            head = 0
        }
        gathered.append(contentsOf: bytes)
    }

    /// Drops the bytes of entries that were already returned.
    package mutating func compact() {
        gathered = Array(gathered[head...])
        head = 0
    }

    /// Returns the next entry of the file, or `nil` if more bytes are needed.
    package mutating func next() throws(CaptureError) -> Entry? {
        while true {
            if !waiting.isEmpty { return waiting.removeFirst() }
            let before = head
            let entry =
                switch form {
                case .unknown: try begin()
                case .pcapng: try nextBlock()
                case .pcap(let interface, let length): try nextRecord(interface, length)
                }
            if let entry {
                if case .packet(let packet) = entry { latest = packet.nanoseconds }
                return entry
            }
            guard head > before || !waiting.isEmpty else { return nil }
        }
    }

    private func cursor(_ count: Int) -> CaptureCursor? {
        guard pending >= count else { return nil }
        return CaptureCursor(gathered[head..<(head + count)], isBigEndian: isBigEndian)
    }

    private mutating func consume(_ count: Int) {
        head += count
        offset += UInt64(count)
    }

    private mutating func begin() throws(CaptureError) -> Entry? {
        isBigEndian = true
        guard var start = cursor(4), let magic: UInt32 = start.number() else { return nil }
        if magic == CaptureBlock.Kind.section.rawValue {
            form = .pcapng
            return try nextBlock()
        }
        guard let header = PcapHeader(magic: magic) else {
            throw CaptureError("it is neither pcapng nor pcap: it begins with \(String(magic, radix: 16))")
        }
        isBigEndian = header.isBigEndian
        guard var cursor = cursor(24) else { return nil }
        guard cursor.skip(20), let link: UInt32 = cursor.number() else { return nil }
        var interface = CaptureInterface(link: UInt16(truncatingIfNeeded: link))
        interface.unitsPerSecond = header.isNanoseconds ? 1_000_000_000 : 1_000_000
        form = .pcap(interface, headerLength: header.recordLength)
        consume(24)
        return .interface(interface)
    }

    // MARK: pcap

    private mutating func nextRecord(_ interface: CaptureInterface, _ header: Int) throws(CaptureError) -> Entry? {
        guard var fields = cursor(header), let seconds: UInt32 = fields.number(),
            let fraction: UInt32 = fields.number(), let captured: UInt32 = fields.number(),
            let length: UInt32 = fields.number()
        else { return nil }
        // A sparse file ends in zeros, which would be empty packets without end.
        guard seconds > 0 || fraction > 0 || captured > 0 || length > 0 else {
            throw CaptureError("only zeros follow at offset \(offset), where a packet should begin")
        }
        guard captured <= Self.blockLimit else { throw tooLong(captured, "a packet") }
        guard pending >= header + Int(captured) else { return nil }
        var packet = CapturedPacket(interface: 0, link: interface.link)
        packet.nanoseconds = interface.nanoseconds(UInt64(seconds) * interface.unitsPerSecond + UInt64(fraction))
        packet.bytes = gathered[(head + header)..<(head + header + Int(captured))]
        packet.length = max(Int(captured), Int(length))
        consume(header + Int(captured))
        return .packet(packet)
    }

    private func tooLong(_ length: UInt32, _ what: String) -> CaptureError {
        CaptureError("\(what) of \(length) bytes at offset \(offset); the limit is \(Self.blockLimit)")
    }

    // MARK: pcapng

    private mutating func nextBlock() throws(CaptureError) -> Entry? {
        guard var start = cursor(12), let number: UInt32 = start.number(), var length: UInt32 = start.number(),
            let order: UInt32 = start.number()
        else { return nil }
        // A section can change the byte order. Its block type reads the same in both.
        if number == CaptureBlock.Kind.section.rawValue {
            guard order == CaptureBlock.byteOrder || order.byteSwapped == CaptureBlock.byteOrder else {
                throw CaptureError("the section at offset \(offset) has no byte-order magic")
            }
            if order != CaptureBlock.byteOrder {
                isBigEndian.toggle()
                length = length.byteSwapped
            }
        }
        guard length >= 12, length % 4 == 0 else {
            throw CaptureError("a block of \(length) bytes at offset \(offset); must be a multiple of 4, at least 12")
        }
        guard length <= Self.blockLimit else { throw tooLong(length, "a block") }
        guard pending >= length else { return nil }
        let content = gathered[(head + 8)..<(head + Int(length) - 4)]
        var trailer = CaptureCursor(gathered[..<(head + Int(length))].suffix(4), isBigEndian: isBigEndian)
        let again: UInt32 = trailer.number() ?? 0
        guard again == length else {
            throw CaptureError(
                "the block at offset \(offset) has two lengths, \(length) and \(again); it and everything after it cannot be "
                    + "trusted and are not read")
        }
        let at = offset
        consume(Int(length))
        guard let kind = CaptureBlock.Kind(rawValue: number) else {
            skipped += 1
            return nil
        }
        guard let entry = read(kind, CaptureCursor(content, isBigEndian: isBigEndian)) else {
            if kind == .section || kind == .interface {
                throw CaptureError("the block at offset \(at) is too short")
            }
            if kind == .local || kind == .secrets { skipped += 1 }
            if kind.isOfPacket { damaged = (damaged.count + 1, damaged.count == 0 ? at : damaged.first) }
            return nil
        }
        return entry
    }

    private mutating func read(_ kind: CaptureBlock.Kind, _ content: CaptureCursor) -> Entry? {
        switch kind {
        case .section: section(content)
        case .interface: interface(content)
        case .packet: packet(content).map { .packet($0) }
        case .oldPacket: oldPacket(content).map { .packet($0) }
        case .simplePacket: simplePacket(content).map { .packet($0) }
        case .names: names(content)
        case .statistics: statistics(content)
        case .local: frames(content)
        case .secrets: secrets(content)
        }
    }

    private mutating func section(_ content: CaptureCursor) -> Entry? {
        var content = content
        guard content.skip(16) else { return nil }
        interfaces = []
        (lostBefore, losses) = (lost, [:])
        let options = CaptureOptions(content)
        return .section(application: options.text(4), comment: options.text(1))
    }

    private mutating func interface(_ content: CaptureCursor) -> Entry? {
        var content = content
        guard let link: UInt16 = content.number(), content.skip(2), let snapLength: UInt32 = content.number(),
            interfaces.count < Self.interfaceLimit
        else { return nil }
        let options = CaptureOptions(content)
        var interface = CaptureInterface(link: link)
        interface.snapLength = snapLength > 0 ? Int(snapLength) : .max
        (interface.name, interface.description) = (options.text(2), options.text(3))
        if let resolution = options[9]?.first { interface.resolution(resolution) }
        if let bytes = options[14], bytes.count == 8 {
            var cursor = CaptureCursor(bytes, isBigEndian: isBigEndian)
            let seconds: UInt64? = cursor.number()
            interface.secondsBefore = seconds.map { Int64(bitPattern: $0) } ?? 0
        }
        interfaces.append(interface)
        return .interface(interface)
    }

    private func packet(_ content: CaptureCursor) -> CapturedPacket? {
        var content = content
        guard let number: UInt32 = content.number(), let high: UInt32 = content.number(),
            let low: UInt32 = content.number(), let captured: UInt32 = content.number(),
            let length: UInt32 = content.number(), interfaces.indices.contains(Int(number)),
            let bytes = content.take(Int(captured))
        else { return nil }
        let interface = interfaces[Int(number)]
        var packet = CapturedPacket(interface: Int(number), link: interface.link)
        packet.nanoseconds = interface.nanoseconds(UInt64(high) << 32 | UInt64(low))
        packet.bytes = bytes
        packet.length = max(Int(captured), Int(length))
        guard content.skip((4 - Int(captured) % 4) % 4) else { return packet }
        let options = CaptureOptions(content)
        packet.comment = options.text(1)
        if let flags = options.number(2) { packet.isInbound = flags & 3 == 0 ? nil : flags & 3 == 1 }
        packet.dropped = options.number(4) ?? 0
        return packet
    }

    private func oldPacket(_ content: CaptureCursor) -> CapturedPacket? {
        var content = content
        guard let number: UInt16 = content.number(), let drops: UInt16 = content.number(),
            let high: UInt32 = content.number(), let low: UInt32 = content.number(),
            let captured: UInt32 = content.number(), let length: UInt32 = content.number(),
            interfaces.indices.contains(Int(number)), let bytes = content.take(Int(captured))
        else { return nil }
        let interface = interfaces[Int(number)]
        var packet = CapturedPacket(interface: Int(number), link: interface.link)
        packet.nanoseconds = interface.nanoseconds(UInt64(high) << 32 | UInt64(low))
        (packet.bytes, packet.length) = (bytes, max(Int(captured), Int(length)))
        packet.dropped = drops == .max ? 0 : UInt64(drops)
        return packet
    }

    /// Reads a simple packet, which has no time and gets that of the packet before it.
    private func simplePacket(_ content: CaptureCursor) -> CapturedPacket? {
        var content = content
        guard let length: UInt32 = content.number(), let interface = interfaces.first else { return nil }
        var packet = CapturedPacket(interface: 0, link: interface.link)
        packet.bytes = content.rest.prefix(min(Int(length), interface.snapLength))
        packet.length = Int(length)
        packet.nanoseconds = latest
        return packet
    }

    /// Reads an interface's counts since it was opened. Its packets may report fewer losses.
    private mutating func statistics(_ content: CaptureCursor) -> Entry? {
        var content = content
        guard let number: UInt32 = content.number(), content.skip(8), interfaces.indices.contains(Int(number)) else {
            return nil
        }
        losses[number] = CaptureOptions(content).number(5) ?? losses[number]
        return nil
    }

    private mutating func names(_ content: CaptureCursor) -> Entry? {
        var content = content
        while let kind: UInt16 = content.number(), let length: UInt16 = content.number(), kind != 0,
            let value = content.take(Int(length))
        {
            _ = content.skip((4 - Int(length) % 4) % 4)
            let size = kind == 1 ? 4 : 16
            guard kind <= 2, let address = IPAddress(networkBytes: value.prefix(size)), waiting.count < 1_024 else {
                continue
            }
            let name = value.dropFirst(size).prefix { $0 != 0 }
            waiting.append(.name(address, String(decoding: name, as: UTF8.self)))
        }
        return nil
    }

    private func secrets(_ content: CaptureCursor) -> Entry? {
        var content = content
        guard let kind: UInt32 = content.number(), kind == CaptureBlock.keyLog, let length: UInt32 = content.number(),
            let lines = content.take(Int(length))
        else { return nil }
        return .secrets(lines)
    }

    private func frames(_ content: CaptureCursor) -> Entry? {
        var content = content
        guard let magic = content.take(4), Array(magic) == CaptureBlock.magic, let version: UInt32 = content.number(),
            version == CaptureBlock.version, let length: UInt32 = content.number(),
            let frames = content.take(Int(length))
        else { return nil }
        return .frames(frames)
    }
}

/// The format that the first four bytes of a pcap file indicate.
private struct PcapHeader {
    var isBigEndian = true
    var isNanoseconds = false
    var recordLength = 16

    init?(magic: UInt32) {
        for candidate in [magic, magic.byteSwapped] {
            isBigEndian = candidate == magic
            switch candidate {
            case 0xA1B2_C3D4: return
            case 0xA1B2_3C4D:
                isNanoseconds = true
                return
            case 0xA1B2_CD34:
                // Kuznetzov's format has an interface, a protocol and a type after the lengths.
                recordLength = 24
                return
            default: continue
            }
        }
        return nil
    }
}
