import SocketKit
import SocketRocket
import SocketTestSupport
import Testing

/// Each test carries the selectors of the members that it proves; `MemberTableTests` compares them with the page.
@Suite("Members of SRWebSocket", .timeLimit(.minutes(10)))
struct MemberTests {
    @Test("initWithURL: open webSocketDidOpen: url readyState")
    func opening() throws {
        let server = try Server()
        let url = try server.url()
        let (webSocket, recorder) = (SRWebSocket(url: url), Recorder())
        #expect(webSocket.readyState == .CONNECTING && webSocket.url == url)
        open(webSocket, recorder)
        #expect(eventually { recorder.calls == [.opened] })
        #expect(webSocket.readyState == .OPEN)
    }

    @Test("initWithURL:protocols: initWithURLRequest:protocols: protocol")
    func protocols() throws {
        let server = try Server { $0.subprotocols = ["chat.v2", "chat.v1"] }
        let webSockets = [
            SRWebSocket(url: try server.url(), protocols: ["chat.v1"]),
            SRWebSocket(urlRequest: URLRequest(url: try server.url()), protocols: ["chat.v1", "other"]),
        ]
        for webSocket in webSockets {
            #expect(webSocket.protocol == nil)
            let recorder = Recorder()
            open(webSocket, recorder)
            #expect(eventually { recorder.calls == [.opened] })
            #expect(webSocket.protocol == "chat.v1")
            webSocket.close()
        }
    }

    @Test("initWithURLRequest: requestCookies receivedHTTPHeaders")
    func request() throws {
        let server = try Server { configuration in
            configuration.answer = { _ in .upgrade(fields: [HTTPField("X-Served-By", "a")]) }
        }
        var request = URLRequest(url: try server.url("http", "/path?query"))
        request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
        request.setValue("ignored", forHTTPHeaderField: "Connection")
        let webSocket = SRWebSocket(urlRequest: request)
        let cookie = try #require(
            HTTPCookie(properties: [.name: "session", .value: "42", .domain: "127.0.0.1", .path: "/"]))
        webSocket.requestCookies = [cookie]
        #expect(webSocket.requestCookies?.count == 1 && webSocket.receivedHTTPHeaders == nil)
        let recorder = Recorder()
        open(webSocket, recorder)
        #expect(eventually { recorder.calls == [.opened] && server.side.agreement != nil })
        let head = try #require(server.side.agreement?.request)
        #expect(head.startLine == "GET /path?query HTTP/1.1")
        #expect(head.values(of: "authorization") == ["Bearer token"])
        #expect(head.values(of: "cookie") == ["session=42"])
        #expect(head.values(of: "connection") == ["Upgrade"])
        #expect(head.values(of: "origin") == ["http://127.0.0.1:\(server.listener.localAddress?.port ?? 0)"])
        #expect(webSocket.receivedHTTPHeaders?["X-Served-By"] == "a")
    }

    @Test("sendString:error: webSocket:didReceiveMessage: webSocket:didReceiveMessageWithString:")
    func text() throws {
        let (server, recorder) = (try Server(), Recorder())
        let webSocket = SRWebSocket(url: try server.url())
        open(webSocket, recorder)
        #expect(eventually { webSocket.readyState == .OPEN })
        try webSocket.send(string: "grüße")
        #expect(eventually { recorder.calls == [.opened, .message("String"), .text("grüße")] })
    }

    @Test("sendData:error: sendDataNoCopy:error: webSocket:didReceiveMessageWithData:")
    func data() throws {
        let (server, recorder) = (try Server(), Recorder())
        let webSocket = SRWebSocket(url: try server.url())
        open(webSocket, recorder)
        #expect(eventually { webSocket.readyState == .OPEN })
        try webSocket.send(data: Data([1, 2]))
        try webSocket.send(dataNoCopy: Data([3]))
        try webSocket.send(data: nil)
        let expected: [Recorder.Call] = [
            .opened, .message("Data"), .data(Data([1, 2])), .message("Data"), .data(Data([3])), .message("String"),
            .text(""),
        ]
        #expect(eventually { recorder.calls == expected })
    }

    @Test("send:")
    @available(*, deprecated)
    func anything() throws {
        let (server, recorder) = (try Server(), Recorder())
        let webSocket = SRWebSocket(url: try server.url())
        webSocket.send("too early, and dropped, as SocketRocket does")
        open(webSocket, recorder)
        #expect(eventually { webSocket.readyState == .OPEN })
        webSocket.send("text")
        webSocket.send(Data([9]))
        webSocket.send(nil)
        #expect(eventually { server.side.messages == [.text("text"), .binary([9]), .text("")] })
    }

    @Test("webSocketShouldConvertTextFrameToString:")
    func unconverted() throws {
        let (server, recorder) = (try Server(), Recorder(converts: false))
        let webSocket = SRWebSocket(url: try server.url())
        open(webSocket, recorder)
        #expect(eventually { webSocket.readyState == .OPEN })
        try webSocket.send(string: "raw")
        #expect(eventually { recorder.calls == [.opened, .message("Data"), .data(Data("raw".utf8))] })
    }

    @Test("sendPing:error: webSocket:didReceivePong: webSocket:didReceivePingWithData:")
    func pings() throws {
        let (server, recorder) = (try Server(), Recorder())
        let webSocket = SRWebSocket(url: try server.url())
        open(webSocket, recorder)
        #expect(eventually { webSocket.readyState == .OPEN && server.side.webSockets.count == 1 })
        try webSocket.sendPing(Data([7]))
        #expect(eventually { recorder.calls.last == .pong(Data([7])) })
        try webSocket.sendPing(nil)
        #expect(eventually { recorder.calls.last == .pong(nil) })
        server.side.webSockets[0].writePing([5])
        #expect(eventually { recorder.calls.last == .ping(Data([5])) })
        server.side.webSockets[0].writePing()
        #expect(eventually { recorder.calls.last == .ping(nil) })
        #expect(throws: NSError.self) { try webSocket.sendPing(Data(count: 126)) }
        #expect(webSocket.readyState == .OPEN)
    }

    @Test("close closeWithCode:reason: webSocket:didCloseWithCode:reason:wasClean:")
    func closing() throws {
        for (code, reason) in [(1000, nil), (4001, "done")] as [(Int, String?)] {
            let (server, recorder) = (try Server(), Recorder())
            let webSocket = SRWebSocket(url: try server.url())
            open(webSocket, recorder)
            #expect(eventually { webSocket.readyState == .OPEN })
            if reason == nil { webSocket.close() } else { webSocket.close(withCode: code, reason: reason) }
            #expect(eventually { server.side.report?.received?.code?.rawValue == UInt16(code) })
            #expect(server.side.report?.received?.reason == reason ?? "")
            #expect(eventually { recorder.end != nil && webSocket.readyState == .CLOSED })
            guard case .closed(code, _, true) = recorder.end else {
                Issue.record("\(recorder.calls)")
                continue
            }
        }
    }

    @Test("webSocket:didFailWithError:")
    func failing() throws {
        let server = try Server { $0.answer = { _ in .http(HTTPResponse(status: 403, text: "no")) } }
        let recorder = Recorder()
        let webSocket = SRWebSocket(url: try server.url())
        open(webSocket, recorder)
        #expect(eventually { recorder.calls == [.failed(domain: SRWebSocketErrorDomain, code: 2132)] })
        let error = try #require(recorder.errors.first)
        #expect(error.userInfo[SRHTTPResponseErrorKey] as? Int == 403 && error.localizedDescription.contains("403"))
        #expect(webSocket.readyState == .CLOSED)
        #expect(webSocket.receivedHTTPHeaders?.isEmpty == false)
    }

    @Test("delegate delegateDispatchQueue delegateOperationQueue")
    func queues() throws {
        let server = try Server()
        let key = DispatchSpecificKey<Int>()
        let found = Lock<Set<Int>>([])
        let recorder = Recorder { _, _ in _ = found.withLock { $0.insert(DispatchQueue.getSpecific(key: key) ?? 0) } }
        let webSocket = SRWebSocket(url: try server.url())
        #expect(webSocket.delegate == nil && webSocket.delegateDispatchQueue?.label == DispatchQueue.main.label)
        let queue = DispatchQueue(label: "named")
        queue.setSpecific(key: key, value: 1)
        open(webSocket, recorder, on: queue)
        #expect(webSocket.delegate === recorder && webSocket.delegateDispatchQueue === queue)
        #expect(eventually { recorder.calls == [.opened] })
        #expect(eventually { found.withLock { $0 } == [1] })

        let operations = OperationQueue()
        let underlying = DispatchQueue(label: "operations")
        underlying.setSpecific(key: key, value: 2)
        operations.underlyingQueue = underlying
        webSocket.delegateOperationQueue = operations
        #expect(webSocket.delegateOperationQueue === operations && webSocket.delegateDispatchQueue == nil)
        for number in 0..<100 { try webSocket.send(string: "\(number)") }
        let texts = (0..<100).map { Recorder.Call.text("\($0)") }
        #expect(eventually { recorder.calls.filter { if case .text = $0 { true } else { false } } == texts })
        #expect(eventually { found.withLock { $0 } == [1, 2] })
        webSocket.delegateOperationQueue = nil
        #expect(webSocket.delegateDispatchQueue?.label == DispatchQueue.main.label)
    }

    @Test("scheduleInRunLoop:forMode: unscheduleFromRunLoop:forMode:")
    func runLoops() throws {
        let (server, recorder) = (try Server(), Recorder())
        let webSocket = SRWebSocket(url: try server.url())
        webSocket.schedule(in: .current, forMode: "default")
        open(webSocket, recorder)
        #expect(eventually { webSocket.readyState == .OPEN })
        webSocket.unschedule(from: .current, forMode: "default")
        try webSocket.send(string: "still here")
        #expect(eventually { server.side.messages == [.text("still here")] })
    }
}
