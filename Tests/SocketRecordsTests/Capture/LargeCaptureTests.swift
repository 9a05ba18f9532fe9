import SocketCore
import SocketTestSupport
import Testing

@testable import SocketRecords

@Suite("Captures of very many sessions")
struct LargeCaptureTests {
    /// The SYN of a session, or a capture's worth of them.
    private static func syns(_ count: Int) -> [UInt8] {
        var writer = PcapngWriter()
        writer.section(application: "test", comment: "")
        let interface = writer.interface(name: "lo", description: "")
        for number in 0..<count {
            var stream = RecordedStream(
                local: .init(.v4(UInt32(0x0A00_0001 + number / 60_000).bigEndian), UInt16(1 + number % 60_000)),
                peer: SampleCapture.server, number: UInt64(number))
            guard let packet = stream.establish(isClient: true).first else { continue }
            writer.packet(
                packet.frame, length: packet.length, interface: interface, nanoseconds: 1_000_000_000 + UInt64(number),
                notes: PacketNotes())
        }
        return writer.bytes
    }

    @Test("a session without bytes takes at most 2 KiB, and all its snapshots share the memory of one")
    func memory() throws {
        var capture = OpenedCapture()
        try capture.absorb(Self.syns(100))
        capture.keepSnapshots()
        let first = try #require(capture.snapshot(SnapshotRequest(), named: "")?.sockets)
        let second = try #require(capture.snapshot(SnapshotRequest(), named: "")?.sockets)
        #expect(first.count == 100)
        func place(_ socket: SocketSnapshot) -> UInt { unsafeBitCast(socket, to: UInt.self) }
        #expect(first.map(place) == second.map(place))
        let rare = try #require(first.map(\.rareMemory).max())
        #expect(MemoryLayout<CapturedSession>.stride + SocketSnapshot.memory + rare <= 2_048)
    }

    @Test("a session that goes on gets a new snapshot")
    func changed() throws {
        var capture = OpenedCapture()
        let file = SampleCapture.recording()
        let entries = try SampleCapture.entries(file)
        var phases: [SocketPhase?] = []
        for entry in entries {
            guard case .packet(let packet) = entry else { continue }
            capture.absorb(packet)
            capture.keepSnapshots()
            phases.append(capture.snapshot(SnapshotRequest(), named: "")?.sockets.first?.phase)
        }
        #expect(phases.first == .connecting && phases.contains(.connected) && phases.last == .closed)
    }

    @Test("where no traffic is kept, sessions beyond those of a list are kept too")
    func limits() {
        #expect(CapturedSessions(keeping: 0, all: 0).limit > CapturedSessions.limit)
        #expect(CapturedSessions().limit == CapturedSessions.limit)
        var sessions = CapturedSessions(keeping: 0, all: 0)
        for case .packet(let packet) in (try? SampleCapture.entries(Self.syns(CapturedSessions.limit + 10))) ?? [] {
            sessions.absorb(packet)
        }
        #expect(sessions.sessions.count == CapturedSessions.limit + 10 && sessions.refused == 0)
    }

    @Test("the zeros at the end of a sparse file are no packets")
    func sparse() throws {
        var file: [UInt8] =
            [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 8) + [0, 0, 4, 0, 1, 0, 0, 0]
        file += [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 9, 9]
        var reader = CaptureReader()
        reader.append(file + [UInt8](repeating: 0, count: 1_000))
        var packets = 0
        let error = #expect(throws: CaptureError.self) {
            while let entry = try reader.next() { if case .packet = entry { packets += 1 } }
        }
        #expect(packets == 1)
        #expect(error?.sentence == "only zeros follow at offset 42, where a packet should begin")
    }
}
