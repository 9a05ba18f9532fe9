import SocketCore
import Testing

/// RFC 6455, 5.5.2 and 5.5.3.
@Suite("WebSocket pings") struct WebSocketPingTests {
    @Test func p1APingIsAnsweredWithItsOwnBytesAtOnce() {
        let bench = WebSocketBench()
        let payload = (0..<125).map { UInt8($0) + 0x80 }
        bench.receive(WireFrame(opcode: 9, payload: payload))
        #expect(bench.flush() == [WireFrame(opcode: 10, payload: payload)])
        #expect(bench.machine.snapshot().received.pings == 1 && bench.machine.snapshot().sent.pongs == 1)
    }

    @Test func p2APongThatNobodyAskedForIsOnlyTold() {
        let bench = WebSocketBench()
        bench.receive(.pong("unasked"), .ping("x"), .pong())
        #expect(
            bench.takeEvents() == [
                .pong(Array("unasked".utf8), roundTrip: nil), .ping([0x78]), .pong([], roundTrip: nil),
            ])
        #expect(bench.flush() == [.pong("x")])
    }

    @Test func p3OfAFloodOfPingsTheNewestAreAnswered() {
        let bench = WebSocketBench(.client)
        for number in 0..<10_000 { bench.receive(bytes: WireFrame.ping("\(number)").bytes()) }
        let answers = bench.flush()
        #expect(answers.map(\.payload) == (9_936..<10_000).map { Array("\($0)".utf8) })
        #expect(answers.allSatisfy { $0.opcode == 10 })
        #expect(bench.machine.snapshot().supersededPings == 9_936)
        #expect(bench.machine.snapshot().received.pings == 10_000)
    }

    @Test func p4PingsGoOutByThemselvesAndTheirPongsAreTimed() {
        let bench = WebSocketBench(
            .server, WebSocketSettings(pingInterval: .seconds(30), pongTimeout: .seconds(5)))
        bench.wait(.seconds(29))
        #expect(bench.flush().isEmpty)
        bench.wait(.seconds(1))
        let pings = bench.flush()
        #expect(pings.map(\.opcode) == [9] && bench.machine.snapshot().pendingPings == 1)
        bench.wait(.milliseconds(1500))
        bench.receive(WireFrame(opcode: 10, payload: pings.first?.payload ?? []))
        #expect(bench.takeEvents() == [.pong(pings.first?.payload ?? [], roundTrip: .milliseconds(1500))])
        #expect(bench.machine.snapshot().roundTrip == .milliseconds(1500))
        bench.wait(.seconds(28))
        #expect(bench.failure == nil && bench.machine.snapshot().pendingPings == 0)
    }

    @Test func p4ASilentPeerIsGivenUp() {
        let bench = WebSocketBench(
            .client, WebSocketSettings(pingInterval: .seconds(30), pongTimeout: .seconds(5), closeTimeout: .seconds(3)))
        bench.wait(.seconds(30))
        bench.flush()
        bench.wait(.milliseconds(4999))
        #expect(bench.failure == nil)
        bench.wait(.milliseconds(1))
        #expect(bench.failure == .pongTimeout(.seconds(5)))
        let close = bench.flush()
        #expect(close.map(\.opcode) == [8] && close.first?.payload.prefix(2) == [3, 243])
        bench.wait(.seconds(3))
        #expect(bench.report?.failure == .pongTimeout(.seconds(5)) && bench.report?.wasClean == false)
        #expect(bench.machine.deadline == nil)
    }

    @Test func p4AClosingWebSocketWaitsForNoPong() throws {
        let bench = WebSocketBench(
            .server, WebSocketSettings(pingInterval: .seconds(1), pongTimeout: .seconds(1), closeTimeout: .seconds(60)))
        bench.wait(.seconds(1))
        try bench.machine.close(now: bench.now)
        #expect(bench.flush().map(\.opcode) == [9, 8])
        #expect(bench.machine.deadline == MonotonicTime(nanoseconds: 61_000_000_000))
        bench.wait(.seconds(59))
        #expect(bench.failure == nil && bench.report == nil)
    }

    @Test func p4APingThatIsStuckBehindALongFrameOfThePeerIsNotOverdue() {
        let bench = WebSocketBench(
            .client, WebSocketSettings(pingInterval: .seconds(10), pongTimeout: .seconds(5)))
        bench.receive(bytes: [0x82, 126, 0x10, 0])
        bench.wait(.seconds(10))
        let ping = bench.flush()
        for _ in 0..<4 {
            bench.wait(.seconds(4))
            bench.receive(bytes: [UInt8](repeating: 0, count: 1024))
        }
        bench.receive(bytes: WireFrame(opcode: 10, payload: ping.first?.payload ?? []).bytes())
        #expect(bench.failure == nil && bench.machine.snapshot().roundTrip == .seconds(16))
    }

    @Test func p4APongAnswersThePingsBeforeItToo() throws {
        let bench = WebSocketBench(.client)
        for number in 0..<5 {
            try bench.machine.ping([UInt8(number)])
            bench.flush()
            bench.wait(.seconds(1))
        }
        #expect(bench.machine.snapshot().pendingPings == 5)
        bench.receive(WireFrame(opcode: 10, payload: [3]))
        #expect(bench.takeEvents() == [.pong([3], roundTrip: .seconds(2))])
        #expect(bench.machine.snapshot().pendingPings == 1)
    }

    @Test func p5ControlFramesOvertakeWhatIsQueuedBetweenTwoFrames() throws {
        let bench = WebSocketBench(.server)
        let long = [UInt8](repeating: 1, count: 100_000)
        try bench.machine.send(.binary, long)
        try bench.machine.send(.binary, [2])
        let header = bench.take()
        bench.receive(.ping("now"))
        try bench.machine.ping([5])
        // The frame at hand is not torn apart.
        let payload = bench.take()
        #expect(WireFrame.read(header + payload) == [.binary(long)])
        #expect(WireFrame.read(bench.take()) == [.pong("now"), WireFrame(opcode: 9, payload: [5]), .binary([2])])
    }

    @Test func pingsOfTheCallerAreBounded() throws {
        let bench = WebSocketBench(.client, WebSocketSettings(limits: WebSocketLimits(queuedControls: 2)))
        try bench.machine.ping([1])
        try bench.machine.pong([2])
        #expect(throws: WebSocketRefusal.tooManyControls(limit: 2)) {
            try bench.machine.ping([3])
        }
        bench.flush()
        try bench.machine.ping([UInt8](repeating: 0, count: 125))
        #expect(throws: WebSocketRefusal.payloadTooLong(126)) {
            try bench.machine.ping([UInt8](repeating: 0, count: 126))
        }
    }

    @Test func pingsAreNotAnsweredWhenThatIsSwitchedOff() {
        let bench = WebSocketBench(.server, WebSocketSettings(answersPings: false))
        bench.receive(.ping("x"))
        #expect(bench.takeEvents() == [.ping([0x78])] && bench.flush().isEmpty)
    }
}
