import InspectorCore
import InspectorScreen
import SocketCore

/// Dialogs without a picture, for `SizeTests`.
enum DialogScreens {
    static let all = [
        Screen("operation-asking") { world($0, ["d", "1"]) },
        Screen("timeout") { world($0, ["d", "2", "t"]) },
        Screen("marked-close") { world($0, ["a", "X", "c"]) },
        Screen("marked-save") { world($0, ["a", "X", "s"]) },
        Screen("columns") { world($0, ["C"]) },
        Screen("paste") { size in
            var model = world(size, [])
            _ = model.update(.paste("hello\r\n"))
            return model
        },
        Screen("replies") { size in
            var model = world(size, [])
            if case .success(let rule) = ReplyRule.parse("when /^PING/ send PONG\\r\\n") {
                _ = model.update(.replies(SocketID(7), [rule, rule]))
            }
            model.press(.character("R"))
            return model
        },
        Screen("held") { held($0, ["B"]) },
        Screen("held-reset") { held($0, ["B", "r"]) },
        Screen("destination") { size in
            var model = model([datagrams], size)
            model.press(.character("2"), .character("w"), .alt("d"))
            return model
        },
        Screen("datagrams") { size in
            var model = model([datagrams], size)
            model.press(.character("3"))
            return model
        },
        Screen("web-socket-close") { size in
            var model = Screen.named("ws-open").model(size)
            model.press(.character("x"))
            return model
        },
        Screen("peek") { size in
            var rules = PeekRules(user: 1_000)
            (rules.allowsOthers, rules.isOn) = (true, true)
            var model = HostPictures.model(size, "3", selecting: 1, peeks: rules)
            model.press(.character("u"))
            return model
        },
    ]

    private static func model(_ sockets: [SocketSnapshot], _ size: Size) -> Model {
        var model = Model(options: .init(ascii: true, version: "0.1"))
        _ = model.update(.resized(size))
        for _ in 0..<2 { _ = model.update(.snapshot(World.snapshot(sockets))) }
        return model
    }

    private static func world(_ size: Size, _ keys: [Character]) -> Model {
        var model = World.model(once: true, size: size)
        for key in keys { model.press(.character(key)) }
        return model
    }

    private static func held(_ size: Size, _ keys: [Character]) -> Model {
        var client = World.make(2, .accepted, .connected)
        var server = World.make(3, .client, .connected, target: "db.example:6379")
        (client.linked, server.linked) = (server.id, client.id)
        client.fault = FaultSnapshot()
        client.fault?.hold = FaultSnapshot.Hold(
            breakpoint: 1, text: "bytes 4711", since: .zero, upstreamBytes: 4_289, downstreamBytes: 0)
        server.fault = client.fault
        var model = model([client, server], size)
        for key in keys { model.press(.character(key)) }
        return model
    }

    private static var datagrams: SocketSnapshot {
        var socket = World.make(1, .datagram, .open, target: "udp://:5000")
        socket.local = .v4(host: "0.0.0.0", port: 5_000)
        socket.datagrams = DatagramSnapshot(mode: .continuous)
        return socket
    }
}
