import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// What a person says on a WebSocket, and what passes there.
@Suite("Talking on a WebSocket")
struct WebSocketTrafficTests {
    private static let id = SocketID(1)

    private static var open: SocketSnapshot {
        var socket = World.make(1, .client, .connected, target: "ws://h:1/")
        socket.peer = .v4(host: "192.0.2.80", port: 1)
        var facts = WebSocketPicture(role: .client, stage: .open, target: "ws://h:1/")
        facts.traffic = WebSocketSnapshot(role: .client)
        socket.webSocket = facts
        return socket
    }

    private static func model(_ size: Size = Size(80, 24)) -> Model {
        var model = WebSocketPictures.model(open, size, [])
        model.press(.character("2"))
        return model
    }

    private func sent(_ effects: [Effect]) -> WebSocketCommand? {
        guard case .send(let sent)? = effects.first, sent.socket == Self.id, case .webSocket(let command) = sent.action
        else { return nil }
        return command
    }

    @Test("a line is one text message, hex one binary message, and nothing is added to either")
    func lines() {
        var model = Self.model()
        model.press(.character("w"))
        model.type("hello")
        #expect(sent(model.press(.enter)) == .message(.text("hello")))
        model.press(.alt("t"))
        model.type("\\xff\\n")
        #expect(sent(model.press(.enter)) == .message(.binary([0xFF, 0x0A])), "what is no UTF-8 is no text")
        model.press(.alt("t"))
        model.type("48 49")
        #expect(sent(model.press(.enter)) == .message(.binary([0x48, 0x49])))
        model.press(.alt("t"))
        model.type("/etc/hostname")
        let file = model.press(.enter).compactMap { effect -> Transmission? in
            if case .transmit(let transmission) = effect { transmission } else { nil }
        }.first
        #expect(file?.isMessages == true && file?.isBinary == true)
    }

    @Test(
        "the line behind the colon",
        arguments: [
            ("ping", .ping([])), ("ping a b", .ping(Array("a b".utf8))), ("pong \\x00", .pong([0])),
            ("close 1000 good bye", .close(.normal, reason: "good bye")),
            ("close 4999", .close(WebSocketCloseCode(rawValue: 4999), reason: "")),
            ("fragments Hel||lo", .fragments(.text, [Array("Hel".utf8), [], Array("lo".utf8)])),
            ("fragments \\xff|a", .fragments(.binary, [[0xFF], [0x61]])), ("send hi", .message(.text("hi"))),
        ] as [(String, WebSocketCommand)])
    func commands(_ line: String, _ wanted: WebSocketCommand) {
        var model = Self.model()
        model.press(.character(":"))
        model.type(line)
        #expect(sent(model.press(.enter)) == wanted)
    }

    @Test("what must not be sent is refused where it was typed, and says what would be right")
    func refusals() {
        for (line, words) in [
            ("close 1005", "1000 to 1003, 1007 to 1014 and 3000 to 4999 are allowed"),
            ("close 70000", "a close code is a number"),
            ("close 1000 " + String(repeating: "x", count: 124), "at most 123 bytes"),
            ("ping " + String(repeating: "x", count: 126), "at most 125 bytes"), ("fragments", "needs parts"),
            ("control maybe", "on, off"),
        ] {
            guard case .failure(let failure) = Instruction.parse(line) else {
                Issue.record("\(line) was taken")
                continue
            }
            #expect(failure.message.contains(words), "\(failure.message)")
        }
    }

    @Test("x offers Close 1000 first")
    func closing() {
        var model = Self.model()
        model.press(.character("x"))
        #expect(sent(model.press(.character("c"))) == .close(.normal, reason: ""))
    }

    private static var traffic: TrafficSnapshot {
        func item(_ number: UInt64, _ kind: WebSocketTraffic.Kind, _ bytes: [UInt8], sent: Bool) -> TrafficItem {
            var item = TrafficItem(
                sequence: number, operation: OperationID(number), time: World.at(14, 2, 11 + Double(number) / 10),
                direction: sent ? .sent : .received, tag: 0, kind: .write, done: bytes.count, total: bytes.count,
                state: .complete(after: sent ? .microseconds(240) : .zero), bytes: bytes)
            item.webSocket = WebSocketTraffic(kind)
            return item
        }
        func frame(_ opcode: WebSocketOpcode, isFinal: Bool, _ length: Int, sent: Bool) -> WebSocketFrameRecord {
            WebSocketFrameRecord(
                isSent: sent, opcode: opcode, isFinal: isFinal, reserved: opcode == .text && !sent ? 4 : 0,
                maskKey: sent ? 0x37FA_213D : nil, length: length, messageBytes: sent ? length : length * 3,
                message: nil, time: .zero)
        }
        var items = [
            item(1, .text, Array("Hello".utf8), sent: true),
            item(2, .text, Array("a long answer, told in two parts".utf8), sent: false), item(3, .ping, [], sent: true),
            item(4, .pong, [], sent: false), item(5, .close, [0x03, 0xEA] + Array("no".utf8), sent: false),
        ]
        items[0].webSocket?.add(frame(.text, isFinal: true, 5, sent: true))
        items[1].webSocket?.add(frame(.text, isFinal: false, 7, sent: false))
        items[1].webSocket?.add(frame(.continuation, isFinal: true, 4, sent: false))
        items[3].webSocket?.roundTrip = .microseconds(310)
        return TrafficSnapshot(items: items)
    }

    private static func talk(_ size: Size, _ keys: [Key] = []) -> Model {
        var model = model(size)
        var snapshot = World.snapshot([open])
        snapshot.trafficOf = id
        snapshot.traffic = traffic
        _ = model.update(.snapshot(snapshot))
        for key in keys { model.press(key) }
        return model
    }

    /// Messages with their frames, and control frames between them.
    static let screens: [Screen] = [
        Screen("ws-talk") { talk($0) }, Screen("ws-talk-hex") { talk($0, [.character("v")]) },
    ]

    @Test("control frames can be hidden, and are counted then")
    func hidden() {
        let size = Size(80, 24)
        var model = Self.talk(size, [.character(":")])
        model.type("control off")
        model.press(.enter)
        let text = draw(model, size).text
        #expect(text.contains("3 control frames hidden (:control on)") && !text.contains("after its ping"))
        #expect(text.contains("a long answer"))
    }
}
