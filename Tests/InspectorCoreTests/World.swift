import InspectorCore
import InspectorScreen
import SocketCore

/// The connections that the design's screens show, at 14:02:13 UTC.
enum World {
    /// Midnight of the day on the engine's clock.
    private static let midnight: Int64 = 5_000_000_000_000
    private static let wallMidnight: Int64 = 1_700_006_400_000_000_000

    static func at(_ hour: Int, _ minute: Int, _ second: Double) -> MonotonicTime {
        let micros = Int64((second * 1e6).rounded()) + Int64(hour * 3600 + minute * 60) * 1_000_000
        return MonotonicTime(nanoseconds: midnight + micros * 1000)
    }

    static let now = at(14, 2, 13.2)

    static func snapshot(_ sockets: [SocketSnapshot], time: MonotonicTime = now) -> EngineSnapshot {
        var snapshot = EngineSnapshot(
            engine: "test", time: time, wallNanoseconds: time.nanoseconds - midnight + wallMidnight)
        snapshot.sockets = sockets
        return snapshot
    }

    static func make(
        _ id: UInt64, _ role: SocketRole, _ phase: SocketPhase, target: String = "",
        opened: MonotonicTime = at(13, 58, 1)
    ) -> SocketSnapshot {
        SocketSnapshot(id: SocketID(id), role: role, phase: phase, target: target, opened: opened)
    }

    /// Everything in the order in which an engine lists it: by id.
    static var sockets: [SocketSnapshot] {
        [listener, finished, timedOut, busy, lineReader, halfClosed, named, dialing].sorted { $0.id < $1.id }
    }

    static var listener: SocketSnapshot {
        var socket = make(3, .listener, .listening, target: ":8080")
        socket.local = .v6(host: "::", port: 8080)
        socket.accepted = 12
        socket.flags = [.socketStarted]
        socket.kernel = KernelSnapshot()
        socket.kernel?.state = "LISTEN"
        socket.kernel?.receiveQueue = 0
        return socket
    }

    /// #7: a length read that timed out, a write that stalls, a full send buffer.
    static var busy: SocketSnapshot {
        var socket = make(7, .client, .connected, target: "[2001:db8::5]:7070")
        socket.local = .v6(host: "2001:db8::a", port: 51514)
        socket.peer = .v6(host: "2001:db8::5", port: 7070)
        socket.connected = at(13, 58, 1.2)
        socket.descriptor = 14
        socket.flags = [.socketStarted, .connected, .readsPaused, .readSourceSuspended]
        socket.reading = QueueSnapshot(
            current: OperationSnapshot(
                id: OperationID(101), kind: .read(.length(4096)), tag: 42, done: 1024, total: 4096, isAsking: true,
                timeout: .seconds(30), started: at(14, 1, 41.31), lastProgress: at(14, 2, 10.942017)),
            pending: [
                OperationSnapshot(
                    id: OperationID(102), kind: .read(.delimiter([13, 10], limit: 8192)), tag: 43,
                    timeout: .seconds(30)),
                OperationSnapshot(
                    id: OperationID(90), kind: .read(.available(limit: nil)), tag: 0, isStanding: true),
            ], pendingCount: 2, completed: 41)
        socket.writing = QueueSnapshot(
            current: OperationSnapshot(
                id: OperationID(103), kind: .write, tag: 9, done: 491_520, total: 1_966_080,
                started: at(14, 2, 4), lastProgress: at(14, 2, 6.9), preview: Array("POST".utf8)),
            pending: [
                OperationSnapshot(
                    id: OperationID(104), kind: .write, tag: 10, total: 10, timeout: .seconds(10),
                    preview: Array("STARTTLS\r\n".utf8)),
                OperationSnapshot(
                    id: OperationID(105), kind: .write, tag: 11, total: 6, preview: Array("QUIT\r\n".utf8)),
            ], pendingCount: 2, pendingBytes: 1_474_576, completed: 8)
        socket.writing.since = at(14, 2, 1.2)
        socket.activity.lastByte = at(14, 2, 10.942017)
        socket.activity.queueRate = 348_160 + 98_304
        socket.callbacks = CallbackSnapshot(lag: .microseconds(400), ran: at(14, 2, 10.9))
        socket.received = 19_084_000
        socket.sent = 1_468_006
        socket.receiveRate = 4_299_000
        socket.sendRate = 348_160
        socket.connect = ConnectSnapshot(
            resolvedIn: .milliseconds(12), addressCount: 2,
            attempts: [
                .init(
                    address: .v4(host: "192.0.2.5", port: 7070), outcome: .failed(errno: 111),
                    duration: .milliseconds(1)),
                .init(address: .v6(host: "2001:db8::5", port: 7070), outcome: .won, duration: .milliseconds(31)),
            ])
        var kernel = KernelSnapshot()
        kernel.state = "ESTAB"
        kernel.receiveQueue = 0
        kernel.sendQueue = 154_624
        kernel.notSent = 89_088
        kernel.roundTripTime = .milliseconds(31)
        kernel.congestionWindow = 10
        kernel.retransmits = 0
        kernel.receiverWindowLimited = 0.87
        socket.kernel = kernel
        return socket
    }

    static var lineReader: SocketSnapshot {
        var socket = make(8, .accepted, .connected)
        socket.parent = SocketID(3)
        socket.peer = .v4(host: "192.0.2.77", port: 51022)
        socket.local = .v4(host: "192.0.2.10", port: 8080)
        socket.flags = [.socketStarted, .connected, .socketCanAcceptBytes, .writeSourceSuspended]
        socket.reading.current = OperationSnapshot(
            id: OperationID(120), kind: .read(.delimiter([13, 10], limit: 8192)), tag: 4, done: 312)
        socket.receiveRate = 1230
        socket.sendRate = 0
        socket.received = 40_312
        return socket
    }

    /// #9: the peer's FIN is seen, no read is queued, and 40 writes wait behind the one in hand.
    static var halfClosed: SocketSnapshot {
        var socket = make(9, .accepted, .connected)
        socket.parent = SocketID(3)
        socket.peer = .v4(host: "192.0.2.78", port: 51030)
        socket.local = .v4(host: "192.0.2.10", port: 8080)
        socket.flags = [.socketStarted, .connected, .socketHasReadEOF, .readStreamClosed, .readSourceSuspended]
        socket.writing.current = OperationSnapshot(
            id: OperationID(130), kind: .write, tag: 1, done: 2000, total: 65_536, lastProgress: now)
        socket.writing.pending = (0..<40).map {
            OperationSnapshot(
                id: OperationID(131 + UInt64($0)), kind: .write, tag: 2 + $0, total: 54_000,
                preview: Array("line \($0) of the report, and so ".utf8))
        }
        socket.writing.pendingCount = 40
        socket.writing.pendingBytes = 2_223_536
        socket.activity.peerClosed = at(14, 2, 5.2)
        socket.receiveRate = 0
        socket.sendRate = 2048
        return socket
    }

    /// #10: no read is queued while a reply waits in the kernel.
    static var named: SocketSnapshot {
        var socket = make(10, .client, .connected, target: "imap.example:993")
        socket.peer = .v4(host: "192.0.2.99", port: 993)
        socket.local = .v4(host: "192.0.2.10", port: 40_112)
        socket.connected = at(14, 0, 0)
        socket.activity.lastByte = at(14, 2, 8)
        socket.activity.unreadSince = at(14, 2, 9)
        socket.flags = [.socketStarted, .connected, .socketCanAcceptBytes, .writeSourceSuspended, .readSourceSuspended]
        socket.receiveRate = 0
        socket.sendRate = 0
        socket.kernel = KernelSnapshot()
        socket.kernel?.state = "ESTAB"
        socket.kernel?.receiveQueue = 23
        socket.kernel?.sendQueue = 0
        socket.kernel?.notSent = 0
        return socket
    }

    static var dialing: SocketSnapshot {
        var socket = make(11, .client, .connecting, target: "10.0.0.9:6379", opened: at(14, 2, 12))
        socket.flags = [.socketStarted]
        socket.connect = ConnectSnapshot(
            addressCount: 1,
            attempts: [
                .init(address: .v4(host: "10.0.0.9", port: 6379), outcome: .trying, duration: .milliseconds(1200))
            ])
        return socket
    }

    static var timedOut: SocketSnapshot {
        var socket = make(6, .client, .closed, target: "192.0.2.10:25")
        socket.peer = .v4(host: "192.0.2.10", port: 25)
        socket.received = 8300
        socket.sent = 2048
        socket.closed = CloseRecord(
            time: at(14, 2, 12.119876),
            error: SocketError(.readTimeout, operation: "read", detail: "read t5 timed out after 30s"), readsLost: 3)
        return socket
    }

    static var finished: SocketSnapshot {
        var socket = make(5, .accepted, .closed)
        socket.parent = SocketID(3)
        socket.peer = .v4(host: "192.0.2.66", port: 50_112)
        socket.received = 1_153_434
        socket.sent = 40_960
        socket.closed = CloseRecord(
            time: at(14, 1, 55), error: SocketError(.closedByPeer, operation: "read", detail: "the peer closed"))
        return socket
    }

    static var traffic: TrafficSnapshot {
        let reply = Array("HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n".utf8)
        return TrafficSnapshot(items: [
            TrafficItem(
                sequence: 7, operation: OperationID(100), time: at(14, 2, 10.911204), direction: .sent, tag: 8,
                kind: .write, done: 18, total: 18, state: .complete(after: .microseconds(200)),
                bytes: Array("PING 17\r\n\u{1b}]52;c;\r\n".utf8)),
            TrafficItem(
                sequence: 8, operation: OperationID(101), time: at(14, 2, 10.942017), direction: .received, tag: 42,
                kind: .read(.length(4096)), done: 1024, total: 4096, state: .inProgress,
                bytes: reply + (0..<(1024 - reply.count)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 13) }),
        ])
    }

    static var events: [SocketEvent] {
        func event(
            _ sequence: UInt64, _ second: Double, _ socket: UInt64, _ kind: SocketEvent.Kind, tag: Int = 0,
            first: Int = 0, second more: Int = 0
        ) -> SocketEvent {
            SocketEvent(
                sequence: sequence, time: at(14, 2, second), socket: SocketID(socket), kind: kind, tag: tag,
                first: first, second: more)
        }
        return [
            event(0, 10.911204, 7, .writeDone, tag: 8, first: 18),
            event(1, 10.942017, 7, .readPartial, tag: 42, first: 1024, second: 1024),
            event(2, 10.942090, 7, .readInterestOff),
            event(3, 11.204551, 8, .readPartial, tag: 4, first: 120, second: 312),
            event(4, 11.310000, 7, .readTimedOut, tag: 42, first: 1024, second: 30_000),
            event(219, 12.004120, 9, .peerClosed),
            event(220, 12.019876, 6, .readTimedOut, tag: 5, first: 0, second: 30_000),
            event(221, 12.119876, 6, .readFailed, tag: 5),
            event(222, 12.119876, 6, .closed),
            event(223, 12.2, 10, .readInterestOff),
            event(224, 12.3, 11, .connectAttempt, first: 0),
        ]
    }

    static let full: EngineSnapshot = {
        var snapshot = World.snapshot(sockets)
        snapshot.events = events
        snapshot.nextEvent = 225
        snapshot.traffic = traffic
        snapshot.trafficOf = SocketID(7)
        return snapshot
    }()

    /// A model that has watched the world for a minute, on the list with the cursor on #7.
    /// `once`: after a single snapshot, which is quicker.
    static func model(ascii: Bool = true, once: Bool = false, size: Size = Size(80, 24)) -> Model {
        var model = Model(options: .init(ascii: ascii, version: "0.1"))
        _ = model.update(.resized(size))
        if once {
            _ = model.update(.snapshot(full))
            _ = model.update(.snapshot(full))
            return model
        }
        for second in 0..<64 {
            var past = full
            past.events = []
            past.nextEvent = 0
            past.traffic = nil
            past.time = MonotonicTime(nanoseconds: now.nanoseconds - Int64(65 - second) * 1_000_000_000)
            past.wallNanoseconds = full.wallNanoseconds - Int64(65 - second) * 1_000_000_000
            for index in past.sockets.indices where past.sockets[index].id == SocketID(7) {
                past.sockets[index].received = received(upTo: second)
                past.sockets[index].sent = UInt64(second * 20_000 + second / 7 * 90_000)
            }
            _ = model.update(.snapshot(past))
        }
        var last = full
        for step in 0..<12 {
            last.time = MonotonicTime(nanoseconds: now.nanoseconds - Int64(11 - step) * 100_000_000)
            last.wallNanoseconds = full.wallNanoseconds - Int64(11 - step) * 100_000_000
            last.traffic = traffic
            _ = model.update(.snapshot(last))
        }
        return model
    }

    /// Rises and falls over twenty seconds.
    private static func received(upTo second: Int) -> UInt64 {
        (0..<second).reduce(UInt64(0)) { sum, index in
            let phase = index % 20
            return sum + UInt64(phase < 10 ? phase : 20 - phase) * 400_000
        }
    }

    static let offers = StartOffers(
        recent: [
            .init(text: "imap.example:993", age: "yesterday 14:02"),
            .init(text: "listen 127.0.0.1:8080", age: "2 days ago"),
        ],
        listening: [
            .init(address: "127.0.0.1:6379", program: "redis-server[812]"),
            .init(address: "[::]:8080", program: "python3[20845]"),
        ])
}

extension Model {
    /// Presses keys one after the other; the effects of all of them.
    @discardableResult
    mutating func press(_ keys: Key...) -> [Effect] {
        keys.flatMap { update(.key($0)) }
    }

    /// Types a text.
    @discardableResult
    mutating func type(_ text: String) -> [Effect] {
        text.flatMap { update(.key(.character($0))) }
    }
}

extension World {
    static var sight: Sight { Sight(now, Findings(LintSettings())) }
}

extension ListColumn {
    /// The text in the row of a session.
    func text(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        cell(Listed(socket), Sight(now, Findings(LintSettings())))?.text
    }
}

extension Message {
    /// Parts of an answer.
    static func snapshot(_ snapshot: EngineSnapshot) -> Message { .answer(Answer(snapshot)) }
    static func programs(_ news: ProgramNews) -> Message { .answer(Answer(programs: news)) }
    static func child(_ news: ChildNews) -> Message { .answer(Answer(child: news)) }
    static func recording(_ state: RecordingState?) -> Message { .answer(Answer(recording: state)) }
}
