import SocketTestSupport
import Testing

@testable import SocketCore
@testable import SocketRecords

@Suite("The last of a run, kept in memory")
struct RecentRecordingTests {
    private static let begin = MonotonicTime(nanoseconds: 50_000_000_000)
    private static let id = SocketID(1)

    /// The state after so many tenths of a second, in each of which 1,000 bytes and an event came.
    private static func state(_ step: Int) -> (snapshot: EngineSnapshot, traffic: TrafficSnapshot) {
        let time = begin + .milliseconds(100 * step)
        var snapshot = EngineSnapshot(
            engine: "demo", time: time, wallNanoseconds: 1_000 + Int64(step) * 100_000_000)
        var socket = SocketSnapshot(id: id, role: .client, phase: .connected, target: "a:1", opened: begin)
        socket.received = UInt64(step) * 1_000
        snapshot.sockets = [socket]
        snapshot.events = [
            SocketEvent(sequence: UInt64(step), time: time, socket: id, kind: .readDone, first: 1_000)
        ]
        snapshot.nextEvent = UInt64(step) + 1
        let items = (0...step).map { number in
            TrafficItem(
                sequence: UInt64(number), operation: OperationID(UInt64(number)), time: begin, direction: .received,
                tag: 0, kind: .read(.available(limit: nil)), done: 1_000, total: nil, state: .complete(after: .zero),
                bytes: [UInt8](repeating: UInt8(number % 256), count: 1_000))
        }
        return (snapshot, TrafficSnapshot(items: items))
    }

    private static func recording(span: Duration, limit: Int = 64 << 20, steps: Int) -> RecentRecording {
        var recent = RecentRecording(span: span, limit: limit)
        for step in 0..<steps {
            let (snapshot, traffic) = state(step)
            recent.add(snapshot, [id: traffic])
        }
        return recent
    }

    @Test("each instant has the sockets, the events and the bytes that it had, and what was shown before it")
    func instants() throws {
        let recent = Self.recording(span: .seconds(60), steps: 200)
        for step in [0, 1, 57, 130, 199] {
            let (snapshot, traffic) = Self.state(step)
            var state = recent.state(at: snapshot.time, notesPassed: true)
            let before = state.takePassed()
            #expect(before.count == step)
            #expect(before.map(\.events).flatMap { $0 }.map(\.sequence) == (0..<UInt64(step)).map { $0 })
            let request = SnapshotRequest(eventsFrom: UInt64(step), traffic: Self.id)
            let shown = try #require(state.snapshot(request, named: "", at: snapshot.time))
            #expect(shown.sockets == snapshot.sockets && shown.events == snapshot.events)
            #expect(shown.traffic == traffic && shown.wallNanoseconds == snapshot.wallNanoseconds)
            let previous = step == 0 ? nil : snapshot.wallNanoseconds - 100_000_000
            #expect(recent.moment(at: snapshot.time)?.previousEvent == previous)
        }
        // Played on from where it was.
        var past = recent.state(at: Self.state(10).snapshot.time)
        past = recent.state(at: Self.state(12).snapshot.time, from: past)
        #expect(past.traffic(of: Self.id).items.count == 13)
    }

    @Test("no more than the span is kept, and its beginning is the whole state of then")
    func span() throws {
        let recent = Self.recording(span: .seconds(3), steps: 200)
        let (first, last) = (try #require(recent.first), try #require(recent.last))
        #expect(last - first >= .seconds(3) && last - first < .milliseconds(3_300))
        #expect(recent.dropped == 0)
        let state = recent.state(at: first)
        #expect(state.traffic(of: Self.id).items.count == 169, "\((first - Self.begin))")
        let moment = try #require(recent.moment())
        #expect(moment.isLive && moment.origin == 1_000 && moment.first > moment.origin)
    }

    @Test("where memory is short, a minute of 100 busy connections is kept by the second, with every event and byte")
    func thinned() throws {
        var recent = RecentRecording(span: .seconds(60), limit: TrafficLog.standardTotal)
        for step in 0..<700 {
            var (snapshot, _) = Self.state(step)
            snapshot.sockets = (1...100).map { number in
                var socket = SocketSnapshot(
                    id: SocketID(UInt64(number)), role: .client, phase: .connected, target: "a:1", opened: Self.begin)
                socket.received = UInt64(step) * 4
                return socket
            }
            recent.add(snapshot, [:])
        }
        let (first, last) = (try #require(recent.first), try #require(recent.last))
        #expect(recent.dropped == 0 && recent.cost <= TrafficLog.standardTotal)
        #expect(last - first >= .seconds(60), "\(last - first)")
        for step in [200, 400, 660, 699] {
            let time = Self.state(step).snapshot.time
            let state = recent.state(at: time)
            let shown = try #require(state.snapshot(SnapshotRequest(eventsFrom: 0), named: "", at: time))
            #expect(shown.events.last?.sequence == UInt64(step))
            let old = UInt64(step) * 4 - (shown.sockets.last?.received ?? 0)
            #expect(old <= (step > 655 ? 0 : 40), "\(step)")
        }
    }

    @Test("what has no room goes early, and is counted")
    func room() throws {
        let recent = Self.recording(span: .seconds(60), limit: 100_000, steps: 500)
        #expect(recent.cost <= 100_000 && recent.dropped > 400 && recent.dropped < 500)
        #expect(recent.moment()?.dropped == recent.dropped)
        let (last, traffic) = Self.state(499)
        #expect(recent.state(at: last.time).traffic(of: Self.id) == traffic)
    }

    @Test("sockets of other programs and other ends are recorded; a program that is attached to cannot claim any")
    func host() throws {
        var (snapshot, _) = Self.state(1)
        var host = HostSnapshot.blank
        (host.program, host.process, host.userName, host.owners) = ("nginx", 77, "www-data", [77, 78])
        var verdict = Verdict("nobody reads", lasting: .seconds(7))
        (verdict.lint, verdict.severity, verdict.evidence) = ("read-blocked", .critical, .wchan)
        host.verdicts = [verdict]
        host.namespace = HostNamespace(ordinal: 1, inode: 4_026_531_840, name: "blue")
        host.namespace?.localPorts = 32_768...60_999
        snapshot.sockets[0].host = host
        let program = PeerEnd.Program(process: 5, name: "redis", descriptor: 3)
        let waiting = PeerEnd.Waiting(peer: "a:1", program: program)
        snapshot.peers = [Self.id: PeerEnd(program: program, unread: 4, waiting: [waiting])]
        var writer = RecordingWriter(application: "socktui", zero: 0)
        writer.add(RecordedEntry(Self.id, at: snapshot.time, .snapshot(snapshot, [:])))
        let bytes = writer.take()
        var capture = OpenedCapture()
        try capture.absorb(bytes)
        let opened = try #require(capture.snapshot(SnapshotRequest(), named: ""))
        #expect(opened.sockets == snapshot.sockets && opened.peers == snapshot.peers && opened.engine == "demo")

        var mirror = InspectionMirror()
        try mirror.absorb(.sockets(snapshot.sockets))
        try mirror.absorb(.tick(InspectionTick(snapshot)))
        #expect(mirror.snapshot(engine: "")?.sockets.first?.host == nil)
    }
}
