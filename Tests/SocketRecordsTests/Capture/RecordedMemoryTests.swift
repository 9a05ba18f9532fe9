import SocketTestSupport
import Testing

@testable import SocketCore
@testable import SocketRecords

@Suite("The last things that an engine did, kept in memory")
struct RecordedMemoryTests {
    private static func time(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: seconds * 1_000_000_000)
    }

    private static func session(_ number: UInt64, at seconds: Int64) -> RecordedEntry {
        let session = RecordedSession(
            id: SocketID(number), local: .v4(host: "127.0.0.1", port: 5_000),
            peer: .v4(host: "127.0.0.1", port: UInt16(number)), isClient: true, role: .client, target: "here")
        return RecordedEntry(session.id, at: time(seconds), .session(session, isNew: true))
    }

    private static func bytes(_ number: UInt64, _ count: Int, at seconds: Int64) -> RecordedEntry {
        RecordedEntry(
            SocketID(number), at: time(seconds),
            .bytes(
                [UInt8](repeating: UInt8(truncatingIfNeeded: seconds), count: count)[...], length: count, isSent: true,
                isPlain: false))
    }

    private static func snapshot(at seconds: Int64) -> RecordedEntry {
        RecordedEntry(
            SocketID(0), at: time(seconds),
            .snapshot(EngineSnapshot(engine: "", time: time(seconds), wallNanoseconds: 0), [:]))
    }

    @Test("what is older than the time is dropped; the sessions that were there, and the state before, are told first")
    func span() throws {
        var memory = RecordedMemory(span: .seconds(10), limit: 1 << 20)
        memory.add(Self.session(1, at: 0))
        memory.add(Self.session(2, at: 0))
        memory.add(Self.snapshot(at: 1))
        memory.add(RecordedEntry(SocketID(1), at: Self.time(1), .secrets(Array("line\n".utf8))))
        memory.add(RecordedEntry(SocketID(2), at: Self.time(2), .closed(isReset: false, isLocal: true)))
        for second in 3...30 { memory.add(Self.bytes(1, 100, at: Int64(second))) }
        #expect(memory.earliest == Self.time(20) && memory.entries.count == 11)
        let recording = memory.recording
        guard case .session(let facts, isNew: false) = recording[0].content, case .secrets = recording[1].content,
            case .snapshot(let snapshot, _) = recording[2].content
        else { return #expect(Bool(false), "\(recording.prefix(3))") }
        #expect(facts.id == SocketID(1) && snapshot.time == Self.time(1))
        #expect(recording.count == 3 + 11)
        // The session that had ended is not told of.
        var writer = RecordingWriter(application: "test", zero: 0)
        for entry in recording { writer.add(entry) }
        let sessions = try SampleCapture.sessions(writer.take()).sessions
        #expect(sessions.count == 1 && sessions.first?.traffic.items.count == 11)
    }

    @Test("what takes more than the memory is dropped, oldest first, whatever comes", arguments: 0..<20)
    func limit(seed: Int) {
        var random = Seeded(UInt64(seed))
        var memory = RecordedMemory(span: .seconds(1_000), limit: 10_000)
        for second in 0..<500 {
            let number = UInt64.random(in: 1...5, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: memory.add(Self.session(number, at: Int64(second)))
            case 1: memory.add(Self.snapshot(at: Int64(second)))
            case 2:
                memory.add(
                    RecordedEntry(
                        SocketID(number), at: Self.time(Int64(second)), .closed(isReset: false, isLocal: true)))
            default: memory.add(Self.bytes(number, Int.random(in: 1...3_000, using: &random), at: Int64(second)))
            }
            // The state before and what is kept of sessions stays.
            #expect(memory.weight <= 10_000 + 2_048)
        }
        #expect(
            memory.entries.count > 1
                && memory.recording.contains { if case .snapshot = $0.content { true } else { false } })
    }

    /// Numbers that a seed makes.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }
        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}
