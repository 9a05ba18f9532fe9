import SocketCore
import SocketRecords
import Testing

@testable import SocketKit

/// What waits for a recorder that is slow, however many sockets there are.
@Suite("What waits to be recorded")
struct RecordingTapeTests {
    private static func snapshot(_ sockets: Int, events: Range<UInt64> = 0..<0) -> EngineSnapshot {
        var snapshot = EngineSnapshot(engine: "e", time: .zero, wallNanoseconds: 0)
        snapshot.sockets = (0..<sockets).map {
            SocketSnapshot(
                id: SocketID(UInt64($0 + 1)), role: .client, phase: .connected, target: "a:1", opened: .zero)
        }
        snapshot.events = events.map {
            SocketEvent(sequence: $0, time: .zero, socket: SocketID(1), kind: .readDone, first: 1)
        }
        snapshot.nextEvent = events.upperBound
        return snapshot
    }

    private static func snapshots(_ tape: RecordingTape) -> [(snapshot: EngineSnapshot, traffic: [SocketID])] {
        tape.take().entries.compactMap { entry in
            guard case .snapshot(let snapshot, let traffic) = entry.content else { return nil }
            return (snapshot, traffic.keys.sorted())
        }
    }

    @Test("a snapshot of any number of sockets is taken, and leaves room for traffic", arguments: [1, 8_191, 20_000])
    func size(count: Int) {
        let tape = RecordingTape {}
        tape.snapshot(Self.snapshot(count), [:])
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        for _ in 0..<4 {
            tape.bytes(
                bytes[...], length: bytes.count, isSent: true, isPlain: false, of: SocketID(1), at: .zero)
        }
        #expect(tape.lost == 0)
        #expect(Self.snapshots(tape).map(\.snapshot.sockets.count) == [count])
        // A second one is taken as soon as the first is.
        tape.snapshot(Self.snapshot(count), [:])
        #expect(Self.snapshots(tape).map(\.snapshot.sockets.count) == [count])
    }

    @Test("of snapshots that wait, the last one stays, with the events and traffic of all")
    func joined() {
        let tape = RecordingTape {}
        for round: UInt64 in 0..<3 {
            let traffic = [SocketID(round + 1): TrafficSnapshot()]
            tape.snapshot(Self.snapshot(9_000 + Int(round), events: (4 * round)..<(4 * round + 4)), traffic)
        }
        let taken = Self.snapshots(tape)
        #expect(taken.map(\.snapshot.sockets.count) == [9_002])
        #expect(taken.first?.snapshot.events.map(\.sequence) == Array(0..<12))
        #expect(taken.first?.traffic == [1, 2, 3].map { SocketID($0) } && tape.lostEvents == 0)
    }

    @Test("events that have no room are counted")
    func events() {
        let tape = RecordingTape {}
        let most = UInt64(RecordingTape.eventLimit)
        tape.snapshot(Self.snapshot(9_000, events: 0..<most), [:])
        tape.snapshot(Self.snapshot(9_000, events: most..<(most + 7)), [:])
        #expect(Self.snapshots(tape).first?.snapshot.events.map(\.sequence) == Array(7..<(most + 7)))
        #expect(tape.lostEvents == 7)
    }
}
