import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Pings, keepalive and the end, over real sockets.
@Suite(.timeLimit(.minutes(10))) struct LivenessTests {
    /// A client of a server that is served by hand.
    private final class ByHand {
        let recorder: WebSocketRecorder
        let client: WebSocket
        let peer: RawPeer

        init(
            engine: SocketEngine = SocketEngine(), queue: DispatchQueue? = nil,
            recorder: WebSocketRecorder = WebSocketRecorder(),
            _ change: (inout WebSocketConfiguration) -> Void = { _ in }
        ) throws {
            var configuration = WebSocketConfiguration()
            change(&configuration)
            self.recorder = recorder
            client = WebSocket(
                engine: engine, delegate: recorder, delegateQueue: queue, configuration: configuration)
            let listener = try RawListener()
            try client.connect(to: "ws://127.0.0.1:\(listener.port)")
            peer = try listener.acceptWebSocket().peer
            guard eventually({ [client] in client.readyState == .open }) else {
                throw SocketError(.other, operation: "open", detail: "not open")
            }
        }

        /// The next frame, unmasked.
        func frame() -> (opcode: UInt8, payload: [UInt8]) {
            let header = peer.receive(2)
            guard header.count == 2 else { return (0, []) }
            var count = Int(header[1] & 0x7F)
            if count == 126 { count = peer.receive(2).reduce(0) { $0 << 8 | Int($1) } }
            if count == 127 { count = peer.receive(8).reduce(0) { $0 << 8 | Int($1) } }
            let mask = peer.receive(4)
            return (header[0] & 0xF, peer.receive(count).enumerated().map { $1 ^ mask[$0 % 4] })
        }
    }

    @Test("P1: a ping is answered though the user's queue is blocked")
    func p1PongsFromTheEngine() throws {
        let queue = DispatchQueue(label: "blocked")
        let gate = DispatchSemaphore(value: 0)
        queue.async { gate.wait() }
        let end = try ByHand(queue: queue)
        try end.peer.send(RawPeer.frame(1, [0x61]) + RawPeer.frame(9, Array("there?".utf8)))
        let answer = end.frame()
        #expect(answer.opcode == 0xA)
        #expect(answer.payload == Array("there?".utf8))
        #expect(end.recorder.messages.isEmpty)
        gate.signal()
        #expect(eventually { end.recorder.calls.contains(.ping(Array("there?".utf8))) })
    }

    @Test("P4: a ping every so often; its pong tells the round-trip time, and without one it fails with 1011")
    func p4Keepalive() throws {
        let time = ManualTime()
        let end = try ByHand(engine: .with(time: time)) {
            $0.settings.pingInterval = .seconds(30)
            $0.settings.pongTimeout = .seconds(10)
        }
        time.pass(.seconds(30))
        let first = end.frame()
        #expect(first.opcode == 9)
        time.pass(.milliseconds(250))
        try end.peer.send(RawPeer.frame(0xA, first.payload))
        #expect(eventually { end.client.roundTripTime == .milliseconds(250) })
        time.pass(.seconds(30))
        #expect(end.frame().opcode == 9)
        time.pass(.seconds(10))
        let close = end.frame()
        #expect(close.opcode == 8)
        #expect(close.payload.prefix(2).elementsEqual([0x03, 0xF3]))
        end.peer.end()
        #expect(eventually { end.recorder.endings == 1 })
        #expect(end.recorder.errors.first?.reason == .webSocket(.failed(.pongTimeout(.seconds(10)))))
    }

    @Test("P5: a pong overtakes what is queued, between two frames")
    func p5PongsOvertake() throws {
        let end = try ByHand()
        let message = [UInt8](repeating: 7, count: 60_000)
        for _ in 0..<200 { end.client.write(message) }
        #expect(
            eventually {
                end.client.engine.picture(of: end.client.session)?.flags.contains(.socketCanAcceptBytes) == false
            })
        try end.peer.send(RawPeer.frame(9, [1]))
        #expect(eventually { end.client.picture?.traffic?.received.pings == 1 })
        var before = 0
        while end.frame().opcode != 0xA { before += 1 }
        #expect(before < 199, "\(before) messages went before")
        #expect(before > 0)
    }

    @Test("the last reference gone, it says Close 1001 behind what is queued, and is gone")
    func releasing() throws {
        let listener = try RawListener()
        let engine = SocketEngine()
        let recorder = WebSocketRecorder()
        var client: WebSocket? = WebSocket(engine: engine, delegate: recorder)
        try client?.connect(to: "ws://127.0.0.1:\(listener.port)")
        let peer = try listener.acceptWebSocket().peer
        #expect(eventually { recorder.calls == [.opened(subprotocol: nil)] })
        client?.write("bye")
        client = nil
        let bytes = peer.receive(1_000)
        // A text of three bytes, a Close of two, each with a header of two and a mask of four.
        try #require(bytes.count == 17)
        #expect(bytes[0] == 0x81 && bytes[9] == 0x88)
        #expect([bytes[15] ^ bytes[11], bytes[16] ^ bytes[12]] == [0x03, 0xE9])
        #expect(eventually { engine.snapshot().sockets.allSatisfy { $0.phase == .closed } })
    }

    @Test("C6: the server ends TCP first")
    func c6ServerEndsFirst() throws {
        let recorder = WebSocketRecorder()
        let listener = WebSocketListener(engine: SocketEngine(), delegate: recorder)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let peer = try RawPeer(port: listener.localAddress?.port ?? 0)
        try peer.send(
            "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
        _ = peer.receiveHead()
        try peer.send(RawPeer.masked(8, [0x03, 0xE8]))
        #expect(peer.receiveAll() == [0x88, 2, 0x03, 0xE8], "the end came, though this side did not end")
    }

    @Test("C6: a client waits for the server to end TCP, but not for ever")
    func c6ClientWaits() throws {
        let time = ManualTime()
        let end = try ByHand(engine: .with(time: time)) { $0.settings.closeTimeout = .seconds(3) }
        end.client.close(.normal, reason: "bye")
        #expect(end.frame().payload == [0x03, 0xE8] + Array("bye".utf8))
        try end.peer.send(RawPeer.frame(8, [0x03, 0xE8]))
        #expect(eventually { end.client.picture?.traffic?.closeReceived != nil })
        time.pass(.milliseconds(2_900))
        #expect(end.peer.peek() == nil)
        #expect(end.recorder.endings == 0)
        time.pass(.milliseconds(200))
        #expect(eventually { end.peer.peek() == 0 })
        time.pass(.seconds(3))
        #expect(eventually { end.recorder.endings == 1 })
        #expect(end.recorder.report?.wasClean == true)
        #expect(end.recorder.errors.isEmpty)
    }

    @Test("C7: a peer that never answers a Close is given up, and nothing is left of it")
    func c7CloseTimeout() throws {
        let time = ManualTime()
        let end = try ByHand(engine: .with(time: time)) { $0.settings.closeTimeout = .seconds(3) }
        end.client.close()
        _ = end.frame()
        time.pass(.milliseconds(3_100))
        time.pass(.milliseconds(3_100))
        #expect(eventually { end.recorder.endings == 1 })
        #expect(end.recorder.report?.failure == .closeTimeout(.seconds(3)))
        #expect(end.recorder.report?.wasClean == false)
        #expect(end.recorder.report?.code == .abnormal)
        #expect(end.client.session == nil)
        #expect(end.client.engine.snapshot().sockets.allSatisfy { $0.closed != nil })
    }

    @Test("C8: close while it is being opened ends at once, with one call, however often it is asked for")
    func c8CloseWhileConnecting() throws {
        let hole = try BlackHole()
        let recorder = WebSocketRecorder()
        let client = WebSocket(engine: SocketEngine(), delegate: recorder)
        try client.connect(to: "ws://127.0.0.1:\(hole.port)")
        client.write("never")
        client.close()
        client.close()
        #expect(eventually { recorder.endings == 1 })
        #expect(recorder.report == nil)
        client.close()
        client.engine.fence()
        #expect(recorder.endings == 1)
        #expect(client.readyState == .closed)
    }

    @Test("C8: close twice is harmless, and exactly one end is told")
    func c8CloseTwice() throws {
        let pair = try WebSocketPair()
        pair.client.close(.goingAway, reason: "one")
        pair.client.close(.normal, reason: "two")
        pair.server.close()
        #expect(eventually { pair.clientSide.endings == 1 && pair.serverSide.endings == 1 })
        #expect(pair.serverSide.report?.received == WebSocketCloseFrame(code: .goingAway, reason: "one"))
        pair.client.close()
        pair.engine.fence()
        #expect(pair.clientSide.endings == 1)
        #expect(pair.serverSide.endings == 1)
    }

    @Test("C4: a code that must not be sent, and a reason that is too long, are refused and nothing is closed")
    func c4RefusedCloses() throws {
        let pair = try WebSocketPair()
        let code = pair.client.close(.noStatus)
        let reason = pair.client.close(.normal, reason: String(repeating: "x", count: 124))
        #expect(eventually { pair.clientSide.errors.count == 2 })
        #expect(
            pair.clientSide.calls.dropFirst() == [
                .failed(code, .webSocket(.notSent(.closeCode(.noStatus)))),
                .failed(reason, .webSocket(.notSent(.reasonTooLong(124)))),
            ])
        #expect(pair.client.readyState == .open)
    }

    @Test("an end without a Close is told as 1006, with what the kernel said of it", arguments: [false, true])
    func abnormalEnds(isReset: Bool) throws {
        let end = try ByHand()
        end.peer.end(reset: isReset)
        #expect(eventually { end.recorder.endings == 1 })
        #expect(end.recorder.report?.code == .abnormal)
        #expect(end.recorder.report?.wasClean == false)
        #expect(
            end.recorder.errors.first?.reason
                == (isReset ? .system(errno: ECONNRESET) : .webSocket(.failed(.endedWithoutClose))))
    }

    @Test("an abort is told on both sides, and the picture that is kept shows how it ended")
    func abort() throws {
        let pair = try WebSocketPair()
        let session = pair.client.session
        pair.client.abort()
        #expect(eventually { pair.clientSide.endings == 1 && pair.serverSide.endings == 1 })
        #expect(pair.clientSide.report?.origin == .local)
        #expect(pair.clientSide.errors.isEmpty)
        #expect(pair.serverSide.report?.failure == .endedWithoutClose)
        let kept = try #require(pair.engine.picture(of: session)?.webSocket)
        #expect(kept.stage == .closed)
        #expect(kept.report?.origin == .local)
    }

    @Test("what is sent in answer to the last message goes out before the Close is answered")
    func answersBeforeTheClose() throws {
        let end = try ByHand(recorder: .echo())
        try end.peer.send(RawPeer.frame(1, [0x61]) + RawPeer.frame(8, [0x03, 0xE8]))
        #expect(end.frame().payload == [0x61])
        #expect(end.frame().opcode == 8)
    }
}
