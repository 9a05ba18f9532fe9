import SocketKit
import SocketTestSupport
import Testing

/// The opening handshake over real sockets; the requirements are those of the server, RFC 6455, 4.2.
@Suite(.timeLimit(.minutes(10))) struct ServingTests {
    private let recorder = WebSocketRecorder.echo()

    private func listener(
        engine: SocketEngine = SocketEngine(), _ change: (inout WebSocketConfiguration) -> Void = { _ in }
    ) throws -> (WebSocketListener, UInt16) {
        var configuration = WebSocketConfiguration()
        change(&configuration)
        let listener = WebSocketListener(engine: engine, delegate: recorder, configuration: configuration)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        return (listener, listener.localAddress?.port ?? 0)
    }

    private func request(_ more: String = "") -> String {
        "GET /chat HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\(more)\r\n"
    }

    private func answer(_ port: UInt16, _ text: String) throws -> String {
        let peer = try RawPeer(port: port)
        try peer.send(text)
        return String(decoding: peer.receiveAll(), as: UTF8.self)
    }

    @Test("S1, S2, S3: what is no request for a WebSocket is answered so, and the connection closed")
    func s1RefusedConnections() throws {
        let (listener, port) = try listener()
        #expect(try answer(port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
        #expect(try answer(port, "\u{16}\u{3}\u{1}").hasPrefix("HTTP/1.1 400 "))
        #expect(eventually { listener.openingCount == 0 })
        #expect(eventually { recorder.calls.count == 2 })
        let eight = request().split(separator: "13\r\n")
        #expect(try answer(port, "\(eight[0])8\r\n\r\n").contains("\r\nSec-WebSocket-Version: 13\r\n"))
    }

    @Test("a request whose listener stops before the answer is not answered, and no WebSocket comes of it")
    func stoppedBeforeTheAnswer() throws {
        let stopping = Lock<WebSocketListener?>(nil)
        let (listener, port) = try listener { configuration in
            configuration.answer = { @Sendable _ in
                stopping.withLock { $0 }?.stop()
                return .upgrade()
            }
        }
        stopping.withLock { $0 = listener }
        #expect(try answer(port, request()).isEmpty)
        #expect(eventually { recorder.calls.contains(.stopped) && recorder.calls.contains(.refused(nil)) })
        #expect(!recorder.calls.contains(.accepted(subprotocol: nil)), "\(recorder.calls)")
        withExtendedLifetime(stopping.withLock { $0.take() }) {}
    }

    @Test("S4: the answer to the sample request, with the first subprotocol that both have")
    func s4AnswerOverTheWire() throws {
        let (listener, port) = try listener { $0.subprotocols = ["b", "c"] }
        let peer = try RawPeer(port: port)
        try peer.send(request("Sec-WebSocket-Protocol: a, c, b\r\n"))
        #expect(
            peer.receiveHead()
                == "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: c\r\n\r\n")
        #expect(eventually { recorder.calls == [.accepted(subprotocol: "c")] })
        withExtendedLifetime(listener) {}
    }

    @Test("S6: an origin that is not allowed is answered with 403, before any upgrade")
    func s6Origins() throws {
        let (listener, port) = try listener { $0.allowedOrigins = ["https://good.example"] }
        #expect(try answer(port, request("Origin: https://bad.example\r\n")).hasPrefix("HTTP/1.1 403 "))
        for fine in ["Origin: https://good.example\r\n", ""] {
            let peer = try RawPeer(port: port)
            try peer.send(request(fine))
            #expect(peer.receiveHead().hasPrefix("HTTP/1.1 101 "))
        }
        withExtendedLifetime(listener) {}
    }

    @Test("S7: a hook answers with plain HTTP on the same port, or adds fields to the upgrade")
    func s7PlainHTTP() throws {
        let (listener, port) = try listener {
            $0.answer = { request in
                request.path == "/health"
                    ? .http(HTTPResponse(status: 200, text: "well\n")) : .upgrade(fields: [HTTPField("X-Mine", "yes")])
            }
        }
        let page = try answer(port, "GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(page.hasSuffix("\r\nConnection: close\r\n\r\nwell\n"))
        #expect(try answer(port, "HEAD /health HTTP/1.1\r\nHost: h\r\n\r\n").hasSuffix("\r\n\r\n"))
        let peer = try RawPeer(port: port)
        try peer.send(request())
        #expect(peer.receiveHead().contains("\r\nX-Mine: yes\r\n"))
        withExtendedLifetime(listener) {}
    }

    @Test("S8: a head that comes too slowly frees its connection")
    func s8SlowHeads() throws {
        let time = ManualTime()
        let (listener, port) = try listener(engine: .with(time: time)) { $0.openTimeout = .seconds(5) }
        let peer = try RawPeer(port: port)
        #expect(eventually { listener.openingCount == 1 })
        for byte in Array(request().utf8.prefix(20)) {
            try peer.send([byte])
            time.pass(.milliseconds(200))
        }
        time.pass(.milliseconds(900))
        #expect(listener.openingCount == 1)
        time.pass(.milliseconds(200))
        #expect(peer.receiveAll().isEmpty)
        #expect(listener.openingCount == 0)
        #expect(recorder.calls == [.refused(.webSocket(.handshakeTimeout))])
        #expect(listener.engine.snapshot().sockets.filter { $0.role == .accepted && $0.closed == nil }.isEmpty)
    }

    @Test("S9: a second request behind the first is frames that break the protocol, not HTTP")
    func s9PipelinedRequests() throws {
        let (listener, port) = try listener()
        let peer = try RawPeer(port: port)
        try peer.send(request() + request())
        #expect(peer.receiveHead().hasPrefix("HTTP/1.1 101 "))
        let rest = peer.receiveAll()
        #expect(rest.first == 0x88)
        #expect(rest.dropFirst(2).prefix(2).elementsEqual([0x03, 0xEA]))
        withExtendedLifetime(listener) {}
    }

    @Test("frames behind the request are taken once it is answered")
    func earlyFrames() throws {
        let (listener, port) = try listener()
        let peer = try RawPeer(port: port)
        try peer.send(Array(request().utf8) + RawPeer.masked(1, Array("early".utf8)))
        #expect(peer.receiveHead().hasPrefix("HTTP/1.1 101 "))
        #expect(peer.receive(7) == [0x81, 5] + Array("early".utf8))
        withExtendedLifetime(listener) {}
    }
}
