import InspectorScreen
import InspectorCore
import SocketCore
import Testing

/// A WebSocket from its handshake to its end.
@Suite("WebSockets in pictures")
struct WebSocketPictures {
    private static let request = HTTPHead(
        startLine: "GET /chat HTTP/1.1",
        fields: [
            HTTPField("Host", "chat.example:8080"), HTTPField("Upgrade", "websocket"),
            HTTPField("Connection", "Upgrade"), HTTPField("Sec-WebSocket-Version", "13"),
            HTTPField("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), HTTPField("Cookie", "session=8QfG"),
            HTTPField("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits"),
            HTTPField("Sec-WebSocket-Protocol", "chat, superchat"),
        ])
    private static let answer = HTTPHead(
        startLine: "HTTP/1.1 101 Switching Protocols",
        fields: [
            HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"),
            HTTPField("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
            HTTPField("Sec-WebSocket-Extensions", "permessage-deflate"), HTTPField("Sec-WebSocket-Protocol", "chat"),
        ])

    private static func base(_ stage: WebSocketStage) -> SocketSnapshot {
        var socket = World.make(1, .client, .connected, target: "ws://chat.example:8080/chat")
        socket.local = .v4(host: "192.0.2.10", port: 51514)
        socket.peer = .v4(host: "192.0.2.80", port: 8080)
        socket.connected = World.at(14, 2, 10)
        socket.flags = [.socketStarted, .connected, .socketCanAcceptBytes]
        socket.reading.current = OperationSnapshot(
            id: OperationID(1), kind: .read(.available(limit: nil)), tag: 0, isStanding: true)
        (socket.received, socket.sent) = (1_840, 512)
        var facts = WebSocketPicture(role: .client, stage: stage, target: "ws://chat.example:8080/chat")
        facts.request = request
        socket.webSocket = facts
        return socket
    }

    private static var opening: SocketSnapshot {
        var socket = base(.opening)
        socket.webSocket?.headBytes = 48
        socket.webSocket?.openingDeadline = World.at(14, 2, 20)
        return socket
    }

    private static var refused: SocketSnapshot {
        var socket = base(.refused)
        socket.phase = .closed
        socket.webSocket?.response = HTTPHead(
            startLine: "HTTP/1.1 403 Forbidden", fields: [HTTPField("Content-Type", "text/plain")])
        socket.webSocket?.problem = "ws://chat.example:8080/chat: the server answered HTTP/1.1 403 Forbidden"
        socket.closed = CloseRecord(time: World.at(14, 2, 11))
        return socket
    }

    private static var open: SocketSnapshot {
        var socket = base(.open)
        socket.webSocket?.response = answer
        socket.webSocket?.subprotocol = "chat"
        socket.webSocket?.extensions = ["permessage-deflate"]
        socket.webSocket?.openedIn = .microseconds(12_400)
        var traffic = WebSocketSnapshot(role: .client)
        traffic.received.messages = 12
        traffic.received.frames = 31
        traffic.received.compressedMessages = 9
        traffic.received.messageBytes = 1_260_000
        traffic.received.payloadBytes = 323_000
        traffic.received.pings = 2
        traffic.sent.messages = 4
        traffic.sent.frames = 7
        traffic.sent.messageBytes = 400
        traffic.sent.payloadBytes = 400
        traffic.sent.pongs = 2
        traffic.sent.pings = 1
        traffic.roundTrip = .microseconds(220)
        traffic.deflate = PerMessageDeflateParameters()
        socket.webSocket?.traffic = traffic
        return socket
    }

    /// In the middle of a frame in both directions.
    private static var half: SocketSnapshot {
        var socket = open
        socket.webSocket?.traffic?.awaiting = .payload(.continuation, done: 1_024, total: 65_536)
        socket.webSocket?.traffic?.receiving = WebSocketMessageProgress(
            id: WebSocketMessageID(13), type: .text, isCompressed: true, fragments: 3, bytes: 412_000,
            wireBytes: 99_000)
        socket.webSocket?.traffic?.sending = WebSocketSendProgress(
            opcode: .binary, message: WebSocketMessageID(5), done: 491_520, total: 1_966_094)
        socket.webSocket?.traffic?.queuedMessages = 2
        socket.webSocket?.traffic?.bufferedBytes = 1_474_574
        socket.webSocket?.traffic?.pendingPings = 1
        return socket
    }

    private static var closed: SocketSnapshot {
        var socket = open
        socket.phase = .closed
        socket.webSocket?.stage = .closed
        socket.webSocket?.traffic?.awaiting = .nothing
        socket.webSocket?.report = WebSocketCloseReport(
            sent: WebSocketCloseFrame(code: .protocolError, reason: "opcode 0x5 has no meaning"), received: nil,
            failure: .unknownOpcode(5), origin: .local, wasClean: false, unsentBytes: 18,
            began: World.at(14, 2, 11), ended: World.at(14, 2, 12))
        socket.closed = CloseRecord(time: World.at(14, 2, 12))
        return socket
    }

    static func model(_ socket: SocketSnapshot, _ size: Size, _ keys: [Key]) -> Model {
        var model = Model(options: .init(ascii: true, version: "test"))
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(World.snapshot([socket])))
        _ = model.update(.opened(SocketID(1), OpenRequest(.tcp(host: "chat.example", port: 8080))))
        _ = model.update(.snapshot(World.snapshot([socket])))
        model.press(.escape)
        for key in keys { model.press(key) }
        return model
    }

    /// From the handshake to the end.
    static let screens: [Screen] = [
        Screen("ws-opening") { model(opening, $0, [.character("3")]) },
        Screen("ws-refused") { model(refused, $0, [.character("3")]) },
        Screen("ws-half") { model(half, $0, [.character("3")]) },
        Screen("ws-half-list") { model(half, $0, [.character("1")]) },
        Screen("ws-half-talk") { model(half, $0, [.character("2")]) },
        Screen("ws-open") { model(open, $0, [.character("3")]) },
        Screen("ws-closed") { model(closed, $0, [.character("3")]) },
        Screen("ws-heads") { model(open, $0, [.character("3"), .character("G")]) },
    ]

    @Test("the parser is seen to wait for each part of a frame")
    func awaiting() {
        let states: [(WebSocketParserState, String)] = [
            (.header(done: 1), "frame header 1/2"), (.extendedLength(done: 3, total: 8), "extended length 3/8"),
            (.mask(done: 2), "mask 2/4"), (.payload(.text, done: 1_024, total: 65_536), "payload of text 1024/65536"),
            (.nothing, "nothing: input is discarded"),
        ]
        for (state, words) in states {
            var socket = Self.open
            socket.webSocket?.traffic?.awaiting = state
            let text = draw(Self.model(socket, Size(80, 24), [.character("3")]), Size(80, 24)).text
            #expect(text.contains(words), "\(words) is missing:\n\(text)")
        }
    }

    @Test("what the peer wrote is never drawn as it came, and a cookie not at all")
    func hostile() {
        var socket = Self.closed
        socket.webSocket?.report?.received = WebSocketCloseFrame(code: .normal, reason: "\u{1B}[2J")
        socket.webSocket?.subprotocol = "\u{7}chat"
        let size = Size(140, 60)
        let text = draw(Self.model(socket, size, [.character("3")]), size).text
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        #expect(text.contains("Cookie: ***") && !text.contains("8QfG"))
    }

    @Test("a WebSocket as JSON: what is half done, and no secret")
    func json() {
        let json = SocketJSON(clock: WallClock())
        let text = JSON.object(json.members(Self.half)).text
        let awaiting = #""awaiting":{"what":"payload","opcode":"continuation","done_bytes":1024,"total_bytes":65536}"#
        #expect(text.contains(awaiting))
        #expect(text.contains(#""sending":{"opcode":"binary","message":5,"done_bytes":491520,"total_bytes":1966094}"#))
        #expect(text.contains(#""subprotocol":"chat""#) && text.contains(#""rtt_ms":0.22"#))
        #expect(text.contains("***") && !text.contains("8QfG"))
        let end = JSON.object(json.members(Self.closed)).text
        #expect(end.contains(#""initiated_by":"local","sent":{"code":1002,"reason":"opcode 0x5 has no meaning"}"#))
    }
}
