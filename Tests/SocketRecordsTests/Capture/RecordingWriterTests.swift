import SocketCore
import SocketRecords
import SocketTestSupport
import Testing

@Suite("Recordings of an engine that has both ends")
struct RecordingWriterTests {
    private static let client = SocketAddress.v4(host: "127.0.0.1", port: 40_000)
    private static let server = SocketAddress.v4(host: "127.0.0.1", port: 6_379)

    private static func session(
        _ number: UInt64, _ local: SocketAddress?, _ peer: SocketAddress?, isClient: Bool, target: String = "here"
    ) -> RecordedEntry {
        let session = RecordedSession(
            id: SocketID(number), local: local, peer: peer, isClient: isClient, role: isClient ? .client : .accepted,
            target: target)
        return RecordedEntry(session.id, at: .zero, .session(session, isNew: true))
    }

    private static func bytes(_ number: UInt64, _ text: String, isSent: Bool, isPlain: Bool = false) -> RecordedEntry {
        RecordedEntry(
            SocketID(number), at: .zero,
            .bytes(Array(text.utf8)[...], length: text.utf8.count, isSent: isSent, isPlain: isPlain))
    }

    /// The names and descriptions of interfaces, and each packet's number of interface and ends.
    private static func read(_ bytes: [UInt8]) throws -> (interfaces: [CaptureInterface], ends: [String]) {
        var parser = PacketParser()
        var found: (interfaces: [CaptureInterface], ends: [String]) = ([], [])
        for entry in try SampleCapture.entries(bytes) {
            if case .interface(let interface) = entry { found.interfaces.append(interface) }
            guard case .packet(let packet) = entry, let parsed = parser.parse(packet) else { continue }
            let ends = [parsed.source, parsed.destination].map { SocketAddress($0.ip, port: $0.port).description }
            found.ends.append("\(packet.interface) \(ends[0]) \(ends[1])")
        }
        return found
    }

    @Test("the second end has addresses of its own, and its interface says which it had")
    func bothEnds() throws {
        var writer = RecordingWriter(application: "socktui", zero: 0)
        writer.add(Self.session(7, Self.client, Self.server, isClient: true))
        writer.add(Self.session(8, Self.server, Self.client, isClient: false))
        writer.add(Self.bytes(7, "PING", isSent: true))
        writer.add(Self.bytes(8, "PING", isSent: false))
        let (interfaces, ends) = try Self.read(writer.take())
        #expect(ends.filter { $0.hasPrefix("0 ") }.last == "0 127.0.0.1:40000 127.0.0.1:6379")
        #expect(ends.last == "1 127.128.0.8:40000 127.128.0.8:6379")
        #expect(interfaces.map(\.name) == ["#7 127.0.0.1:6379", "#8 127.0.0.1:40000"])
        let remark =
            "accepted here; its addresses 127.0.0.1:6379 and 127.0.0.1:40000 are used here for #7, the other end"
        #expect(interfaces.last?.description == remark)
    }

    @Test("a file without packets has one interface at its end, and any other file no more than its sessions have")
    func finish() throws {
        var writer = RecordingWriter(application: "socktui", zero: 0)
        writer.finish()
        #expect(try Self.read(writer.take()).interfaces.map(\.name) == ["socktui"])
        writer.begin()
        writer.add(Self.session(7, Self.client, Self.server, isClient: true))
        writer.finish()
        #expect(try Self.read(writer.take()).interfaces.map(\.name) == ["#7 127.0.0.1:6379"])
    }

    @Test("what comes after the other end has closed keeps them apart too; a file of its own does not need to")
    func afterwards() throws {
        var writer = RecordingWriter(application: "socktui", zero: 0)
        writer.add(Self.session(7, Self.client, Self.server, isClient: true))
        writer.add(RecordedEntry(SocketID(7), at: .zero, .closed(isReset: false, isLocal: true)))
        writer.add(Self.session(8, Self.server, Self.client, isClient: false))
        let (_, ends) = try Self.read(writer.take())
        #expect(ends.last?.hasPrefix("1 127.128.0.8:") == true)
        writer.begin()
        writer.add(Self.bytes(8, "PING", isSent: false))
        #expect(try Self.read(writer.take()).ends == ["0 127.0.0.1:40000 127.0.0.1:6379"])
    }

    @Test("plaintext of TLS shares no address with what it was encrypted as")
    func plaintext() throws {
        var writer = RecordingWriter(application: "socktui", zero: 0)
        writer.add(Self.session(7, Self.client, Self.server, isClient: true))
        writer.add(Self.session(8, Self.server, Self.client, isClient: false))
        writer.add(Self.session(9, .unix(path: "/run/x"), nil, isClient: false))
        for number: UInt64 in 7...9 { writer.add(Self.bytes(number, "hello", isSent: true, isPlain: true)) }
        let ends = try Self.read(writer.take()).ends
        let addresses = Dictionary(grouping: ends) { $0.prefix { $0 != " " } }.values.map { packets in
            Set(packets.flatMap { $0.split(separator: " ").dropFirst() })
        }
        #expect(addresses.count == 6)
        for (index, one) in addresses.enumerated() {
            for other in addresses[(index + 1)...] { #expect(one.isDisjoint(with: other), "\(one) \(other)") }
        }
    }
}
