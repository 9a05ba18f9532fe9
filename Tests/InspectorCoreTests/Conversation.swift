import InspectorCore
import InspectorScreen
import SocketCore

/// What a person sees who uses the program as nc: one connection, a standing read, a request and its reply.
enum Conversation {
    static let id = SocketID(1)
    static let request = OpenRequest(.tcp(host: "localhost", port: 8000))

    static var socket: SocketSnapshot {
        var socket = World.make(1, .client, .connected, target: "localhost:8000", opened: World.at(14, 2, 1))
        socket.local = .v6(host: "::1", port: 40_100)
        socket.peer = .v6(host: "::1", port: 8000)
        socket.connected = World.at(14, 2, 1.002)
        socket.descriptor = 9
        socket.flags = [.socketStarted, .connected, .socketCanAcceptBytes, .writeSourceSuspended]
        socket.reading.current = OperationSnapshot(
            id: OperationID(1), kind: .read(.available(limit: nil)), isStanding: true, started: World.at(14, 2, 9))
        socket.reading.completed = 2
        socket.writing.completed = 1
        socket.received = 151
        socket.sent = 16
        socket.receiveRate = 312
        socket.sendRate = 0
        var kernel = KernelSnapshot()
        kernel.state = "ESTAB"
        kernel.receiveQueue = 0
        kernel.sendQueue = 0
        kernel.notSent = 0
        kernel.roundTripTime = .microseconds(40)
        socket.kernel = kernel
        return socket
    }

    private static func item(
        _ sequence: UInt64, _ second: Double, _ direction: TrafficItem.Direction, tag: Int, _ text: String
    ) -> TrafficItem {
        let bytes = Array(text.utf8)
        return TrafficItem(
            sequence: sequence, operation: OperationID(sequence + 1), time: World.at(14, 2, second),
            direction: direction, tag: tag, kind: direction == .sent ? .write : .read(.available(limit: nil)),
            done: bytes.count, total: direction == .sent ? bytes.count : nil,
            state: .complete(after: .microseconds(90)), bytes: bytes)
    }

    static var traffic: TrafficSnapshot {
        TrafficSnapshot(items: [
            item(0, 5, .sent, tag: 1, "GET / HTTP/1.0\r\n\r\n"),
            item(1, 5.0021, .received, tag: 0, "HTTP/1.0 200 OK\r\nServer: demo\r\nContent-Type: text/plain\r\n\r\n"),
            item(
                2, 5.0043, .received, tag: 0,
                "name\tvalue\nna\u{EF}ve\t\u{65E5}\u{672C}\u{8A9E}\nred: \u{1B}[31mRED\u{1B}[0m and \u{202E}evil\n"
                    + "a line that is much longer than the pane is wide, so that it has to go on in a second row of it, "
                    + "where a mark says so\n\u{FFFD}no line end"),
        ])
    }

    static var events: [SocketEvent] {
        [
            SocketEvent(sequence: 0, time: World.at(14, 2, 1), socket: id, kind: .resolving),
            SocketEvent(sequence: 1, time: World.at(14, 2, 1.001), socket: id, kind: .resolved, first: 2),
            SocketEvent(sequence: 2, time: World.at(14, 2, 1.002), socket: id, kind: .connected),
            SocketEvent(sequence: 3, time: World.at(14, 2, 5), socket: id, kind: .writeDone, tag: 1, first: 16),
        ]
    }

    static func snapshot(_ socket: SocketSnapshot = socket) -> EngineSnapshot {
        var snapshot = World.snapshot([socket])
        snapshot.events = events
        snapshot.nextEvent = 4
        snapshot.traffic = traffic
        snapshot.trafficOf = socket.id
        return snapshot
    }

    /// As it stands right after the reply.
    static func model(ascii: Bool, size: Size) -> Model {
        var model = Model(options: .init(ascii: ascii, version: "0.1"))
        _ = model.update(.resized(size))
        _ = model.update(.opened(id, request))
        _ = model.update(.snapshot(snapshot()))
        return model
    }

    /// After the peer's FIN.
    static func closed(ascii: Bool, size: Size) -> Model {
        var model = model(ascii: ascii, size: size)
        model.type("one more")
        var socket = socket
        socket.phase = .closed
        socket.flags = []
        socket.reading.current = nil
        socket.kernel = nil
        socket.closed = CloseRecord(
            time: World.at(14, 2, 13.1), error: SocketError(.closedByPeer, operation: "read", detail: "peer closed"))
        var last = snapshot(socket)
        last.events = [
            SocketEvent(sequence: 4, time: World.at(14, 2, 13.1), socket: id, kind: .peerClosed),
            SocketEvent(sequence: 5, time: World.at(14, 2, 13.1), socket: id, kind: .closed),
        ]
        last.nextEvent = 6
        _ = model.update(.snapshot(last))
        return model
    }
}
