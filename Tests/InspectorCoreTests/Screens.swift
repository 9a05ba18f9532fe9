import InspectorCore
import InspectorScreen
import SocketCore

/// A state of the model, for pictures and for `SizeTests`.
struct Screen: Sendable {
    let name: String
    let model: @Sendable (Size) -> Model

    init(_ name: String, _ model: @escaping @Sendable (Size) -> Model) { (self.name, self.model) = (name, model) }

    static let all: [Screen] =
        WorldScreens.all + ReachScreens.all + TLSPictures.screens + WebSocketPictures.screens
        + WebSocketPassingPictures.screens + WebSocketTrafficTests.screens + HostPictures.screens + UnreadTests.screens
        + FleetPictures.screens
        + OutputTests.screens + RewindTests.screens + DissectionTests.screens + DialogScreens.all

    static func named(_ name: String) -> Screen {
        guard let screen = all.first(where: { $0.name == name }) else { preconditionFailure("no screen is \(name)") }
        return screen
    }
}

/// The views of one engine in different states.
enum WorldScreens {
    static let views = ["start", "list", "talk", "detail", "events", "help", "connect", "nc"]
    static let states = [
        "list-empty", "nc-closed", "talk-hex", "talk-escaped", "talk-composer-escapes", "talk-unread", "talk-listener",
        "talk-closed", "detail-long", "detail-closed", "events-cursor", "answer-waiting", "frozen", "listen", "read",
        "close", "answer", "quit", "list-filter", "list-filter-bad", "preview-unread", "read-frame", "operations",
        "operation", "watermarks", "pace", "save", "reply", "templates", "marked", "start-many", "start-typed",
        "start-chosen", "start-error", "help-moved", "palette", "palette-typed", "palette-arguments",
    ]

    static let all: [Screen] =
        (views + states).map { name in Screen(name) { model(name, ascii: true, $0) } }
        + views.map { name in Screen("\(name)-unicode") { model(name, ascii: false, $0) } }

    /// A model in one of the states that are worth a picture.
    static func model(_ name: String, ascii: Bool, _ size: Size) -> Model {
        switch name {
        case "start":
            var model = Model(options: .init(ascii: ascii, version: "0.1"))
            _ = model.update(.resized(size))
            _ = model.update(.start(World.offers))
            return model
        case "start-many", "start-typed", "start-chosen", "start-error": return startModel(name, ascii: ascii, size)
        case "list-empty":
            var model = Model(options: .init(ascii: ascii, version: "0.1"))
            _ = model.update(.resized(size))
            _ = model.update(.snapshot(World.snapshot([World.dialing])))
            _ = model.update(.snapshot(World.snapshot([])))
            return model
        case "nc": return Conversation.model(ascii: ascii, size: size)
        case "nc-closed": return Conversation.closed(ascii: ascii, size: size)
        default: break
        }
        var model = World.model(ascii: ascii, size: size)
        if name == "answer-waiting" {
            _ = model.update(.snapshot(holding))
            _ = model.update(.peers([SocketID(3): PeerEnd(waiting: waiting)]))
        }
        if name == "templates" { _ = model.update(.templates(templates)) }
        for key in keys(name) { model.press(key) }
        if name == "talk-composer-escapes" { model.type("GET /v1/status HTTP/1.1\\r\\nHost: example\\r\\n") }
        if name == "palette-typed" { model.type("clo") }
        if name == "palette-arguments" { model.type("read ") }
        if name == "list-filter" { model.type("port:8080 state:estab") }
        if name == "list-filter-bad" { model.type("state:nowhere") }
        if name == "frozen" { _ = model.update(.snapshot(later)) }
        return model
    }

    /// The start screen with more to offer than fits.
    private static func startModel(_ name: String, ascii: Bool, _ size: Size) -> Model {
        var model = Model(options: .init(ascii: ascii, version: "0.1"))
        _ = model.update(.resized(size))
        var offers = World.offers
        offers.recent += (1...18).map { .init(text: "host\($0).example:80", age: "3 days ago") }
        offers.listening += (1...20).map { .init(address: "127.0.0.1:\(9000 + $0)", program: "nginx[\(700 + $0)]") }
        offers.programs = [.init(title: "chatd[4242]", age: "up 2:04:10", path: "/run/user/1/socktui/4242-1.sock")]
        _ = model.update(.start(offers))
        switch name {
        case "start-typed": model.type("redis")
        case "start-chosen": for _ in 0..<30 { model.press(.down) }
        case "start-error":
            model.type("attach 25702")
            _ = model.update(
                .refused(
                    "25702: process 25702 is not inspectable; run it with SOCKETKIT_INSPECT=1, or have it call "
                        + "SocketEngine.serve() once it has started"))
        default: break
        }
        return model
    }

    private static let templates = [
        Template(name: "http-get", mode: .escapes, body: "GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n", ending: .none),
        Template(name: "ping", mode: .text, body: "PING", ending: .crlf, readAfter: .available(limit: nil)),
    ]

    /// Three connections wait at the listener.
    private static var holding: EngineSnapshot {
        var snapshot = World.full
        for index in snapshot.sockets.indices where snapshot.sockets[index].role == .listener {
            snapshot.sockets[index].kernel?.receiveQueue = 3
        }
        return snapshot
    }

    private static let waiting = [
        PeerEnd.Waiting(
            peer: "127.0.0.1:47256", program: PeerEnd.Program(process: 24697, name: "curl", descriptor: 5)),
        PeerEnd.Waiting(peer: "192.0.2.77:51040"),
    ]

    private static var later: EngineSnapshot {
        var snapshot = World.full
        snapshot.time = World.at(14, 2, 15)
        snapshot.wallNanoseconds += 1_800_000_000
        snapshot.events = (225..<357).map {
            SocketEvent(sequence: $0, time: snapshot.time, socket: SocketID(8), kind: .readPartial)
        }
        snapshot.nextEvent = 357
        return snapshot
    }

    private static func keys(_ name: String) -> [Key] {
        switch name {
        case "talk": [.character("2")]
        case "talk-hex": [.character("2"), .character("v")]
        case "talk-escaped": [.character("2"), .character("v"), .character("v"), .up, .up]
        case "talk-composer-escapes": [.enter, .alt("t")]
        case "talk-unread": [.character("j"), .character("j"), .character("j"), .character("2")]
        case "talk-listener": [.character("2")] + Array(repeating: .character("["), count: 3)
        case "talk-closed": [.character("2"), .character("[")]
        case "detail": [.character("3")]
        case "detail-long": [.character("3"), .character("]"), .character("]"), .character("j"), .character("j")]
        case "detail-closed": [.character("3"), .character("[")]
        case "events": [.character("4")]
        case "frozen": [.character("4"), .character(" ")]
        case "help": [.character("?")]
        case "help-moved": [.character("?")] + Array(repeating: .down, count: 41)
        case "palette", "palette-typed", "palette-arguments": [":"]
        case "connect": [.character("c"), .tab]
        case "listen": [.character("l")]
        case "read": [.character("r"), .right, .right]
        case "read-frame": [.character("r"), .character("f")]
        case "operations": [.character("d"), .character("j")]
        case "operation": [.character("d"), .character("2")]
        case "watermarks": [.character("b")]
        case "save": [.character("2"), .character("o")]
        case "reply": [.character("R")]
        case "templates": [.enter, .alt("o")]
        case "pace": [.enter, .alt("r"), .tab, .character("3")]
        case "close": [.character("x"), .character("j")]
        case "answer": [.character("A")]
        case "answer-waiting": [.character("g"), .character("A")]
        case "events-cursor": [.character("4")] + Array(repeating: .up, count: 9)
        case "quit": [.character("q")]
        case "list-filter", "list-filter-bad": [.character("f")]
        case "marked": [.character("a"), .character("X")]
        case "preview-unread": [.character("j"), .character("j"), .character("j")]
        default: []
        }
    }
}
