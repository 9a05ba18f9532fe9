import Dispatch
import SocketKit
import SocketTestSupport
import Testing

@Suite("Observed events", .timeLimit(.minutes(10))) struct ObservationTests {
    @Test("an observer gets every event once, in order, on its queue")
    func order() throws {
        let engine = SocketEngine()
        let queue = DispatchQueue(label: "observer")
        let key = DispatchSpecificKey<Bool>()
        let seen = Lock<[SocketEvent]>([])
        queue.setSpecific(key: key, value: true)
        let observation = engine.observeEvents(on: queue) { batch in
            guard DispatchQueue.getSpecific(key: key) == true, batch.lost == 0 else { return }
            seen.withLock { $0 += batch.events }
        }
        let pair = try ConnectedPair(engine: engine)
        for _ in 0..<200 { pair.socket.write([1]) }
        pair.socket.disconnect(.afterWriting)
        #expect(eventually { seen.withLock { $0.contains { $0.kind == .closed } } })
        let recorded = engine.snapshot(SnapshotRequest(eventsFrom: 0)).events
        #expect(eventually { seen.withLock { $0.map(\.sequence) } == recorded.map(\.sequence) })
        observation.cancel()
        let before = seen.withLock { $0.count }
        let other = try ConnectedPair(engine: engine)
        other.socket.disconnect()
        queue.sync {}
        #expect(seen.withLock { $0.count } == before)
    }

    @Test("an observer that does not keep up holds nobody up, and is told what it missed")
    func losses() throws {
        var configuration = EngineConfiguration()
        configuration.eventCapacity = 64
        let engine = SocketEngine(configuration)
        let gate = DispatchSemaphore(value: 0)
        let counted = Lock<(seen: UInt64, lost: UInt64, waits: Bool)>((0, 0, true))
        let observation = engine.observeEvents(on: DispatchQueue(label: "slow")) { batch in
            let waits = counted.withLock { counted in
                defer { counted.waits = false }
                counted.seen += UInt64(batch.events.count)
                counted.lost += batch.lost
                return counted.waits
            }
            if waits { gate.wait() }
        }
        let pair = try ConnectedPair(.unix, engine: engine)
        for number in 0..<500 {
            pair.socket.write([UInt8(number % 251)])
            #expect(try pair.peerReceives(1) == [UInt8(number % 251)])
        }
        gate.signal()
        #expect(
            eventually {
                let total = counted.withLock { $0.seen + $0.lost }
                return total == engine.snapshot(SnapshotRequest(eventsFrom: 0)).nextEvent
            })
        #expect(counted.withLock { $0.lost } > 0)
        observation.cancel()
    }

    @Test("what a handler keeps goes when the observation is released, and never within a turn")
    func release() throws {
        final class Kept: Sendable {}
        let engine = SocketEngine()
        weak var kept: Kept?
        do {
            let object = Kept()
            kept = object
            let observation = engine.observeEvents(on: DispatchQueue(label: "observer")) { _ in
                withExtendedLifetime(object) {}
            }
            _ = try ConnectedPair(engine: engine)
            observation.cancel()
        }
        #expect(eventually { kept == nil })
    }
}
