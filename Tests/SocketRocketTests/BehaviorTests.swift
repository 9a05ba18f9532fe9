import SocketKit
import SocketRocket
import SocketTestSupport
import Testing

@Suite("SRWebSocket beyond its members", .timeLimit(.minutes(10)))
struct BehaviorTests {
    @Test("sending before it is open throws 2134, and nothing is sent")
    func early() throws {
        let server = try Server()
        let webSocket = SRWebSocket(url: try server.url())
        let error = try #require(throws: NSError.self) { try webSocket.send(string: "early") }
        #expect(error.domain == SRWebSocketErrorDomain && error.code == 2134)
        let recorder = Recorder()
        open(webSocket, recorder)
        #expect(eventually { webSocket.readyState == .OPEN })
        webSocket.close()
        #expect(eventually { recorder.end != nil })
        let late = try #require(throws: NSError.self) { try webSocket.send(data: Data([1])) }
        #expect(late.code == 2134)
        #expect(server.side.messages.isEmpty)
    }

    @Test("it lives until its last callback without anybody who keeps it, and goes afterwards")
    func lifetime() throws {
        let (server, recorder) = (try Server(), Recorder())
        weak var released: SRWebSocket?
        do {
            let webSocket = SRWebSocket(url: try server.url())
            released = webSocket
            open(webSocket, recorder)
        }
        #expect(eventually { recorder.calls == [.opened] && server.side.webSockets.count == 1 })
        server.side.webSockets[0].write("kept")
        #expect(eventually { recorder.calls.contains(.text("kept")) })
        server.side.webSockets[0].close(.goingAway, reason: "bye")
        #expect(eventually { recorder.end == .closed(code: 1001, reason: "bye", wasClean: true) })
        #expect(eventually { released == nil })
    }

    @Test("a server that ends the connection without a Close is told as 1001")
    func cut() throws {
        let listener = try RawListener()
        let recorder = Recorder()
        let webSocket = SRWebSocket(url: try #require(URL(string: "ws://127.0.0.1:\(listener.port)/")))
        open(webSocket, recorder)
        let (peer, _) = try listener.acceptWebSocket()
        #expect(eventually { recorder.calls == [.opened] })
        peer.end()
        let expected = Recorder.Call.closed(code: 1001, reason: "Stream end encountered", wasClean: false)
        #expect(eventually { recorder.end == expected })
    }

    @Test("a server that breaks the protocol is told with the code that was sent")
    func broken() throws {
        let listener = try RawListener()
        let recorder = Recorder()
        let webSocket = SRWebSocket(url: try #require(URL(string: "ws://127.0.0.1:\(listener.port)/")))
        open(webSocket, recorder)
        let (peer, _) = try listener.acceptWebSocket()
        try peer.send([0xC1, 0x00])
        #expect(eventually { recorder.calls.contains(.opened) })
        peer.shutWrite()
        #expect(eventually { recorder.end != nil })
        guard case .closed(1002, _, false) = recorder.end else {
            Issue.record("\(recorder.calls)")
            return
        }
    }

    @Test("refused connections, times that run out and URLs that are none are failures")
    func failures() throws {
        let silent = try RawListener()
        var request = URLRequest(url: try #require(URL(string: "ws://127.0.0.1:\(silent.port)/")))
        request.timeoutInterval = 0.2
        let held = try HeldPort()
        let gone = "ws://127.0.0.1:\(held.port)/"
        let cases: [(URLRequest, domain: String, code: Int)] = [
            (request, NSURLErrorDomain, NSURLErrorTimedOut),
            (URLRequest(url: try #require(URL(string: gone))), NSPOSIXErrorDomain, 111),
            (URLRequest(url: try #require(URL(string: "ftp://127.0.0.1/"))), NSURLErrorDomain, NSURLErrorBadURL),
        ]
        for (request, domain, code) in cases {
            let recorder = Recorder()
            let webSocket = SRWebSocket(urlRequest: request)
            open(webSocket, recorder)
            #expect(eventually { recorder.calls == [.failed(domain: domain, code: code)] }, "\(recorder.calls)")
            #expect(webSocket.readyState == .CLOSED)
        }
        withExtendedLifetime((silent, held)) {}
    }

    @Test("closing before it is open tells of an end once, and before open() nothing happens any more")
    func closedEarly() throws {
        let silent = try RawListener()
        let url = try #require(URL(string: "ws://127.0.0.1:\(silent.port)/"))
        let (connecting, recorder) = (SRWebSocket(url: url), Recorder())
        open(connecting, recorder)
        connecting.close()
        #expect(eventually { recorder.calls == [.closed(code: 0, reason: nil, wasClean: true)] })

        let (new, silence) = (SRWebSocket(url: url), Recorder())
        new.close()
        open(new, silence)
        #expect(new.readyState == .CLOSED && silence.calls.isEmpty)
    }

    @Test("a long reason is cut at a character, and a code that cannot be sent closes without one")
    func reasons() throws {
        let (server, recorder) = (try Server(), Recorder())
        let webSocket = SRWebSocket(url: try server.url())
        open(webSocket, recorder)
        #expect(eventually { webSocket.readyState == .OPEN })
        webSocket.close(withCode: 4000, reason: String(repeating: "ü", count: 100))
        #expect(eventually { server.side.report?.received?.reason == String(repeating: "ü", count: 61) })

        let other = SRWebSocket(url: try server.url())
        open(other, Recorder())
        #expect(eventually { other.readyState == .OPEN })
        other.close(withCode: 1006, reason: nil)
        #expect(eventually { server.side.endings == 2 })
        #expect(server.side.report?.received == WebSocketCloseFrame(code: nil))
    }

    @Test("a delegate that does not keep up slows the server down, and gets everything in order")
    func slow() throws {
        let server = try Server(WebSocketRecorder())
        let gate = DispatchSemaphore(value: 0)
        let recorder = Recorder { _, call in if call == .opened { gate.wait() } }
        let webSocket = SRWebSocket(url: try server.url())
        open(webSocket, recorder)
        #expect(eventually { server.side.webSockets.count == 1 })
        let peer = server.side.webSockets[0]
        for number in 0..<400 { peer.write([UInt8](repeating: UInt8(number % 251), count: 65_536)) }
        #expect(eventually { peer.bufferedAmount > 1 << 20 })
        gate.signal()
        #expect(eventually { recorder.calls.count == 801 })
        let firsts = recorder.calls.compactMap { if case .data(let data) = $0 { data.first } else { nil } }
        #expect(firsts == (0..<400).map { UInt8($0 % 251) })
    }
}
