import SocketCore
import SocketRecords
import SocketTestSupport
import Testing

/// What connections of other programs do at the edges of TCP, and what is told of it.
@Suite("Segments of others")
struct ForeignSegmentTests {
    private static func hasEvent(_ kind: SocketEvent.Kind, _ capture: OpenedCapture) -> Bool {
        capture.shown.events.contains { $0.kind == kind }
    }

    @Test(
        "a SYN with data, and a SYN-ACK that acknowledges it, are one connection (RFC 7413)", arguments: [false, true])
    func fastOpen(isLate: Bool) throws {
        var script = SegmentScript()
        script.send(.client, .syn, at: 0, "GET / HTTP/1.0\r\n\r\n")
        script.send(.server, .syn, at: 0, ack: 19, "HTTP/1.0 200 OK\r\n\r\nx")
        script.send(.client, at: 19, ack: 21)
        script.close(client: 18, server: 20)
        if isLate { script.packets.swapAt(0, 1) }
        let capture = try script.opened()
        #expect(capture.shown.sockets.map(\.phase) == [.closed])
        #expect(capture.text(0, .sent) == "GET / HTTP/1.0\r\n\r\n")
        #expect(capture.text(0, .received) == "HTTP/1.0 200 OK\r\n\r\nx")
        #expect(capture.shortcomings.isEmpty, "\(capture.shortcomings)")
    }

    @Test("a simultaneous open is one connection (RFC 9293, 3.5)")
    func simultaneous() throws {
        var script = SegmentScript()
        script.send(.client, .syn, at: 0)
        script.send(.server, .syn, at: 0)
        script.send(.client, .syn, at: 0, ack: 1)
        script.send(.server, .syn, at: 0, ack: 1)
        script.send(.client, at: 1, ack: 1, "a")
        script.send(.server, at: 1, ack: 2, "bc")
        let capture = try script.opened()
        #expect(capture.shown.sockets.count == 1 && capture.shown.sockets.first?.phase == .connected)
        #expect(capture.text(0, .sent) == "a" && capture.text(0, .received) == "bc")
    }

    @Test("a port that is used again is another connection, and late segments of the former stay with it")
    func reuse() throws {
        var script = SegmentScript()
        script.handshake()
        script.send(.client, at: 1, ack: 1, "first")
        var next = SegmentScript()
        next.first = (90_000, 4_000_000_000)
        next.handshake()
        next.send(.client, at: 1, ack: 1, "second")
        script.packets += next.packets
        script.send(.client, at: 6, ack: 1, " one")
        script.send(.server, at: 1, ack: 10, "ok")
        let capture = try script.opened()
        #expect(capture.shown.sockets.count == 2)
        #expect(capture.text(0, .sent) == "first one" && capture.text(0, .received) == "ok")
        #expect(capture.text(1, .sent) == "second")
    }

    @Test("two connections of the same ends on two VLANs are two rows, each with its own bytes")
    func interleaved() throws {
        var (one, two) = (SegmentScript(), SegmentScript())
        (one.first, two.first) = ((1_000, 2_000), (77_000, 88_000))
        for (text, script) in [("on one", \SegmentPair.one), ("of the other", \SegmentPair.two)] {
            var pair = SegmentPair(one: one, two: two)
            pair[keyPath: script].handshake()
            pair[keyPath: script].send(.client, at: 1, ack: 1, text)
            pair[keyPath: script].close(client: text.utf8.count, server: 0)
            (one, two) = (pair.one, pair.two)
        }
        var script = SegmentScript()
        script.packets = zip(one.packets, two.packets).flatMap { [$0, $1] }
        let capture = try script.opened()
        #expect(capture.shown.sockets.map(\.phase) == [.closed, .closed])
        #expect(capture.text(0, .sent) == "on one" && capture.text(1, .sent) == "of the other")
        #expect(capture.shortcomings.isEmpty, "\(capture.shortcomings)")
    }

    private struct SegmentPair { var one, two: SegmentScript }

    @Test("a keep-alive's octet is no byte of the stream, at its beginning, within it and after the FIN")
    func keepAlives() throws {
        var script = SegmentScript()
        script.handshake()
        script.send(.client, at: 0, ack: 1, "\0")
        script.send(.server, at: 1, ack: 1)
        script.send(.client, at: 1, ack: 1, "request")
        script.send(.server, at: 1, ack: 8, "answer")
        script.send(.client, at: 8, ack: 7)
        script.send(.client, at: 7, ack: 7, "\0")
        script.send(.server, at: 6, ack: 8, "\0")
        script.send(.client, .fin, at: 8, ack: 7)
        script.send(.server, at: 7, ack: 9)
        script.send(.client, at: 8, ack: 7, "\0")
        let capture = try script.opened()
        #expect(capture.text(0, .sent) == "request" && capture.text(0, .received) == "answer")
        #expect(capture.shown.events.filter { $0.kind == .keepAlive }.map(\.first) == [0, 0, 1, 0])
        #expect(!Self.hasEvent(.copiesDiffer, capture) && capture.shortcomings.isEmpty, "\(capture.shortcomings)")
    }

    @Test("an empty probe as the first segment of a connection that began before leaves no gap")
    func probeFirst() throws {
        var script = SegmentScript()
        script.send(.client, at: 499, ack: 900)
        script.send(.server, at: 900, ack: 500)
        script.send(.client, at: 500, ack: 900, "more")
        let capture = try script.opened()
        #expect(capture.text(0, .sent) == "more")
        #expect(capture.shortcomings == ["#1 began before the capture"])
    }

    @Test("connections that began before the capture are named, and bytes from before what was captured are counted")
    func beganBefore() throws {
        var script = SegmentScript()
        script.handshake()
        script.packets =
            (UInt16(1)...7).flatMap { number in
                var joined = SegmentScript(clientPort: 50_000 + number)
                joined.send(.client, at: 500, ack: 900, "request")
                joined.send(.server, at: 900, ack: 507, "answer")
                return joined.packets
            } + script.packets
        #expect(try script.opened().shortcomings == ["#1, #2, #3, #4, #5 and 2 more began before the capture"])
        var late = SegmentScript()
        late.send(.client, at: 500, ack: 900, "request")
        late.send(.client, at: 496, ack: 900, "the request")
        let capture = try late.opened()
        #expect(capture.text(0, .sent) == "request")
        #expect(
            capture.shortcomings == [
                "#1 began before the capture",
                "4 bytes from before the start of the capture, left out",
            ])
    }

    @Test("a repetition of bytes that were in several large segments differs only where bytes differ")
    func equalBytes() throws {
        var script = SegmentScript()
        let bytes = (0..<120_000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) }
        script.handshake()
        var offset = 0
        for count in [40_000, 19_000, 42_000, 19_000] {
            script.send(.server, at: 1 + offset, ack: 1, bytes: Array(bytes[offset...].prefix(count)))
            offset += count
        }
        script.send(.server, at: 1 + 101_000, ack: 1, bytes: Array(bytes[101_000...]))
        let capture = try script.opened()
        #expect(capture.shortcomings.isEmpty && !Self.hasEvent(.copiesDiffer, capture), "\(capture.shortcomings)")
        var other = Array(bytes[101_000...])
        other[18_999] ^= 1
        script.send(.server, at: 1 + 101_000, ack: 1, bytes: other)
        #expect(try script.opened().shortcomings == ["1 retransmitted byte that differed, ignored"])
    }

    // MARK: Resets

    enum Reset: CaseIterable {
        case next, afterAll, far, behind, withinThenAlive, withinLast
    }

    @Test("a reset counts where its receiver takes it (RFC 9293, 3.10.7.4)", arguments: Reset.allCases)
    func resets(_ kind: Reset) throws {
        var script = SegmentScript()
        script.handshake()
        script.send(.client, at: 1, ack: 1, "hello")
        script.send(.server, at: 1, ack: 6, "world")
        script.send(.client, at: 6, ack: 6)
        let (offset, isTaken) =
            switch kind {
            case .next: (6, true)
            case .afterAll: (10, true)
            case .far: (0x3000_0000, false)
            case .behind: (3, false)
            case .withinThenAlive: (900, false)
            case .withinLast: (900, true)
            }
        if kind == .afterAll { script.send(.server, at: 6, ack: 6, "more") }
        script.send(.server, .reset, at: offset)
        if !isTaken {
            script.send(.client, at: 6, ack: 6, "again")
            script.close(client: 10, server: 5)
        }
        let capture = try script.opened()
        let record = try #require(capture.shown.sockets.first?.closed)
        #expect((record.error?.reason == .system(errno: 104)) == isTaken, "\(record)")
        #expect(capture.shortcomings == (isTaken ? [] : ["1 reset not accepted by its receiver, ignored"]))
        #expect(capture.shown.events.count { $0.kind == .closed } == 1)
    }

    @Test("a reset that answers a SYN acknowledges it", arguments: [1, 77])
    func refused(ack: Int) throws {
        var script = SegmentScript()
        script.first.server = 0
        script.send(.client, .syn, at: 0)
        script.send(.server, .reset, at: 0, ack: ack)
        #expect(try script.opened().shown.sockets.map(\.phase) == [ack == 1 ? .closed : .connecting])
    }

    @Test("the text of a reset is its reason, and no byte of the stream", arguments: SegmentScript.Side.allCases)
    func text(_ side: SegmentScript.Side) throws {
        var script = SegmentScript()
        script.handshake()
        script.send(side, .reset, at: 1, ack: 1, "go away")
        let capture = try script.opened()
        let record = try #require(capture.shown.sockets.first?.closed)
        #expect(record.error?.detail == "go away")
        #expect((record.mode == .reset) == (side == .client))
        #expect(capture.text(0, .sent).isEmpty && capture.text(0, .received).isEmpty)
    }

    // MARK: One direction

    @Test("of one direction, what the other end acknowledged is counted by bytes, and its FIN is none")
    func oneDirection() throws {
        var script = SegmentScript()
        script.handshake()
        script.send(.client, at: 1, ack: 1, "request")
        script.send(.client, at: 8, ack: 39)
        script.send(.client, .fin, at: 8, ack: 39)
        script.send(.client, at: 9, ack: 40)
        script.packets.remove(at: 1)
        let capture = try script.opened()
        #expect(capture.text(0, .sent) == "request")
        #expect(capture.text(0, .received) == String(repeating: "?", count: 38))
        #expect(capture.shortcomings == ["38 bytes missing"])
        let socket = try #require(capture.shown.sockets.first)
        #expect(socket.sent == 7 && socket.received == 0)
    }

    @Test("bytes that are missing at the end of a stream have the time at which that showed, not that of a later FIN")
    func gapTimes() throws {
        var script = SegmentScript()
        script.handshake()
        script.send(.client, at: 1, ack: 1, "request")
        script.send(.server, at: 1, ack: 8, "ans")
        script.send(.client, at: 8, ack: 9)
        for _ in 0..<50 { script.send(.server, at: 9, ack: 8) }
        script.send(.client, .fin, at: 8, ack: 9)
        let capture = try script.opened()
        let socket = try #require(capture.shown.sockets.first)
        let items = capture.traffic(of: socket.id).items
        let noticed = MonotonicTime(nanoseconds: 50_000_000)
        #expect(items.map(\.skipped) == [0, 0, 5])
        #expect(items.last?.time == noticed && socket.activity.lastByte == noticed, "\(items)")
    }

    @Test("bytes and FIN are counted where the capture lost the FIN alone")
    func lostFIN() throws {
        var script = SegmentScript()
        script.handshake()
        script.send(.server, at: 1, ack: 1, "bye")
        script.close(client: 0, server: 3)
        script.packets.remove(at: script.packets.count - 2)
        let capture = try script.opened()
        #expect(capture.text(0, .received) == "bye" && capture.shortcomings.isEmpty, "\(capture.shortcomings)")
    }

    @Test("bytes after the FIN and segments that no window includes are left out and counted")
    func afterEnd() throws {
        var script = SegmentScript()
        script.handshake()
        script.send(.client, at: 0x5000_0000, ack: 1, "far")
        script.send(.client, .fin, at: 1, ack: 1, "bytes")
        script.send(.client, at: 6, ack: 1, "after")
        let capture = try script.opened()
        #expect(capture.text(0, .sent) == "bytes")
        #expect(capture.shortcomings == ["2 segments outside the window, ignored"])
    }

    @Test("closed connections and their bytes are in the counters")
    func counters() throws {
        var script = SegmentScript()
        script.handshake()
        script.send(.client, at: 1, ack: 1, "abc")
        script.send(.server, at: 1, ack: 4, "de")
        script.close(client: 3, server: 2)
        let counters = try script.opened().shown.counters
        #expect(counters.opened == 1 && counters.closed == 1 && counters.sent == 3 && counters.received == 2)
    }
}
