import SocketCore
import SocketRecords

/// A small recording for tests, and what they read of one.
package enum SampleCapture {
    /// The ends of the recorded connection.
    package static let client = SyntheticPacket.End(IPAddress("127.0.0.1")!, 40_000)
    package static let server = SyntheticPacket.End(IPAddress("127.0.0.1")!, 6_379)

    /// A conversation of two messages, with handshake and FINs, as a recording has it.
    package static func recording(_ hello: String = "PING\r\n", _ answer: String = "+PONG\r\n", snap: Int = .max)
        -> [UInt8]
    {
        var writer = PcapngWriter()
        writer.section(application: "socktui", comment: "IP and TCP headers are synthesized")
        let interface = writer.interface(name: "#7 127.0.0.1:6379", description: "client")
        var stream = RecordedStream(local: client, peer: server, number: 7, snap: snap)
        var packets = stream.establish(isClient: true)
        packets += stream.carry(Array(hello.utf8)[...], from: .local)
        packets += stream.carry(Array(answer.utf8)[...], from: .peer)
        packets += stream.end(.local) + stream.end(.peer)
        for (index, packet) in packets.enumerated() {
            writer.packet(
                packet.frame, length: packet.length, interface: interface,
                nanoseconds: 1_700_000_000_000_000_000 + UInt64(index),
                notes: PacketNotes(isInbound: packet.side == .peer, comment: "packet \(index)"))
        }
        return writer.bytes
    }

    /// The entries of a file that arrives in pieces of `step` bytes.
    package static func entries(_ bytes: [UInt8], step: Int = .max) throws -> [CaptureReader.Entry] {
        var reader = CaptureReader()
        var entries: [CaptureReader.Entry] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            reader.append(rest.prefix(step))
            rest = rest.dropFirst(step)
            while let entry = try reader.next() { entries.append(entry) }
        }
        return entries
    }

    /// The sessions of a file.
    package static func sessions(_ bytes: [UInt8]) throws -> CapturedSessions {
        var sessions = CapturedSessions()
        for entry in try entries(bytes) {
            switch entry {
            case .interface(let interface): sessions.add(interface)
            case .packet(let packet): sessions.absorb(packet)
            case .section: sessions.beginSection()
            case .name, .frames, .secrets: break
            }
        }
        sessions.finish()
        return sessions
    }

    /// The kept bytes of a session in one direction, as text.
    package static func text(_ session: CapturedSession?, _ direction: TrafficItem.Direction) -> String {
        let items = session?.traffic.items.filter { $0.direction == direction } ?? []
        return String(decoding: items.flatMap(\.bytes), as: UTF8.self)
    }
}
