import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// A relay with two connections through it, one of which is held back by a client that reads slowly.
enum RelayWorld {
    static var sockets: [SocketSnapshot] {
        var listener = World.make(1, .listener, .listening, target: ":9000")
        listener.name = "relay to db.example:6379"
        listener.local = .v6(host: "::", port: 9000)
        listener.accepted = 3
        return [listener] + pair(2, 3, clientPort: 51022) + slow + refused
    }

    private static func pair(_ client: UInt64, _ target: UInt64, clientPort: UInt16) -> [SocketSnapshot] {
        var accepted = World.make(client, .accepted, .connected)
        accepted.peer = .v4(host: "192.0.2.77", port: clientPort)
        accepted.receiveRate = 3_000
        accepted.sendRate = 1_800_000
        var connected = World.make(target, .client, .connected, target: "db.example:6379")
        connected.peer = .v4(host: "192.0.2.5", port: 6379)
        connected.receiveRate = 1_800_000
        connected.sendRate = 3_000
        (accepted.linked, connected.linked) = (connected.id, accepted.id)
        return [accepted, connected].map { leg in
            var leg = leg
            leg.parent = leg.role == .accepted ? SocketID(1) : nil
            leg.flags = [.socketStarted, .connected, .socketCanAcceptBytes]
            leg.reading.current = OperationSnapshot(
                id: OperationID(leg.id.number), kind: .read(.available(limit: nil)), isStanding: true)
            return leg
        }
    }

    private static var slow: [SocketSnapshot] {
        var legs = pair(4, 5, clientPort: 51030)
        legs[0].writing = QueueSnapshot(
            current: OperationSnapshot(
                id: OperationID(40), kind: .write, done: 20_000, total: 65_536, started: World.at(14, 2, 9),
                lastProgress: World.at(14, 2, 9)), pendingCount: 4, pendingBytes: 307_680)
        legs[0].flags = [.socketStarted, .connected]
        legs[0].sendRate = 0
        legs[1].isHeldBack = true
        legs[1].receiveRate = 0
        legs[1].kernel = KernelSnapshot()
        legs[1].kernel?.state = "ESTAB"
        legs[1].kernel?.receiveQueue = 5_800_000
        legs[1].kernel?.sendQueue = 0
        return legs
    }

    private static var refused: [SocketSnapshot] {
        var legs = pair(6, 7, clientPort: 51044)
        for index in legs.indices {
            legs[index].phase = .closed
            legs[index].reading = QueueSnapshot()
            legs[index].receiveRate = nil
            legs[index].sendRate = nil
        }
        legs[0].closed = CloseRecord(time: World.at(14, 2, 11), mode: .reset)
        legs[1].peer = nil
        legs[1].closed = CloseRecord(
            time: World.at(14, 2, 11),
            error: SocketError(
                .system(errno: 111), operation: "connect", detail: "192.0.2.5:6379: Connection refused"))
        return legs
    }

    static func model(ascii: Bool, _ size: Size, legs: Bool = false) -> Model {
        var options = Model.Options(ascii: ascii, version: "0.1")
        options.showsLegs = legs
        var model = Model(options: options)
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(World.snapshot(sockets)))
        return model
    }

    /// The programs at both ends, which are on this host.
    static var peers: [SocketID: PeerEnd] {
        func end(_ process: Int, _ name: String, unread: Int) -> PeerEnd {
            PeerEnd(program: PeerEnd.Program(process: process, name: name, descriptor: 7), unread: unread)
        }
        return [
            SocketID(2): end(77, "curl", unread: 0), SocketID(3): end(812, "redis-server", unread: 0),
            SocketID(4): end(20_845, "python3", unread: 131_072), SocketID(5): end(812, "redis-server", unread: 0),
        ]
    }

    /// The first connection with a question, an answer, and a question that has not been forwarded whole.
    static var talking: EngineSnapshot {
        var snapshot = World.snapshot(sockets)
        func item(
            _ sequence: UInt64, _ direction: TrafficItem.Direction, _ text: String, _ second: Double, total: Int? = nil
        ) -> TrafficItem {
            let bytes = Array(text.utf8)
            return TrafficItem(
                sequence: sequence, operation: OperationID(sequence), time: World.at(14, 2, second),
                direction: direction, tag: 0, kind: direction == .sent ? .write : .read(.available(limit: nil)),
                done: bytes.count, total: total,
                state: total == nil ? .complete(after: .milliseconds(1)) : .inProgress, bytes: bytes)
        }
        snapshot.trafficOf = SocketID(2)
        snapshot.traffic = TrafficSnapshot(items: [
            item(0, .received, "GET p1\r\n", 10), item(1, .sent, "$5\r\nvalue\r\n", 10.002),
            item(2, .received, "GET p2\r\n", 11), item(3, .sent, "$9\r\nval", 11.001, total: 15),
        ])
        return snapshot
    }
}

/// A connection with four exchanges, the last of which is unanswered.
enum ExchangeWorld {
    static func item(
        _ number: UInt64, _ direction: TrafficItem.Direction, _ text: String, _ second: Double
    ) -> TrafficItem {
        TrafficItem(
            sequence: number, operation: OperationID(number), time: World.at(14, 2, second), direction: direction,
            tag: 0, kind: direction == .sent ? .write : .read(.available(limit: nil)), done: text.utf8.count,
            total: nil, state: .complete(after: .zero), bytes: Array(text.utf8))
    }

    static let traffic = TrafficSnapshot(items: [
        item(0, .sent, "GET /first HTTP/1.1\r\nHost: h\r\n\r\n", 4),
        item(1, .received, "HTTP/1.1 200 OK\r\n\r\n", 4.02), item(2, .received, "body", 4.034),
        item(3, .sent, "GET /slow\u{1B}[2J HTTP/1.1\r\n\r\n", 5), item(4, .received, "HTTP/1.1 200 OK\r\n", 7.5),
        item(5, .sent, "GET /third HTTP/1.1\r\n\r\n", 8), item(6, .received, "HTTP/1.1 304 Not Modified\r\n", 8.0004),
        item(7, .sent, "GET /fourth HTTP/1.1\r\n\r\n", 9),
    ])

    static var socket: SocketSnapshot {
        var socket = World.named
        var facts = ExchangeSnapshot()
        (facts.count, facts.unansweredSince, facts.unansweredBytes) = (4, World.at(14, 2, 9), 24)
        (facts.last, facts.median) = (.microseconds(400), .milliseconds(20))
        (facts.late, facts.worst) = (.milliseconds(2_500), .milliseconds(2_500))
        socket.exchanges = facts
        return socket
    }

    static func model(_ size: Size, _ command: String) -> Model {
        var model = Model(options: .init(ascii: true, version: "0.1"))
        _ = model.update(.resized(size))
        var snapshot = World.snapshot([socket])
        _ = model.update(.snapshot(snapshot))
        (snapshot.trafficOf, snapshot.traffic) = (socket.id, traffic)
        _ = model.update(.snapshot(snapshot))
        _ = model.update(.command(command))
        return model
    }
}

/// Results of a search, among them one of a connection that was closed.
enum FoundWorld {
    static func match(_ socket: UInt64, _ second: Double, _ direction: TrafficItem.Direction) -> FoundMatch {
        var progress = FindProgress(number: 1)
        let text = "GET p2 HTTP/1.1\r\nHost: db\u{1B}.example\r\n"
        let item = TrafficItem(
            sequence: 4, operation: OperationID(4), time: World.at(14, 2, second), direction: direction, tag: 0,
            kind: .read(.available(limit: nil)), done: text.utf8.count, total: nil, state: .complete(after: .zero),
            bytes: Array(text.utf8))
        progress.search(TrafficSnapshot(items: [item]), of: SocketID(socket), for: search)
        return progress.matches[0]
    }

    static var search: PayloadSearch {
        guard case .success(let search) = PayloadSearch.parse("p2") else { preconditionFailure("p2 is a search") }
        return search
    }

    static func progress(isOver: Bool) -> FindProgress {
        var progress = FindProgress(number: 1)
        progress.matches = [
            match(7, 1.5, .received), match(8, 2, .sent), match(6, 3.25, .received), match(10, 4, .received),
        ]
        (progress.count, progress.searched, progress.isOver) = (4, isOver ? 7 : 5, isOver)
        (progress.droppedItems, progress.missingBytes) = (3, 41_000)
        return progress
    }

    static func model(ascii: Bool, _ size: Size, isOver: Bool = true) -> Model {
        var model = World.model(ascii: ascii, once: true, size: size)
        _ = model.update(.command("find p2"))
        _ = model.update(.found(progress(isOver: isOver)))
        model.press(.character("j"))
        return model
    }
}

/// Two programs that are looked at from outside, one of which has stopped telling.
enum AttachedWorld {
    static func model(ascii: Bool, _ size: Size, programs: Int = 2) -> Model {
        var model = Model(options: .init(ascii: ascii, version: "0.1"))
        _ = model.update(.resized(size))
        let all = [
            ProgramInfo(ordinal: 0, name: "chatd", process: 4242, rights: .payload),
            ProgramInfo(ordinal: 1, name: "mail\u{1B}relayd", process: 20_845, state: .silent(.seconds(7))),
        ]
        _ = model.update(.programs(ProgramNews(programs: Array(all.prefix(programs)))))
        var sockets = World.sockets
        if programs > 1 {
            sockets += RelayWorld.sockets.map { socket in
                var socket = socket
                socket.belongs(to: 1)
                return socket
            }
        }
        _ = model.update(.snapshot(World.snapshot(sockets)))
        let python = PeerEnd.Program(process: 20_845, name: "python3", descriptor: 7)
        _ = model.update(.peers([SocketID(7): PeerEnd(program: python, unread: 131_072)]))
        return model
    }
}

/// The screens of what other programs do.
enum ReachScreens {
    static let all = [
        // Which end is held back, and what was refused.
        Screen("relay") { size in
            var model = RelayWorld.model(ascii: true, size)
            model.press(.character("j"))
            return model
        },
        Screen("relay-unicode") { size in
            var model = RelayWorld.model(ascii: false, size)
            model.press(.character("j"))
            _ = model.update(.peers(RelayWorld.peers))
            return model
        },
        Screen("relay-legs") { size in
            var model = RelayWorld.model(ascii: true, size)
            model.press(.character("K"))
            _ = model.update(.command("select 5"))
            return model
        },
        // The client and the server in one conversation.
        Screen("relay-talk") { size in
            var model = RelayWorld.model(ascii: true, size)
            model.press(.enter)
            _ = model.update(.snapshot(RelayWorld.talking))
            return model
        },
        Screen("exchanges") { ExchangeWorld.model($0, "exchanges") },
        Screen("calls") { CallWorld.model($0) },
        Screen("found") { FoundWorld.model(ascii: true, $0) },
        // What the peer has not read.
        Screen("attach") { AttachedWorld.model(ascii: true, $0, programs: 1) },
        Screen("attach-two") { size in
            var model = AttachedWorld.model(ascii: true, size)
            for _ in model.list.rows where model.list.selected?.ordinal != 1 { model.press(.character("j")) }
            return model
        },
        Screen("attach-silent") { attached($0, .silent(.seconds(7))) },
        Screen("attach-ended") { attached($0, .ended("it has ended")) },
        Screen("start-programs") { size in
            var model = Model(options: .init(ascii: true, version: "0.1"))
            _ = model.update(.resized(size))
            var offers = World.offers
            offers.programs = [.init(title: "chatd[4242]", age: "up 2:04:10", path: "/run/user/1/socktui/4242-1.sock")]
            _ = model.update(.start(offers))
            return model
        },
    ]

    /// A program that tells nothing more.
    private static func attached(_ size: Size, _ state: ProgramInfo.State) -> Model {
        var model = AttachedWorld.model(ascii: true, size, programs: 1)
        let program = ProgramInfo(ordinal: 0, name: "chatd", process: 4242, state: state)
        _ = model.update(.programs(ProgramNews(programs: [program])))
        return model
    }
}
