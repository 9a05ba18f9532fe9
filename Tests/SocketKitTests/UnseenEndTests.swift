import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Counts, since so many callbacks would take long to record.
private final class EndWitness: AsyncSocketDelegate {
    struct Seen {
        var received = 0
        var wasToldEarly = false
        var isDisconnected = false
    }

    let seen = Lock(Seen())

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        seen.withLock { $0.received += bytes.count }
    }

    func socketPeerDidClose(_ socket: AsyncSocket) { seen.withLock { $0.wasToldEarly = true } }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        seen.withLock { $0.isDisconnected = true }
    }
}

/// The end of a stream that comes while nothing may be taken from the kernel is noticed as soon as it may.
@Suite struct UnseenEndTests {
    private func waitUntilReported(_ pair: ConnectedPair) {
        #expect(
            eventually { pair.engine.snapshot().sockets.first?.flags.contains(.readSourceSuspended) ?? false })
    }

    @Test(arguments: [false, true])
    func theEndThatCameDuringAPauseIsNoticedWhenReadingGoesOn(isReset: Bool) throws {
        let pair = try ConnectedPair()
        pair.socket.isReadingPaused = true
        pair.closePeer(reset: isReset)
        waitUntilReported(pair)
        #expect(pair.socket.isConnected)
        pair.socket.isReadingPaused = false
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.lastError != nil)
    }

    @Test func aPersonHearsOfFINAlsoWhereItCameInOneReportWithBytes() throws {
        let recorder = Recorder()
        let pair = try ConnectedPair(recorder: recorder)
        pair.engine.queue.suspend()
        try pair.peerSends("unread")
        pair.peerShutsWrite()
        pair.engine.queue.resume()
        waitUntilReported(pair)
        // On a busy machine the reactor may have heard of the bytes before FIN was sent; then FIN comes by itself.
        #expect(
            eventually {
                let events = pair.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events
                return events.filter { $0.kind == .peerClosed }.count == 1
            })
        #expect(pair.socket.isConnected)
    }

    @Test func oneFINIsOneEventThoughItIsMetAgainBehindTheBytesBeforeIt() throws {
        let pair = try ConnectedPair()
        try pair.peerSends("unread")
        pair.peerShutsWrite()
        let ends = { pair.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.filter { $0.kind == .peerClosed } }
        #expect(eventually { !ends().isEmpty })
        pair.socket.read(ReadRequest(.length(6)))
        pair.socket.read(ReadRequest(.length(1)))
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(ends().count == 1)
    }

    @Test func nobodyHearsOfAnEarlyEndWhileReadsOnlyWaitForTheirCallbacks() throws {
        let pair = try ConnectedPair(.unix)
        let witness = EndWitness()
        pair.socket.delegate = witness
        pair.socket.read(ReadRequest(.delimiter([10], limit: nil), isStanding: true))
        let count = 150_000
        try pair.engine.queue.sync {
            try pair.peerSends([UInt8](repeating: 10, count: count))
            pair.closePeer()
        }
        #expect(eventually { witness.seen.withLock { $0.isDisconnected } })
        let seen = witness.seen.withLock { $0 }
        #expect(seen.received == count && !seen.wasToldEarly)
    }

    @Test func theEndIsNoticedWhereReadinessTurnedOutToBeFalse() throws {
        let pair = try ConnectedPair()
        pair.socket.isReadingPaused = true
        try pair.peerSends("x")
        waitUntilReported(pair)
        // Takes away what was reported.
        var byte: UInt8 = 0
        #expect(recv(try #require(pair.engine.snapshot().sockets.first?.descriptor), &byte, 1, 0) == 1)
        pair.socket.isReadingPaused = false
        pair.closePeer()
        #expect(eventually { pair.recorder.isDisconnected })
    }

    @Test func theEndThatCameWhileAReadAskedIsNoticedWhenThatReadIsCancelled() throws {
        let pair = try ConnectedPair(recorder: Recorder(verdict: { _ in .later }))
        pair.socket.read(ReadRequest(.length(1), timeout: .milliseconds(1)))
        #expect(eventually { !pair.recorder.timeouts.isEmpty })
        pair.closePeer()
        waitUntilReported(pair)
        pair.socket.cancel(.reads)
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.lastError?.reason == .closedByPeer)
    }
}
