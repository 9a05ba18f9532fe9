import SocketCore
import SocketRecords
import SocketTestSupport
import Testing

@Suite("The state at an earlier instant is the one that was live then")
struct RewindTests {
    private static let wall: Int64 = 1_700_000_000_000_000_000
    private static let begin = MonotonicTime(nanoseconds: 50_000_000_000)
    private static let request = SnapshotRequest(eventsFrom: 0, traffic: SocketID(2))

    /// A recording as it would be written, and each snapshot as it was shown.
    private static func recording(_ count: Int, seed: UInt64) -> (file: [UInt8], live: [EngineSnapshot]) {
        var random = SplitMix64(seed: seed)
        var writer = RecordingWriter(application: "socktui", zero: wall - begin.nanoseconds)
        var live: [EngineSnapshot] = []
        var sockets: [SocketSnapshot] = []
        var traffic: [SocketID: TrafficSnapshot] = [:]
        var nextEvent: UInt64 = 0
        var told: [SocketEvent] = []
        for step in 0..<count {
            let time = begin + .milliseconds(100 * step)
            if step == 0 || sockets.count < 20, Int.random(in: 0..<5, using: &random) == 0 || step < 3 {
                sockets.append(
                    SocketSnapshot(
                        id: SocketID(UInt64(sockets.count + 1)), role: .client, phase: .connected, target: "a:1",
                        opened: time))
            }
            let index = Int.random(in: sockets.indices, using: &random)
            let id = sockets[index].id
            let bytes = (0..<Int.random(in: 1...3_000, using: &random)).map { UInt8(truncatingIfNeeded: $0 &+ step) }
            sockets[index].received += UInt64(bytes.count)
            let sequence = UInt64(traffic[id]?.items.count ?? 0)
            let event = time + .milliseconds(-40)
            traffic[id, default: TrafficSnapshot()].items.append(
                TrafficItem(
                    sequence: sequence, operation: OperationID(sequence), time: event, direction: .received, tag: 0,
                    kind: .read(.available(limit: nil)), done: bytes.count, total: nil, state: .complete(after: .zero),
                    bytes: bytes))
            var snapshot = EngineSnapshot(
                engine: "demo", time: time, wallNanoseconds: wall + (time - begin).wholeNanoseconds)
            snapshot.sockets = sockets
            snapshot.events = [
                SocketEvent(sequence: nextEvent, time: event, socket: id, kind: .readDone, first: bytes.count)
            ]
            nextEvent += 1
            snapshot.nextEvent = nextEvent
            writer.add(RecordedEntry(id, at: time, .snapshot(snapshot, [id: traffic[id] ?? TrafficSnapshot()])))
            told += snapshot.events
            snapshot.events = told
            (snapshot.trafficOf, snapshot.traffic) = (SocketID(2), traffic[SocketID(2)] ?? TrafficSnapshot())
            live.append(snapshot)
        }
        return (writer.take(), live)
    }

    /// A capture of several streams at once, some of whose segments are lost, late or twice.
    private static func capture(seed: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        var writer = PcapngWriter()
        writer.section(application: "dumpcap", comment: "")
        let interface = writer.interface(name: "lo", description: "")
        var packets: [RecordedStream.Packet] = []
        var streams = (0..<4).map { number in
            RecordedStream(
                local: .init(IPAddress("127.0.0.1")!, UInt16(40_000 + number)), peer: SampleCapture.server,
                number: UInt64(number))
        }
        for index in streams.indices { packets += streams[index].establish(isClient: true) }
        for _ in 0..<300 {
            let index = Int.random(in: streams.indices, using: &random)
            let bytes = (0..<Int.random(in: 1...900, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
            packets += streams[index].carry(bytes[...], from: Bool.random(using: &random) ? .local : .peer)
        }
        packets = packets.filter { _ in Int.random(in: 0..<30, using: &random) != 0 }
        for index in packets.indices.dropLast() where Int.random(in: 0..<10, using: &random) == 0 {
            packets.swapAt(index, index + 1)
        }
        for index in streams.indices { packets += streams[index].end(.local) + streams[index].end(.peer) }
        for (index, packet) in packets.enumerated() {
            writer.packet(
                packet.frame, length: packet.length, interface: interface,
                nanoseconds: UInt64(wall) + UInt64(index) * 1_000_000, notes: PacketNotes())
        }
        return writer.bytes
    }

    /// A file that is read in pieces, and its index.
    private struct File {
        let bytes: [UInt8]
        var index: CaptureIndex
        var present: OpenedCapture

        init(_ bytes: [UInt8], budget: Int = 32 << 20) throws {
            self.bytes = bytes
            present = OpenedCapture()
            index = CaptureIndex(present, budget: budget, distance: 4_096)
            present.instants = []
            for start in stride(from: 0, to: bytes.count, by: 1_000) {
                try present.absorb(bytes[start..<min(start + 1_000, bytes.count)])
                index.note(&present)
            }
            present.finish()
            index.note(&present)
        }

        /// The state at an instant, read on from a place before it or from a state that is given.
        func state(at instant: MonotonicTime, from: OpenedCapture? = nil) throws -> OpenedCapture {
            var past = from ?? index.capture(before: instant)
            while try past.advance(until: instant) {
                let rest = bytes.dropFirst(Int(past.length)).prefix(700)
                if rest.isEmpty {
                    past.finish()
                    break
                }
                past.append(rest)
            }
            return past
        }
    }

    @Test("a recording of ours, at each snapshot, before and after it, in any order", arguments: 0..<8 as Range<UInt64>)
    func ours(seed: UInt64) throws {
        let (bytes, live) = Self.recording(200, seed: seed)
        let file = try File(bytes)
        #expect(file.index.count > 3)
        #expect(file.present.snapshot(Self.request, named: "demo") == live.last)
        var random = SplitMix64(seed: seed)
        for number in live.indices.shuffled(using: &random) {
            let past = try file.state(at: live[number].time)
            #expect(past.snapshot(Self.request, named: "demo", at: live[number].time) == live[number])
        }
        // Between two snapshots the state is the former's, with the events that have happened.
        let between = live[100].time + .milliseconds(70)
        let shown = try #require(try file.state(at: between).snapshot(Self.request, named: "demo", at: between))
        #expect(shown.sockets == live[100].sockets && shown.traffic == live[100].traffic)
        #expect(shown.events == live[101].events && shown.time == between)
        let earlier = live[100].time + .milliseconds(50)
        let before = try file.state(at: earlier).snapshot(Self.request, named: "demo", at: earlier)
        #expect(before?.events == live[100].events)
    }

    @Test("played on from one instant to the next, nothing is told twice and nothing is left out")
    func played() throws {
        let (bytes, live) = Self.recording(100, seed: 9)
        let file = try File(bytes)
        var past: OpenedCapture?
        for snapshot in live {
            let next = try file.state(at: snapshot.time, from: past)
            #expect(next.snapshot(Self.request, named: "demo", at: snapshot.time) == snapshot)
            past = next
        }
    }

    @Test("a capture of others, at each packet", arguments: 0..<8 as Range<UInt64>)
    func others(seed: UInt64) throws {
        let bytes = Self.capture(seed: seed)
        let file = try File(bytes)
        var live = OpenedCapture()
        var checked = 0
        for offset in stride(from: 0, to: bytes.count, by: 4_999) {
            // As it was live: whatever of the file was there by then.
            try live.absorb(bytes[Int(live.length)..<offset])
            guard live.start != nil else { continue }
            let past = try file.state(at: live.latest)
            let shown = past.snapshot(Self.request, named: "x", at: live.latest)
            #expect(shown == live.snapshot(Self.request, named: "x"))
            checked += 1
        }
        #expect(checked > 10)
        let end = file.present.latest
        #expect(
            try file.state(at: end).snapshot(Self.request, named: "x")
                == file.present.snapshot(Self.request, named: "x"))
    }

    @Test("what the index keeps fits into its budget, and sessions are exact all the same")
    func budget() throws {
        let (bytes, live) = Self.recording(400, seed: 3)
        let file = try File(bytes, budget: 200_000)
        #expect(file.index.cost <= 200_000)
        for number in stride(from: 0, to: live.count, by: 17) {
            let shown = try file.state(at: live[number].time).snapshot(
                Self.request, named: "demo", at: live[number].time)
            #expect(shown?.sockets == live[number].sockets)
            #expect(shown?.traffic?.items.last == live[number].traffic?.items.last)
        }
    }

    @Test("the event before an instant, and the one after it")
    func neighbors() throws {
        let (bytes, live) = Self.recording(50, seed: 5)
        let file = try File(bytes)
        let times = try #require(live.last).events.map(\.time)
        for (number, time) in times.enumerated().dropFirst().dropLast() {
            #expect(file.index.neighbors(of: time).previous == times[number - 1])
            #expect(file.index.neighbors(of: time).next == times[number + 1])
            #expect(file.index.neighbors(of: time + .nanoseconds(1)).previous == time)
        }
        #expect(file.index.neighbors(of: try #require(times.last)).next == nil)
    }

    @Test("an instant of its clock is a time of day, and back")
    func times() throws {
        let (bytes, live) = Self.recording(10, seed: 5)
        let file = try File(bytes)
        #expect(file.present.wall(live[7].time) == live[7].wallNanoseconds)
        #expect(file.present.time(ofWall: live[7].wallNanoseconds) == live[7].time)
        #expect(file.present.time(ofWall: .min) == live[0].time)
    }
}
