import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// A WebSocket of others that passes through a relay, on both of its legs.
@Suite("WebSockets of others in pictures")
struct WebSocketPassingPictures {
    private static let request = HTTPHead(
        startLine: "GET /room HTTP/1.1",
        fields: [
            HTTPField("Host", "chat.example:9000"), HTTPField("Upgrade", "websocket"),
            HTTPField("Connection", "Upgrade"), HTTPField("Sec-WebSocket-Version", "13"),
            HTTPField("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), HTTPField("Cookie", "session=8QfG"),
            HTTPField("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits"),
        ])
    private static let answer = HTTPHead(
        startLine: "HTTP/1.1 101 Switching Protocols",
        fields: [
            HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"),
            HTTPField("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
            HTTPField("Sec-WebSocket-Extensions", "permessage-deflate"),
        ])

    private static func counters(_ messages: UInt64, pings: UInt64, pongs: UInt64) -> WebSocketCounters {
        var counters = WebSocketCounters()
        (counters.messages, counters.compressedMessages, counters.frames) = (messages, messages, messages + 2)
        (counters.messageBytes, counters.payloadBytes) = (messages * 2_100, messages * 500)
        (counters.pings, counters.pongs) = (pings, pongs)
        return counters
    }

    /// Both legs: the client's is #2, the target's #3. The client sends a frame of which 1024 bytes have come.
    private static var legs: [SocketSnapshot] {
        var client = World.make(2, .accepted, .connected)
        client.local = .v4(host: "192.0.2.10", port: 9000)
        client.peer = .v4(host: "192.0.2.77", port: 51022)
        client.parent = SocketID(1)
        var target = World.make(3, .client, .connected, target: "chat.example:8080")
        target.local = .v4(host: "192.0.2.10", port: 40112)
        target.peer = .v4(host: "192.0.2.80", port: 8080)
        (client.linked, target.linked) = (target.id, client.id)
        for role in [WebSocketRole.server, .client] {
            var facts = WebSocketPicture(role: role, stage: .open, target: "/room")
            (facts.request, facts.response) = (request, answer)
            facts.extensions = ["permessage-deflate"]
            facts.openedIn = .microseconds(2_400)
            var traffic = WebSocketSnapshot(role: role)
            let half = WebSocketMessageProgress(
                id: WebSocketMessageID(13), type: .binary, isCompressed: true, fragments: 2, bytes: 41_000,
                wireBytes: 9_900)
            let (fromClient, fromServer) = (counters(12, pings: 1, pongs: 0), counters(4, pings: 0, pongs: 1))
            facts.observation = WebSocketObservation()
            if role == .server {
                traffic.awaiting = .payload(.continuation, done: 1_024, total: 65_536)
                traffic.receiving = half
                (traffic.received, traffic.sent) = (fromClient, fromServer)
            } else {
                traffic.sending = WebSocketSendProgress(
                    opcode: .continuation, message: half.id, done: 1_038, total: 65_550)
                facts.observation?.sending = half
                (traffic.received, traffic.sent) = (fromServer, fromClient)
                traffic.roundTrip = .microseconds(310)
            }
            traffic.deflate = PerMessageDeflateParameters()
            facts.traffic = traffic
            if role == .server { client.webSocket = facts } else { target.webSocket = facts }
        }
        return [client, target].map { leg in
            var leg = leg
            leg.connected = World.at(14, 1, 41)
            leg.flags = [.socketStarted, .connected, .socketCanAcceptBytes]
            (leg.received, leg.sent) = leg.role == .accepted ? (7_400, 2_600) : (2_600, 7_400)
            leg.reading.current = OperationSnapshot(
                id: OperationID(leg.id.number), kind: .read(.available(limit: nil)), isStanding: true)
            return leg
        }
    }

    private static var listener: SocketSnapshot {
        var listener = World.make(1, .listener, .listening, target: ":9000")
        listener.name = "relay to chat.example:8080"
        listener.local = .v6(host: "::", port: 9000)
        listener.accepted = 1
        return listener
    }

    private static var traffic: TrafficSnapshot {
        func item(
            _ number: UInt64, _ kind: WebSocketTraffic.Kind, _ text: String, sent: Bool, wire: Int? = nil,
            problem: String? = nil
        ) -> TrafficItem {
            var item = TrafficItem(
                sequence: number, operation: OperationID(number), time: World.at(14, 2, 11 + Double(number) / 10),
                direction: sent ? .sent : .received, tag: 0, kind: .write, done: text.utf8.count,
                total: text.utf8.count, state: .complete(after: .zero), bytes: Array(text.utf8))
            item.webSocket = WebSocketTraffic(kind)
            item.webSocket?.problem = problem
            if let wire {
                item.webSocket?.add(
                    WebSocketFrameRecord(
                        isSent: sent, opcode: .text, isFinal: true, reserved: 4, maskKey: sent ? nil : 0x37FA_213D,
                        length: wire, messageBytes: text.utf8.count, message: WebSocketMessageID(number), time: .zero))
            }
            return item
        }
        return TrafficSnapshot(items: [
            item(1, .text, "{\"room\":\"lobby\",\"say\":\"hello\"}", sent: false, wire: 24),
            item(2, .text, "{\"room\":\"lobby\",\"from\":\"ann\",\"say\":\"hello\"}", sent: true, wire: 31),
            item(3, .binary, "", sent: true, wire: 16_410, problem: "not inflated: over 16777216 bytes"),
            item(4, .undecoded, "GET / HTTP/1.1\r\n", sent: false, problem: "opcode 0x7 has no meaning"),
        ])
    }

    private static var broken: [SocketSnapshot] {
        legs.map { leg in
            var leg = leg
            leg.phase = .closed
            leg.reading = QueueSnapshot()
            leg.closed = CloseRecord(time: World.at(14, 2, 12))
            let close = WebSocketCloseFrame(code: .protocolError, reason: "opcode 0x7")
            let isServer = leg.webSocket?.role == .server
            leg.webSocket?.stage = .closed
            leg.webSocket?.observation?.sending = nil
            leg.webSocket?.traffic?.receiving = nil
            leg.webSocket?.traffic?.sending = nil
            leg.webSocket?.traffic?.discardedBytes = 16
            leg.webSocket?.traffic?.closeOrigin = isServer ? .local : .peer
            if isServer {
                leg.webSocket?.observation?.receivedFailure = .unknownOpcode(7)
                leg.webSocket?.traffic?.closeSent = close
            } else {
                leg.webSocket?.observation?.sentFailure = .unknownOpcode(7)
                leg.webSocket?.traffic?.closeReceived = close
            }
            leg.webSocket?.traffic?.failure = .unknownOpcode(7)
            leg.webSocket?.report = WebSocketCloseReport(
                sent: isServer ? close : nil, received: isServer ? nil : close, failure: .unknownOpcode(7),
                origin: isServer ? .local : .peer, wasClean: false, unsentBytes: 0, began: World.at(14, 2, 11),
                ended: World.at(14, 2, 12))
            return leg
        }
    }

    private static func model(_ legs: [SocketSnapshot], _ id: UInt64, _ size: Size, _ keys: [Key]) -> Model {
        var model = Model(options: .init(ascii: true, version: "test"))
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(World.snapshot([listener] + legs)))
        for _ in 0..<3 where model.list.selected != SocketID(id) { model.press(.character("j")) }
        for key in keys { model.press(key) }
        var snapshot = World.snapshot([listener] + legs)
        snapshot.trafficOf = SocketID(id)
        snapshot.traffic = traffic
        _ = model.update(.snapshot(snapshot))
        return model
    }

    /// Its row, its messages and its detail, on either leg.
    static let screens: [Screen] = [
        Screen("ws-passing-list") { model(legs, 3, $0, []) },
        Screen("ws-passing-talk") { model(legs, 2, $0, [.character("2")]) },
        Screen("ws-passing-client") { model(legs, 2, $0, [.character("3")]) },
        Screen("ws-passing-target") { model(legs, 3, $0, [.character("3")]) },
        Screen("ws-passing-broken") { model(broken, 2, $0, [.character("3")]) },
    ]

    @Test("the detail of both legs has the same facts", arguments: PictureTests.sizes)
    func sameFacts(_ size: Size) {
        let rows = ["ws-passing-client", "ws-passing-target"].map { name in
            ScreenPart.pane.text(Screen.named(name).model(size), size).split(separator: "\n").filter {
                !$0.contains("more lines below") && !$0.contains("last bytes")
            }
        }
        #expect(rows[0] == rows[1])
    }

    @Test("who ended it is the client or the server, never this program")
    func endings() {
        let broken = Self.broken
        let words =
            "the client broke the protocol: opcode 0x7 has no meaning; the server closed with 1002 protocol error "
            + "\"opcode 0x7\", which was not answered"
        #expect(broken.map(\.ending) == [words, words])
        #expect(
            broken.map { $0.shortEnding(timeout: nil) }
                == Array(repeating: "server closed 1002 protocol error", count: 2))
        var silent = Self.legs[0]
        silent.phase = .closed
        silent.closed = CloseRecord(time: World.at(14, 2, 12))
        silent.webSocket?.stage = .closed
        silent.webSocket?.report = WebSocketCloseReport(
            sent: nil, received: nil, failure: .endedWithoutClose, origin: .peer, wasClean: false, unsentBytes: 0,
            began: .zero, ended: .zero)
        #expect(silent.ending == "the client ended it, without a Close (1006)")
        #expect(silent.shortEnding(timeout: nil) == "client closed 1006 abnormal")
    }

    @Test("a line that is sent there by hand goes as a message between theirs")
    func byHand() {
        #expect(Self.legs[0].ownWebSocket == nil && Self.legs[0].passingWebSocket != nil)
        var model = Self.model(Self.legs, 2, Size(80, 24), [.character("2"), .character("w")])
        model.type("x")
        #expect(model.press(.enter) == [.send(.webSocket(SocketID(3), .message(.text("x"))))])
    }

    @Test("as JSON")
    func json() {
        let json = SocketJSON(clock: WallClock())
        let text = JSON.object(json.members(Self.legs[1])).text
        #expect(text.contains(#""sending":{"opcode":"continuation","message":13,"done_bytes":1038"#))
        #expect(text.contains(#""observed":{"sending":{"message":13,"type":"binary","compressed":true,"frames":2"#))
        let broken = JSON.object(json.members(Self.broken[0])).text
        #expect(broken.contains(#""received_failure":"opcode 0x7 has no meaning","sent_failure":null"#))
    }
}
