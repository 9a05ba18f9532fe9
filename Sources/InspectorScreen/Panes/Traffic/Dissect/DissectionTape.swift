import SocketCore
import SocketRecords

/// Makes packets from one session's traffic, so that another program can dissect them: a segment for each read and
/// write, a datagram for each datagram, in a pcapng file that grows while the session lasts.
package struct DissectionTape: Sendable {
    /// The addresses of the packets. An end without an IP address gets one of loopback.
    package let ends: (local: SyntheticPacket.End, peer: SyntheticPacket.End)
    private let isStream: Bool
    private var writer = PcapngWriter()
    private var stream: RecordedStream
    /// Items before this one are written, except those that were in progress.
    private var next: UInt64 = 0
    /// The number of bytes written of each item in progress.
    private var begun: [UInt64: Int] = [:]
    /// The item of each frame that carries bytes.
    private var items: [Int: UInt64] = [:]
    private var frames = 0
    /// The number of bytes produced so far.
    package private(set) var length = 0

    package init(_ socket: SocketSnapshot) {
        isStream = socket.role != .datagram
        let isClient = socket.role != .accepted
        ends = SyntheticPacket.ends(
            of: RecordedSession(
                id: socket.id, local: socket.local, peer: socket.peer, isClient: isClient, role: socket.role,
                target: socket.target))
        stream = RecordedStream(local: ends.local, peer: ends.peer, number: socket.id.number)
        writer.section(application: "socktui", comment: "")
        _ = writer.interface(name: "\(socket.id)", description: socket.target)
        guard isStream else { return }
        for packet in stream.establish(isClient: isClient) { write(packet.frame, length: packet.length, at: 0) }
    }

    /// Returns the item whose bytes a frame carries. Frames are numbered from 1.
    package func item(ofFrame number: Int) -> UInt64? { items[number] }

    /// Returns the frames that carry an item.
    package func frames(of item: UInt64) -> [Int] { items.filter { $0.value == item }.map(\.key).sorted() }

    /// Whether there are new items that belong before those already written.
    func isOvertaken(by traffic: [TrafficItem]) -> Bool {
        guard let first = traffic.first?.sequence, first < next, let oldest else { return false }
        return first < oldest
    }

    /// The oldest item that was written.
    private var oldest: UInt64?

    /// Whether every item that was begun is written in full.
    var isWhole: Bool { begun.isEmpty }

    /// Returns the new blocks since the last call. `wall` converts an instant to nanoseconds since 1970.
    mutating func absorb(_ traffic: [TrafficItem], wall: (MonotonicTime) -> UInt64) -> [UInt8] {
        let unfinished = begun.keys.min() ?? next
        let start = traffic.lastIndex { $0.sequence < min(next, unfinished) }.map { $0 + 1 } ?? 0
        for item in traffic[start...] where item.sequence >= next || begun[item.sequence] != nil {
            if oldest == nil { oldest = item.sequence }
            if isStream { carry(item, at: wall(item.time)) } else { datagram(item, at: wall(item.time)) }
            next = max(next, item.sequence + 1)
        }
        // Items dropped for lack of room will never be completed.
        if let first = traffic.first?.sequence { begun = begun.filter { $0.key >= first } }
        let bytes = writer.take()
        length += bytes.count
        return bytes
    }

    private mutating func carry(_ item: TrafficItem, at time: UInt64) {
        let side: RecordedStream.Side = item.direction == .sent ? .local : .peer
        let written = begun[item.sequence] ?? 0
        if written == 0, begun[item.sequence] == nil { stream.skip(item.skipped, from: side) }
        var packets = stream.carry(item.bytes.dropFirst(written), from: side)
        begun[item.sequence] = item.bytes.count
        if item.state != .inProgress {
            begun[item.sequence] = nil
            stream.skip(UInt64(item.missingBytes), from: side)
            packets += stream.carry(item.tail[...], from: side)
        }
        for packet in packets {
            write(packet.frame, length: packet.length, at: time)
            if packet.side == side { items[frames] = item.sequence }
        }
    }

    private mutating func datagram(_ item: TrafficItem, at time: UInt64) {
        guard item.state != .inProgress else { return }
        var (local, peer) = ends
        if let ip = item.address?.ip, let port = item.address?.port { peer = .init(ip, port) }
        if local.ip.networkBytes.count != peer.ip.networkBytes.count { local.ip = peer.ip }
        let isSent = item.direction == .sent
        let frame = SyntheticPacket(from: isSent ? local : peer, to: isSent ? peer : local).udp(
            item.bytes.prefix(SyntheticPacket.mostPayload))
        write(frame, length: frame.count, at: time)
        items[frames] = item.sequence
    }

    private mutating func write(_ frame: [UInt8], length: Int, at time: UInt64) {
        writer.packet(frame, length: length, interface: 0, nanoseconds: time, notes: PacketNotes())
        frames += 1
    }
}
