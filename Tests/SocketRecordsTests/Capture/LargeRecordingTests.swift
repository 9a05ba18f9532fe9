import SocketCore
import SocketRecords
import Testing

@Suite("Recordings of very many sockets")
struct LargeRecordingTests {
    private static let count = 20_000

    private static func snapshot(_ numbers: Range<Int>, second: Int, hasPeers: Bool = true) -> EngineSnapshot {
        var snapshot = EngineSnapshot(engine: "host", time: .zero + .seconds(second), wallNanoseconds: 0)
        snapshot.sockets = numbers.map { number in
            // The numbers of another program's sockets are large.
            SocketSnapshot(
                id: SocketID(1 << 40 + UInt64(number)), role: .client, phase: .connected,
                target: "127.0.0.1:\(number)", opened: .zero)
        }
        guard hasPeers else { return snapshot }
        var peers: [SocketID: PeerEnd] = [:]
        for socket in snapshot.sockets {
            var end = PeerEnd()
            end.program = PeerEnd.Program(process: 4_711, name: "a-program-of-16b", descriptor: 12_345)
            (end.unread, end.unsent) = (123_456, 123_456)
            peers[socket.id] = end
        }
        snapshot.peers = peers
        return snapshot
    }

    private static func opened(_ snapshots: [EngineSnapshot]) throws -> EngineSnapshot? {
        var writer = RecordingWriter(application: "socktui", zero: 0)
        for snapshot in snapshots {
            writer.add(RecordedEntry(SocketID(0), at: snapshot.time, .snapshot(snapshot, [:])))
        }
        var capture = OpenedCapture()
        try capture.absorb(writer.take())
        #expect(capture.shortcomings.isEmpty)
        return capture.snapshot(SnapshotRequest(eventsFrom: 0), named: "r")
    }

    @Test("all sockets and all peers are read again")
    func whole() throws {
        let snapshot = Self.snapshot(0..<Self.count, second: 0)
        let opened = try #require(try Self.opened([snapshot]))
        #expect(opened.sockets.map(\.id) == snapshot.sockets.map(\.id))
        #expect(opened.peers == snapshot.peers)
    }

    @Test("peers of a later snapshot replace all earlier ones")
    func peers() throws {
        let snapshots = [Self.snapshot(0..<Self.count, second: 0), Self.snapshot(0..<5, second: 1)]
        let opened = try #require(try Self.opened(snapshots))
        #expect(opened.peers == snapshots[1].peers)
    }

    @Test("all of them can go at once")
    func removed() throws {
        let snapshots = [0..<90_000, 7..<9].enumerated().map { second, numbers in
            Self.snapshot(numbers, second: second, hasPeers: false)
        }
        let opened = try #require(try Self.opened(snapshots))
        #expect(opened.sockets.map(\.id) == snapshots[1].sockets.map(\.id))
    }

    @Test("sockets of several programs stay apart, with their peers, traffic and events")
    func programs() throws {
        let (first, second) = (SocketID(7), SocketID(7, of: 1))
        var snapshot = Self.snapshot(0..<1, second: 0, hasPeers: false)
        snapshot.sockets = [first, second].map { id in
            SocketSnapshot(id: id, role: .client, phase: .connected, target: "\(id)", opened: .zero)
        }
        snapshot.sockets[1].linked = SocketID(8, of: 1)
        snapshot.peers = [second: PeerEnd(unread: 5)]
        snapshot.events = [SocketEvent(sequence: 0, time: .zero, socket: second, kind: .connected)]
        snapshot.nextEvent = 1
        let opened = try #require(try Self.opened([snapshot]))
        #expect(opened.sockets.map(\.id) == [first, second.recorded])
        #expect(opened.sockets.map(\.target) == ["#7", "#2.7"])
        #expect(opened.sockets[1].linked == SocketID(8, of: 1).recorded && "\(second.recorded)" == "#2/7")
        #expect(opened.peers == [second.recorded: PeerEnd(unread: 5)])
        #expect(opened.events.map(\.socket) == [second.recorded])
        #expect(SocketID(recorded: "2.7") == second.recorded && SocketID(recorded: "7") == first)
        #expect(["", "x", "2.", "0.7", "2.7.1"].allSatisfy { SocketID(recorded: $0) == nil })
        let shown = [first, second, second.recorded, SocketID(second.recorded.number, of: 3)]
        #expect(shown.allSatisfy { SocketID(label: $0.label) == $0 }, "\(shown.map(\.label))")
        #expect(["", "x", "2.", "0.7", "2.7.1", "1/7", "/7", "2/", "2/7/1"].allSatisfy { SocketID(label: $0) == nil })
    }

    @Test("traffic of a session that the recording does not know is counted")
    func unknown() {
        var writer = RecordingWriter(application: "socktui", zero: 0)
        writer.add(RecordedEntry(SocketID(9), at: .zero, .bytes([1], length: 1, isSent: true, isPlain: false)))
        writer.add(RecordedEntry(SocketID(9), at: .zero, .datagram([1], isSent: true, nil, length: 1)))
        #expect(writer.dropped == 2)
    }
}
