import SocketKit
import Testing

@testable import InspectorShell

/// A run without a screen looks ten times a second. At thousands of sockets that do nothing, most looks must cost
/// nothing.
@Suite("Quiet looks")
struct QuietLookTests {
    private static func request(from event: UInt64) -> SnapshotRequest {
        SnapshotRequest(kernel: .all, eventsFrom: event)
    }

    private static func look(sockets: Int, next: UInt64, time: MonotonicTime = .zero) -> EngineSnapshot {
        var look = EngineSnapshot(engine: "quiet", time: time, wallNanoseconds: 0)
        look.sockets = (0..<sockets).map {
            SocketSnapshot(id: SocketID(UInt64($0)), role: .client, phase: .connected, target: "", opened: .zero)
        }
        look.nextEvent = next
        return look
    }

    @Test("many sockets to which nothing happened are not asked again for a while")
    func repeated() {
        let quiet = QuietLook(many: 2)
        let look = Self.look(sockets: 3, next: 7)
        quiet.keep(look, for: Self.request(from: 0))
        #expect(quiet.answer(Self.request(from: 7), 7, MonotonicTime(nanoseconds: 999_999_999))?.time == look.time)
        #expect(quiet.answer(Self.request(from: 7), 7, MonotonicTime(nanoseconds: 1_000_000_000)) == nil)
        #expect(quiet.answer(Self.request(from: 7), 8, .zero) == nil, "an event has happened")
        #expect(quiet.answer(Self.request(from: 0), 7, .zero) == nil, "the events are asked for again")
        #expect(quiet.answer(SnapshotRequest(kernel: .none, eventsFrom: 7), 7, .zero) == nil)
    }

    @Test("the more sockets, the longer a look is repeated, up to five seconds", arguments: [(10_000, 2), (90_000, 5)])
    func scaled(sockets: Int, seconds: Int) {
        let quiet = QuietLook()
        quiet.keep(Self.look(sockets: sockets, next: 7), for: Self.request(from: 0))
        let end = Int64(seconds) * 1_000_000_000
        #expect(quiet.answer(Self.request(from: 7), 7, MonotonicTime(nanoseconds: end - 1)) != nil)
        #expect(quiet.answer(Self.request(from: 7), 7, MonotonicTime(nanoseconds: end)) == nil)
    }

    @Test("few sockets are asked each time")
    func few() {
        let quiet = QuietLook(many: 2)
        quiet.keep(Self.look(sockets: 3, next: 7), for: Self.request(from: 0))
        quiet.keep(Self.look(sockets: 2, next: 7), for: Self.request(from: 7))
        #expect(quiet.answer(Self.request(from: 7), 7, .zero) == nil)
    }

    @Test("a source answers with the same look until something happens, and then with a new one")
    func source() async throws {
        let source = EngineSource(quiet: QuietLook(many: 0, freshness: .seconds(3_600)))
        @Sendable func look(from event: UInt64) async -> EngineSnapshot? {
            await withCheckedContinuation { continuation in
                source.requestSnapshot(Self.request(from: event)) { continuation.resume(returning: $0) }
            }
        }
        let socket = DatagramSocket(engine: source.engine)
        try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        let first = try #require(await look(from: 0))
        #expect(first.sockets.count == 1)
        let second = try #require(await look(from: first.nextEvent))
        #expect(second.time == first.time && second.sockets == first.sockets && second.events.isEmpty)
        let other = DatagramSocket(engine: source.engine)
        try other.bind(to: .udp(host: "127.0.0.1", port: 0))
        let third = try #require(await look(from: second.nextEvent))
        #expect(third.time > first.time && third.sockets.count == 2 && !third.events.isEmpty)
        withExtendedLifetime((socket, other)) {}
    }
}
