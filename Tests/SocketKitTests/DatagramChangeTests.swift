import SocketTestSupport
import Testing

@testable import SocketKit

/// What viewers are told of datagram sockets: those that changed, as of streams and listeners.
@Suite(.timeLimit(.minutes(10))) struct DatagramChangeTests {
    private let engine = SocketEngine()
    private let socket: DatagramSocket
    private let id: SocketID

    init() throws {
        socket = DatagramSocket(engine: engine)
        try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        id = try #require(socket.session)
        #expect(changed(isWhole: true).map(\.id) == [id])
        // Rates take two measurements.
        #expect(eventually { changed().isEmpty })
    }

    private func changed(isWhole: Bool = false) -> [SocketSnapshot] {
        var changes = SnapshotRequest.Changes()
        changes.isWhole = isWhole
        var request = SnapshotRequest()
        request.changes = changes
        return engine.snapshot(request).sockets
    }

    private func sendToItself() throws {
        let port = try #require(socket.localAddress?.port)
        socket.send([1, 2, 3], to: .udp(host: "127.0.0.1", port: port))
    }

    @Test func aSocketThatDidNotChangeIsNotToldOfAgain() {
        for _ in 0..<3 { #expect(changed().isEmpty) }
        #expect(changed(isWhole: true).map(\.id) == [id])
    }

    @Test func aSocketWhoseCountersChangedIsToldOfUntilItsRateHasFallen() throws {
        try sendToItself()
        var told: [SocketSnapshot] = []
        #expect(
            eventually {
                told += changed()
                return told.last?.datagrams?.counters.sent == 1
            })
        #expect(told.last?.sent == 3)
        #expect(
            eventually {
                let now = changed()
                told += now
                return now.isEmpty
            })
        #expect(told.contains { $0.sendRate ?? 0 > 0 })
        #expect(told.last?.sendRate == 0)
        #expect(told.allSatisfy { $0.id == id })
    }

    @Test func whatIsShownOfItAndItsEndAreToldOnce() {
        socket.show(as: "other:1")
        #expect(changed().map(\.target) == ["other:1"])
        #expect(changed().isEmpty)
        socket.close()
        #expect(changed().map(\.phase) == [.closed])
        #expect(changed().isEmpty)
    }

    @Test func aViewerThatComesAgainIsToldOfAll() throws {
        engine.post(.stopPublishing)
        try sendToItself()
        #expect(eventually { socket.snapshot()?.sent == 3 })
        #expect(changed().map(\.sent) == [3])
    }
}
