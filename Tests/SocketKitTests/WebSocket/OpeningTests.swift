import SocketKit
import SocketTestSupport
import Testing

/// The opening handshake over real sockets; the requirements are those of the client, RFC 6455, 4.1.
@Suite(.timeLimit(.minutes(10))) struct OpeningTests {
    private func client(
        _ recorder: WebSocketRecorder, _ change: (inout WebSocketConfiguration) -> Void = { _ in }
    ) -> WebSocket {
        var configuration = WebSocketConfiguration()
        change(&configuration)
        return WebSocket(engine: SocketEngine(), delegate: recorder, configuration: configuration)
    }

    @Test("H4: every connect has a key of its own, of 16 bytes")
    func h4FreshKeys() throws {
        let listener = try RawListener()
        let recorder = WebSocketRecorder()
        var keys: Set<String> = []
        for _ in 0..<5 {
            let client = client(recorder)
            try client.connect(to: "ws://127.0.0.1:\(listener.port)")
            let request = try listener.accept().receiveHead()
            let line = try #require(request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") })
            #expect(line.utf8.count == 19 + 24 && line.hasSuffix("=="))
            keys.insert(String(line))
        }
        #expect(keys.count == 5)
    }

    @Test("H5: the sample of RFC 6455, 1.3")
    func h5AcceptOfTheSampleKey() {
        #expect(Digests.webSocketAccept(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test("no part of a URL begins a field or a request of its own")
    func urlsThatWouldSplitARequest() throws {
        let good = try WebSocketURL.parse("ws://127.0.0.1:1/")
        let changes: [(String, (inout WebSocketURL) -> Void)] = [
            ("url.resource", { $0.resource = "/a HTTP/1.1\r\nHost: inner\r\n\r\nGET /second" }),
            ("url.resource", { $0.resource = "/a b" }), ("url.resource", { $0.resource = "" }),
            ("url.resource", { $0.resource = "/a#b" }), ("url.authority", { $0.authority = "evil\r\nX-Too: yes" }),
            ("url.authority", { $0.authority = "" }),
            ("url.endpoint", { $0.endpoint = .tcp(host: "h:80 HTTP/1.1\r\nX-Injected: yes\r\nX:", port: 80) }),
            ("url.credentials", { $0.credentials = HTTPCredentials(user: "a:b", password: "") }),
        ]
        for (name, change) in changes {
            var url = good
            change(&url)
            let client = client(WebSocketRecorder()) { $0.proxy = WebSocketProxy(host: "127.0.0.1", port: 1) }
            let error = #expect(throws: SocketError.self) { try client.connect(to: url) }
            #expect(error?.reason == .badParameter && error?.detail.hasPrefix(name) == true, "\(name)")
            #expect(client.session == nil)
        }
    }

    @Test("H6: a refusal fails the open, with all that the server said")
    func h6RefusedOpen() throws {
        let listener = try RawListener()
        let recorder = WebSocketRecorder()
        let client = client(recorder)
        try client.connect(to: "ws://127.0.0.1:\(listener.port)/x")
        let peer = try listener.accept()
        _ = peer.receiveHead()
        try peer.send("HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic\r\nContent-Length: 6\r\n\r\nwho???")
        #expect(eventually { recorder.endings == 1 })
        guard case .webSocket(.refused(let refusal)) = recorder.errors.first?.reason else {
            Issue.record("\(recorder.errors)")
            return
        }
        #expect(refusal.status == 401)
        #expect(refusal.head.values(of: "www-authenticate") == ["Basic"])
        #expect(refusal.body == Array("who???".utf8))
        #expect(recorder.errors.first?.detail.contains("401") == true)
        #expect(recorder.report == nil)
        #expect(client.readyState == .closed)
    }

    @Test("H11: frames in the segment of the answer are taken")
    func h11FramesWithTheAnswer() throws {
        let listener = try RawListener()
        let recorder = WebSocketRecorder()
        let client = client(recorder)
        try client.connect(to: "ws://127.0.0.1:\(listener.port)")
        let peer = try listener.accept()
        let answer = RawListener.answer(to: peer.receiveHead())
        try peer.send(Array(answer.utf8) + RawPeer.frame(1, Array("now".utf8)) + RawPeer.frame(2, [1]))
        #expect(eventually { recorder.messages == [.text("now"), .binary([1])] })
    }

    @Test("H14: nothing follows the request before the answer is checked")
    func h14NoFrameBeforeTheAnswer() throws {
        let listener = try RawListener()
        let recorder = WebSocketRecorder()
        let client = client(recorder)
        try client.connect(to: "ws://127.0.0.1:\(listener.port)/")
        client.write("early")
        client.writePing([1])
        #expect(client.bufferedAmount == 6)
        #expect(client.readyState == .connecting)
        let peer = try listener.accept()
        let answer = RawListener.answer(to: peer.receiveHead())
        try peer.send(Array(answer.utf8.dropLast(2)))
        client.engine.fence()
        #expect(peer.peek() == nil)
        try peer.send("\r\n")
        #expect(peer.receive(2) == [0x89, 0x81], "a ping goes before messages")
        #expect(peer.receive(5 + 11).count == 16)
        #expect(eventually { client.bufferedAmount == 0 })
    }

    @Test("H15: connects to one server do not wait for one another, as the documentation says")
    func h15ConcurrentConnects() throws {
        let listener = try RawListener()
        let recorder = WebSocketRecorder()
        let clients = (0..<3).map { _ in client(recorder) }
        for client in clients { try client.connect(to: "ws://127.0.0.1:\(listener.port)") }
        let peers = try clients.map { _ in try listener.accept() }
        for peer in peers { try peer.send(RawListener.answer(to: peer.receiveHead())) }
        #expect(eventually { clients.allSatisfy { $0.readyState == .open } })
    }

    @Test("H16: wss is TLS with SNI, the name checked, and ALPN http/1.1", .enabled(if: Certificates.problem == nil))
    func h16TLS() throws {
        let engine = SocketEngine()
        let server = WebSocketRecorder.echo()
        let listener = WebSocketListener(engine: engine, delegate: server)
        try listener.listen(on: .tcp(host: "localhost", port: 0), tls: .server(Certificates.identity("server")))
        let port = listener.localAddress?.port ?? 0
        let recorder = WebSocketRecorder()
        let client = client(recorder) { $0.tls = .testClient() }
        try client.connect(to: "wss://localhost:\(port)/")
        client.write("secret")
        #expect(eventually { recorder.messages == [.text("secret")] }, "\(recorder.calls)")
        let tls = try #require(client.engine.picture(of: client.session)?.tls)
        #expect(tls.applicationProtocol == "http/1.1")
        #expect(tls.serverName == "localhost")
        #expect(tls.expectedName == "localhost")
        let other = WebSocketRecorder()
        let stranger = self.client(other) {
            $0.tls = .testClient()
            $0.tls?.serverName = "elsewhere.example"
        }
        try stranger.connect(to: "wss://localhost:\(port)/")
        #expect(eventually { other.endings == 1 })
        guard case .tls = other.errors.first?.reason else {
            Issue.record("\(other.errors)")
            return
        }
        var settings = WebSocketConfiguration()
        settings.tls = .testClient()
        settings.tls?.applicationProtocols = ["h2"]
        #expect(throws: SocketError.self) {
            try WebSocket(engine: engine, configuration: settings).connect(to: "wss://localhost:\(port)/")
        }
    }

    @Test(
        "H17: through a proxy that wants to know who asks, on the same connection or a new one",
        arguments: [false, true])
    func h17Proxy(closes: Bool) throws {
        let proxy = try RawListener()
        let recorder = WebSocketRecorder()
        let client = client(recorder) {
            $0.proxy = WebSocketProxy(
                host: "127.0.0.1", port: proxy.port, credentials: HTTPCredentials(user: "u", password: "p"))
        }
        try client.connect(to: "ws://far.example:8080/chat")
        var peer = try proxy.accept()
        let first = peer.receiveHead()
        #expect(first.hasPrefix("CONNECT far.example:8080 HTTP/1.1\r\nHost: far.example:8080\r\n"))
        #expect(!first.contains("Proxy-Authorization"))
        let fields = "Proxy-Authenticate: Basic realm=x\r\nContent-Length: 3\r\n"
        try peer.send("HTTP/1.1 407 Who\r\n\(fields)\(closes ? "Connection: close\r\n" : "")\r\nwho")
        if closes { peer = try proxy.accept() }
        #expect(peer.receiveHead().contains("\r\nProxy-Authorization: Basic dTpw\r\n"))
        #expect(peer.peek() == nil)
        try peer.send("HTTP/1.1 200 Go\r\n\r\n")
        let request = peer.receiveHead()
        #expect(request.hasPrefix("GET /chat HTTP/1.1\r\nHost: far.example:8080\r\n"))
        #expect(!request.contains("Proxy-Authorization"))
        try peer.send(RawListener.answer(to: request))
        try peer.send(RawPeer.frame(1, Array("hello".utf8)))
        #expect(eventually { recorder.calls == [.opened(subprotocol: nil), .message(.text("hello"))] })
    }

    @Test("H17: a proxy that refuses twice is not asked again")
    func h17RefusingProxy() throws {
        let proxy = try RawListener()
        let recorder = WebSocketRecorder()
        let client = client(recorder) {
            $0.proxy = WebSocketProxy(
                host: "127.0.0.1", port: proxy.port, credentials: HTTPCredentials(user: "u", password: "p"))
        }
        try client.connect(to: "wss://far.example/")
        let peer = try proxy.accept()
        for _ in 0..<2 {
            _ = peer.receiveHead()
            try peer.send("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(eventually { recorder.endings == 1 })
        guard case .webSocket(.proxyRefused(let refusal)) = recorder.errors.first?.reason else {
            Issue.record("\(recorder.errors)")
            return
        }
        #expect(refusal.status == 407)
    }

    @Test("what cannot be asked for is refused by the call, with a sentence that names it")
    func refusedCalls() throws {
        let recorder = WebSocketRecorder()
        func refusal(_ url: String, _ change: (inout WebSocketConfiguration) -> Void = { _ in }) -> String? {
            let client = client(recorder, change)
            do throws(SocketError) {
                try client.connect(to: url)
                return nil
            } catch {
                #expect(error.reason == .badParameter)
                #expect(client.session == nil)
                return error.detail
            }
        }
        #expect(refusal("http://h/")?.contains("write ws://") == true)
        #expect(refusal("ws://h/") { $0.opening.fields = [HTTPField("Host", "x")] }?.contains("Host") == true)
        #expect(refusal("ws://h/") { $0.openTimeout = .zero }?.contains("openTimeout") == true)
        #expect(refusal("ws+unix:/s") { $0.proxy = WebSocketProxy(host: "h", port: 1) }?.contains("proxy") == true)
    }
}
