import SocketKit
import SocketTestSupport
import Testing

/// Our counters against those of the kernel, as `ss` prints them for the very same connection.
@Suite(
    .enabled(if: Peer.isUsable("redis-server", "ss"), "redis-server or ss is missing"), .timeLimit(.minutes(10)))
struct StatisticsTests {
    private func row(of end: OurEnd) throws -> (ours: SocketSnapshot, theirs: SocketStatistics) {
        let ours = try #require(
            end.engine.snapshot(SnapshotRequest(kernel: .all)).sockets.first { $0.id == end.socket.session })
        let local = try #require(ours.local?.port)
        return (ours, try #require(try SocketStatistics.socket(local: local, peer: ours.peer?.port)))
    }

    private func expectAgreement(_ end: OurEnd, received: UInt64, waiting: Int) throws {
        #expect(
            try eventually {
                let (ours, theirs) = try row(of: end)
                return ours.received == received && theirs.receiveQueue == waiting && theirs.sendQueue == 0
            })
        let (ours, theirs) = try row(of: end)
        #expect(ours.sent == theirs.bytesSent)
        #expect(ours.received + UInt64(theirs.receiveQueue) == theirs.bytesReceived)
        #expect(ours.kernel?.receiveQueue == theirs.receiveQueue)
        #expect(ours.kernel?.sendQueue == theirs.sendQueue)
        #expect(ours.kernel?.bytesSent == theirs.bytesSent)
        #expect(ours.kernel?.bytesReceived == theirs.bytesReceived)
        #expect(ours.kernel?.state == theirs.state)
    }

    @Test func countersOfAQuietConnectionAreThoseOfTheKernel() throws {
        let redis = try Peer.redis()
        let end = try OurEnd.connected(to: .tcp(host: "127.0.0.1", port: redis.port))
        for size in [1, 100, 10_000, 300_000] {
            end.socket.read(ReadRequest(.delimiter([13, 10], limit: 64)))
            end.socket.read(ReadRequest(.length(size + 2)))
            let text = String(repeating: "x", count: size)
            end.socket.write(Array("*2\r\n$4\r\nECHO\r\n$\(size)\r\n\(text)\r\n".utf8))
        }
        let answer = [1, 100, 10_000, 300_000].reduce(0) { $0 + "$\($1)\r\n\r\n".utf8.count + $1 }
        #expect(eventually { end.recorder.received.count == answer })
        try expectAgreement(end, received: UInt64(answer), waiting: 0)
    }

    @Test func bytesThatNobodyReadsAreCountedByTheKernelAlone() throws {
        let redis = try Peer.redis()
        let end = try OurEnd.connected(to: .tcp(host: "127.0.0.1", port: redis.port))
        end.socket.write(Array("PING\r\n".utf8))
        try expectAgreement(end, received: 0, waiting: 7)
        end.socket.read(ReadRequest(.length(3)))
        try expectAgreement(end, received: 3, waiting: 4)
        end.socket.read(ReadRequest(.delimiter([13, 10], limit: nil)))
        try expectAgreement(end, received: 7, waiting: 0)
        #expect(end.recorder.received == Array("+PONG\r\n".utf8))
    }

    @Test func aListenerIsListedUntilItStops() throws {
        let ours = try OurEnd.Listener(on: .tcp(host: "127.0.0.1", port: 0))
        let port = ours.port
        let row = try #require(try SocketStatistics.socket(local: port, peer: nil))
        #expect(row.state == "LISTEN")
        #expect(row.local == "127.0.0.1:\(port)")
        #expect(row.sendQueue == 1_024, "the backlog that was asked for")
        ours.listener.stop()
        #expect(try SocketStatistics.socket(local: port, peer: nil) == nil)
    }
}
