import FoundationEssentials
import SocketCore
import SocketRecords
import Testing

/// One recording of each version of the inspection wire, as that version wrote it: a line was sent and its echo read, and
/// a read of 1,000 bytes waits. These files stay.
@Suite("Recordings of every version")
struct KeptRecordingTests {
    private static let folder =
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Recordings"

    private static func opened(_ version: UInt64) throws -> OpenedCapture {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/wire-\(version).pcapng"))
        var capture = OpenedCapture()
        try capture.absorb(Array(data))
        capture.finish()
        return capture
    }

    @Test("each opens, with its socket, its reads and its traffic", arguments: 1...InspectionHello.version)
    func opens(version: UInt64) throws {
        let capture = try Self.opened(version)
        #expect(capture.isOurs && capture.shortcomings.isEmpty, "\(capture.shortcomings)")
        let snapshot = capture.snapshot(SnapshotRequest(), named: "kept")
        let socket = try #require(snapshot?.sockets.first)
        #expect(socket.peer?.description == "127.0.0.1:17040" && socket.phase == .connected)
        #expect(socket.sent == 6 && socket.received == 7)
        #expect(socket.reading.current?.tag == 8 && socket.reading.current?.total == 1_000)
        let traffic = capture.traffic(of: socket.id).items
        #expect(traffic.map { String(decoding: $0.bytes, as: UTF8.self) } == ["PING\r\n", "+PING\r\n"])
    }
}
