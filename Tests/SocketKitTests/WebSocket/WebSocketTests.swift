import SocketKit
import SocketTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct WebSocketTests {
    @Test func messagesGoThereAndBack() throws {
        let pair = try WebSocketPair(serverSide: .echo())
        #expect(pair.clientSide.calls == [.opened(subprotocol: nil)])
        let messages: [WebSocketMessage] = [
            .text("hello"), .binary([]), .text(String(repeating: "ä", count: 1_000)),
            .binary([UInt8](repeating: 7, count: 70_000)), .text(""),
        ]
        let names = messages.map { pair.client.write($0) }
        #expect(eventually { pair.clientSide.messages == messages })
        #expect(eventually { pair.clientSide.sent == names })
        #expect(pair.client.bufferedAmount == 0)
    }

    @Test("messages of any size", arguments: [1 << 18, 1 << 20, 5 << 20], [false, true])
    func large(size: Int, compressed: Bool) throws {
        var plain = WebSocketConfiguration()
        if !compressed { plain.compression = nil }
        let pair = try WebSocketPair(serverSide: .echo(), client: plain)
        let message = WebSocketMessage.binary((0..<size).map { UInt8(truncatingIfNeeded: $0 >> 3) })
        pair.client.write(message)
        #expect(eventually { pair.clientSide.messages.count == 1 }, "\(String(describing: pair.client.picture))")
        #expect(pair.clientSide.messages.first == message)
    }

    @Test func anAwaitedConversationReadsLikeOne() async throws {
        let engine = SocketEngine()
        let listener = WebSocketListener(engine: engine)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.localAddress?.port)
        let webSockets = listener.webSockets
        let server = Task {
            for try await webSocket in webSockets {
                for try await message in webSocket.messages { try await webSocket.send("you said " + message.text) }
                return webSocket.closeReport
            }
            return nil
        }
        let client = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/chat", on: engine)
        try await client.send("hello")
        var messages = client.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("you said hello"))
        #expect(try await client.ping() > .zero)
        let report = await client.close(.normal, reason: "done")
        #expect(report?.code == .normal)
        #expect(report?.wasClean == true)
        #expect(try await messages.next() == nil)
        let theirs = try await server.value
        #expect(theirs?.received == WebSocketCloseFrame(code: .normal, reason: "done"))
        #expect(theirs?.origin == .peer)
    }

    @Test func overUnixSocketsToo() async throws {
        let folder = try TemporaryFolder()
        let engine = SocketEngine()
        let recorder = WebSocketRecorder.echo()
        let listener = WebSocketListener(engine: engine, delegate: recorder)
        try listener.listen(on: .unix(path: folder.path + "/s"))
        let client = try await WebSocket.connect(to: "ws+unix:\(folder.path)/s:/path?x", on: engine)
        #expect(recorder.agreement?.request.startLine == "GET /path?x HTTP/1.1")
        try await client.send([1, 2, 3])
        var messages = client.messages.makeAsyncIterator()
        #expect(try await messages.next() == .binary([1, 2, 3]))
    }
}
