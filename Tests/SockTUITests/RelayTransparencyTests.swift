import Glibc
import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import SockTUI

/// Each way a side can end, with each kind of traffic on its way: the other side sees what it sees when both are
/// connected directly, which is tried too.
@Suite("The relay is transparent", .serialized, .timeLimit(.minutes(10)))
struct RelayTransparencyTests {
    private static let ofClient = [true, false]

    /// What the other side sees, and how long after its own leg was told the relay passed that on.
    private func sight(
        _ end: TableEnd, _ load: TableLoad, clientEnds: Bool, relayed: Bool
    ) throws -> (sight: TableSight, line: TableLine) {
        let line = try TableLine(relayed: relayed)
        let (side, other) = clientEnds ? (line.client, line.target) : (line.target, line.client)
        line.load(load, side, other)
        return (try line.end(end, load, side, other), line)
    }

    @Test("the other side sees the same end", arguments: TableEnd.allCases, TableLoad.allCases)
    func ends(_ end: TableEnd, _ load: TableLoad) throws {
        for clientEnds in Self.ofClient {
            let direct = try sight(end, load, clientEnds: clientEnds, relayed: false).sight
            let (relayed, line) = try sight(end, load, clientEnds: clientEnds, relayed: true)
            #expect(relayed == direct, "\(end) of \(clientEnds ? "client" : "target") while \(load)")
            #expect(relayed.end != nil && relayed.isIntact)
            // A reset is passed on in the turn that learns of it; by the engine's own clock that takes no time.
            guard direct.isTold else { continue }
            #expect(eventually { line.legs.allSatisfy { $0.phase == .closed } })
            let times = line.legs.compactMap { $0.closed?.time }
            try #require(times.count == 2)
            let late = clientEnds ? times[1] - times[0] : times[0] - times[1]
            #expect(late >= .zero && late < .milliseconds(100))
        }
    }

    @Test("both sides stalled: a reset of the client is an error of the server within 100 ms")
    func promptness() throws {
        // The test's thread may have to wait for a processor; the best of some tries is free of that.
        var best = Duration.seconds(60)
        for _ in 0..<10 where best >= .milliseconds(100) {
            let line = try TableLine(relayed: true)
            line.load(.stalled, line.client, line.target)
            let began = ContinuousClock.now
            line.client.end(reset: true)
            try #require(line.target.isReset(within: 20_000))
            best = min(best, .now - began)
        }
        #expect(best < .milliseconds(100))
    }

    @Test("urgent data is forwarded in line, where it was, and is an event of the leg that received it")
    func urgent() throws {
        let line = try TableLine(relayed: true)
        for (side, other, leg) in [(line.client, line.target, 0), (line.target, line.client, 1)] {
            for (text, flags) in [("abc", 0), ("X", Int(MSG_OOB)), ("def", 0)] {
                #expect(send(side.descriptor, text, text.utf8.count, Int32(flags)) == text.utf8.count)
            }
            var buffer = [UInt8](repeating: 0, count: 16)
            #expect(eventually { recv(other.descriptor, &buffer, buffer.count, Int32(MSG_PEEK)) == 7 })
            let count = recv(other.descriptor, &buffer, buffer.count, 0)
            #expect(count == 7 && buffer.prefix(7) == Array("abcXdef".utf8)[...])
            // The next one is at the end of what was sent.
            #expect(send(side.descriptor, "Z", 1, Int32(MSG_OOB)) == 1)
            let hasCome = eventually { recv(other.descriptor, &buffer, buffer.count, 0) == 1 }
            #expect(hasCome && buffer[0] == 0x5A)
            let socket = line.legs[leg].id
            let events = line.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.filter { $0.kind == .urgentData }
            #expect(events.filter { $0.socket == socket }.count == 2 && events.count == 2 * leg + 2)
        }
    }

    @Test("what was queued for a side that is gone is counted on its row")
    func losses() throws {
        let (_, line) = try sight(.reset, .stalled, clientEnds: true, relayed: true)
        #expect(eventually { line.legs.allSatisfy { $0.phase == .closed } })
        let legs = line.legs
        try #require(legs.count == 2)
        #expect(legs.allSatisfy { $0.relay?.isOtherGone == true && $0.lossWords != nil })
        // All that was received and not sent; of the side that is gone, also what arrived with its reset.
        let (client, target) = (legs[0], legs[1])
        #expect(client.relay?.lostBytes == target.received - client.sent && client.received > target.sent)
        #expect(target.relay?.lostBytes ?? 0 >= client.received - target.sent)
        let idle = try sight(.fin, .few, clientEnds: true, relayed: true).line
        #expect(idle.legs.allSatisfy { $0.relay?.lostBytes == 0 })
    }
}
