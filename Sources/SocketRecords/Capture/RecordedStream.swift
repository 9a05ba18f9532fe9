/// Turns a byte stream into packets: a handshake when it is established, one or more segments for each read and write,
/// and the recorded ends.
package struct RecordedStream: Sendable {
    /// The end that sent a packet.
    package enum Side: Sendable { case local, peer }

    /// One packet of the stream.
    package struct Packet: Sendable {
        /// The headers.
        package var head: [UInt8]
        /// The part of the payload that is kept.
        package var payload: ArraySlice<UInt8>
        package var side: Side
        /// The length on the wire, which is larger if the payload was truncated.
        package var length: Int

        /// The headers and the payload.
        package var frame: [UInt8] { head + payload }
    }

    private struct Half: Sendable {
        var next: UInt32
        /// The number that the other half has acknowledged.
        var acknowledged: UInt32
        var hasEnded = false
    }

    private let local: SyntheticPacket.End
    private let peer: SyntheticPacket.End
    private var localHalf: Half
    private var peerHalf: Half
    private var hasHandshake = false
    /// The most payload bytes that are kept of each packet.
    private let snap: Int

    /// The most bytes that one half sends before the other acknowledges: within the window, with or without the scaling
    /// of a SYN.
    private var mostUnacknowledged: UInt32 { hasHandshake ? 1 << 20 : 60_000 }

    /// Creates a stream between two ends. Each stream of a recording has its own first sequence numbers, derived from
    /// `number`.
    package init(local: SyntheticPacket.End, peer: SyntheticPacket.End, number: UInt64, snap: Int = .max) {
        (self.local, self.peer, self.snap) = (local, peer, snap)
        let first = UInt32(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) >> 32)
        localHalf = Half(next: first, acknowledged: first)
        peerHalf = Half(next: ~first, acknowledged: ~first)
    }

    /// Returns the three packets that open it. `isClient` is set if the local end connected.
    package mutating func establish(isClient: Bool) -> [Packet] {
        hasHandshake = true
        let (first, second): (Side, Side) = isClient ? (.local, .peer) : (.peer, .local)
        return [packet(from: first, .syn), packet(from: second, [.syn, .ack]), packet(from: first, .ack)]
    }

    /// Returns the packets that carry these bytes, which may be only the first of `length`.
    package mutating func carry(_ bytes: ArraySlice<UInt8>, length: Int? = nil, from side: Side) -> [Packet] {
        var packets: [Packet] = []
        var (rest, left) = (bytes, length ?? bytes.count)
        while left > 0 {
            let count = min(left, SyntheticPacket.mostPayload)
            let part = rest.prefix(count)
            (rest, left) = (rest.dropFirst(count), left - count)
            if unacknowledged(by: side) + UInt32(count) > mostUnacknowledged, unacknowledged(by: side) > 0 {
                packets.append(packet(from: side.other, .ack))
            }
            packets.append(packet(from: side, [.push, .ack], part, length: count))
        }
        return packets
    }

    /// Skips bytes that were not kept, which leaves a gap of their length before the next packet.
    package mutating func skip(_ count: UInt64, from side: Side) {
        change(side) { $0.next &+= UInt32(truncatingIfNeeded: count) }
    }

    /// Returns a packet without payload.
    package mutating func acknowledge(from side: Side) -> Packet { packet(from: side, .ack) }

    /// Returns the FIN of one end, once.
    package mutating func end(_ side: Side) -> [Packet] {
        guard !half(side).hasEnded else { return [] }
        return [packet(from: side, [.fin, .ack]), packet(from: side.other, .ack)]
    }

    /// Returns the RST of one end, after which neither end sends anything.
    package mutating func reset(_ side: Side) -> [Packet] {
        defer { (localHalf.hasEnded, peerHalf.hasEnded) = (true, true) }
        return [packet(from: side, [.reset, .ack])]
    }

    private func half(_ side: Side) -> Half { side == .local ? localHalf : peerHalf }

    private mutating func change(_ side: Side, _ change: (inout Half) -> Void) {
        if side == .local { change(&localHalf) } else { change(&peerHalf) }
    }

    private func unacknowledged(by side: Side) -> UInt32 { half(side).next &- half(side).acknowledged }

    private mutating func packet(
        from side: Side, _ flags: SyntheticPacket.Flags, _ payload: ArraySlice<UInt8> = [], length: Int = 0
    ) -> Packet {
        let ends = side == .local ? (local, peer) : (peer, local)
        let theirs = half(side.other).next
        let kept = payload.prefix(max(0, snap))
        let head = SyntheticPacket(from: ends.0, to: ends.1).tcpHead(
            flags, sequence: half(side).next, acknowledges: theirs, payload: kept, length: length)
        if flags.contains(.ack) { change(side.other) { $0.acknowledged = theirs } }
        change(side) { half in
            half.next &+= UInt32(length) &+ (flags.isDisjoint(with: [.syn, .fin]) ? 0 : 1)
            if flags.contains(.fin) { half.hasEnded = true }
        }
        return Packet(head: head, payload: kept, side: side, length: head.count + length)
    }
}

extension RecordedStream.Side {
    package var other: Self { self == .local ? .peer : .local }
}
