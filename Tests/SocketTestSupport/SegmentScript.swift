import SocketCore
import SocketRecords

/// Segments between a client and a server, written one by one by their numbers, as packets from the IP header on.
package struct SegmentScript {
    package typealias Flags = SyntheticPacket.Flags

    package enum Side: Sendable, CaseIterable {
        case client, server
    }

    package var client: SyntheticPacket.End
    package var server: SyntheticPacket.End
    /// The initial sequence number of each side.
    package var first: (client: UInt32, server: UInt32) = (1_000, 2_000_000)
    package var window: UInt16 = 64_240
    package var packets: [[UInt8]] = []

    package init(isIPv6: Bool = false, clientPort: UInt16 = 40_000, serverPort: UInt16 = 80) {
        func end(_ number: Int, _ port: UInt16) -> SyntheticPacket.End {
            SyntheticPacket.End(IPAddress(isIPv6 ? "fd00::\(number)" : "10.0.0.\(number)") ?? .v4(0), port)
        }
        (client, server) = (end(1, clientPort), end(2, serverPort))
    }

    /// Adds a segment. `at` and `ack` count from the initial numbers: a SYN is at 0, and the first byte at 1.
    package mutating func send(
        _ side: Side, _ flags: Flags = .ack, at offset: Int, ack: Int? = nil, _ text: String = "",
        options: [UInt8] = []
    ) {
        send(side, flags, at: offset, ack: ack, bytes: Array(text.utf8), options: options)
    }

    package mutating func send(
        _ side: Side, _ flags: Flags = .ack, at offset: Int, ack: Int? = nil, bytes: [UInt8], options: [UInt8] = []
    ) {
        let isClient = side == .client
        let (mine, theirs) = isClient ? (first.client, first.server) : (first.server, first.client)
        let (from, to) = isClient ? (client, server) : (server, client)
        let ends = Self.number(from.port) + Self.number(to.port)
        let sequence = Self.number(mine &+ UInt32(truncatingIfNeeded: offset))
        let acknowledges = ack.map { Self.number(theirs &+ UInt32(truncatingIfNeeded: $0)) } ?? [0, 0, 0, 0]
        let options = options + [UInt8](repeating: 1, count: (4 - options.count % 4) % 4)
        let flags = ack == nil ? flags.subtracting(.ack) : flags.union(.ack)
        let head = [UInt8(20 + options.count) << 2, flags.rawValue] + Self.number(window) + [0, 0, 0, 0] + options
        let segment = ends + sequence + acknowledges + head + bytes
        packets.append(Self.packet(6, segment, from: from.ip, to: to.ip))
    }

    /// Adds SYN, SYN-ACK and ACK.
    package mutating func handshake(options: [UInt8] = []) {
        send(.client, .syn, at: 0, options: options)
        send(.server, .syn, at: 0, ack: 1, options: options)
        send(.client, at: 1, ack: 1)
    }

    /// Adds a FIN of each side, the client's first, after so many bytes of each, and what acknowledges them.
    package mutating func close(client: Int, server: Int) {
        send(.client, .fin, at: 1 + client, ack: 1 + server)
        send(.server, at: 1 + server, ack: 2 + client)
        send(.server, .fin, at: 1 + server, ack: 2 + client)
        send(.client, at: 2 + client, ack: 2 + server)
    }

    /// Returns a packet with these contents, whose header says its length as far as 16 bits can.
    package static func packet(_ number: UInt8, _ contents: [UInt8], from: IPAddress, to: IPAddress) -> [UInt8] {
        let ends = from.networkBytes + to.networkBytes
        if ends.count == 32 {
            return [0x60, 0, 0, 0] + Self.number(UInt16(truncatingIfNeeded: contents.count)) + [number, 64] + ends
                + contents
        }
        let length = Self.number(UInt16(truncatingIfNeeded: contents.count + 20))
        return [0x45, 0] + length + [0, 0, 0x40, 0, 64, number, 0, 0] + ends + contents
    }

    package static func number(_ value: some FixedWidthInteger, isBig: Bool = true) -> [UInt8] {
        withUnsafeBytes(of: isBig ? value.bigEndian : value.littleEndian) { Array($0) }
    }

    /// The packets as a pcap file of raw IP, or of another link type with a header before each of them.
    package func pcap(link: UInt16 = 101, header: [UInt8] = []) -> [UInt8] {
        var file = Self.pcapHead(link: link)
        for (index, packet) in packets.enumerated() { file += Self.record(header + packet, number: index) }
        return file
    }

    package static func pcapHead(link: UInt16, isBig: Bool = false, isNano: Bool = false) -> [UInt8] {
        func number(_ value: some FixedWidthInteger) -> [UInt8] { Self.number(value, isBig: isBig) }
        return number(UInt32(isNano ? 0xA1B2_3C4D : 0xA1B2_C3D4)) + number(UInt16(2)) + number(UInt16(4))
            + [UInt8](repeating: 0, count: 8) + number(UInt32(262_144)) + number(UInt32(link))
    }

    /// Returns a record of a frame, ten milliseconds after the one before it, of which `kept` bytes are in the file.
    package static func record(
        _ frame: [UInt8], number index: Int, kept: Int = .max, isBig: Bool = false, isNano: Bool = false
    ) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { Self.number(UInt32(value), isBig: isBig) }
        let captured = frame.prefix(kept)
        let (seconds, hundredths) = index.quotientAndRemainder(dividingBy: 100)
        return number(1_700_000_000 + seconds) + number(hundredths * (isNano ? 10_000_000 : 10_000))
            + number(captured.count) + number(frame.count) + captured
    }

    /// What is read from the file.
    package func opened(link: UInt16 = 101, header: [UInt8] = []) throws -> OpenedCapture {
        try Self.opened(pcap(link: link, header: header))
    }

    package static func opened(_ file: [UInt8]) throws -> OpenedCapture {
        var capture = OpenedCapture()
        try capture.absorb(file)
        capture.finish()
        return capture
    }
}

extension OpenedCapture {
    /// Its sessions, and all events.
    package var shown: EngineSnapshot {
        snapshot(SnapshotRequest(eventsFrom: 0), named: "x")
            ?? EngineSnapshot(engine: "", time: .zero, wallNanoseconds: 0)
    }

    /// The text that one end of a session sent, with `?` for each byte that is missing.
    package func text(_ session: Int, _ direction: TrafficItem.Direction) -> String {
        let items = traffic(of: shown.sockets[session].id).items.filter { $0.direction == direction }
        return items.map {
            String(repeating: "?", count: Int($0.skipped)) + String(decoding: $0.bytes, as: UTF8.self)
        }.joined()
    }
}
