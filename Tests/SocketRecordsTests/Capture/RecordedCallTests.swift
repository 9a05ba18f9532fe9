import SocketCore
import Testing

@testable import SocketRecords

/// A read that comes in two pieces while another thread polls, as three snapshots of a second each.
@Suite("The calls of a program in a recording")
struct RecordedCallTests {
    private static let id = SocketID(7)

    private static func at(_ seconds: Double) -> MonotonicTime { .zero + .seconds(seconds) }

    private static func read(_ state: SocketCall.State, began: Double, ended: Double? = nil) -> SocketCall {
        var call = SocketCall(
            id: id, process: 78, thread: 78, .recvfrom, descriptor: 5, asked: 1_024, state, began: at(began),
            took: ended.map { at($0) - at(began) })
        if began > 1 { call.gathered = SocketCall.Gathered(asked: 1_024, had: 37, calls: 1, began: at(0.5)) }
        return call
    }

    private static let poll: SocketCall = {
        var call = SocketCall(
            process: 78, thread: 79, .epollWait, descriptor: 4, asked: nil, .waits, began: at(0.7))
        call.poll = SocketCall.Poll(timeout: .seconds(9))
        return call
    }()

    /// The snapshots, and the ledger of the last.
    private static func snapshots() -> [EngineSnapshot] {
        var ledger = CallLedger()
        var losses = CallLosses(lost: 0, strangePrograms: 1, hiddenPrograms: 2)
        losses.rings = [78]
        let news = [
            [read(.waits, began: 0.5), read(.returned(37), began: 0.5, ended: 0.6), poll],
            [read(.waits, began: 1.2)],
            [read(.returned(987), began: 1.2, ended: 2.4), read(.waits, began: 2.5)],
        ]
        return news.enumerated().map { second, calls in
            ledger.absorb(calls, losses)
            var snapshot = EngineSnapshot(engine: "calls", time: at(Double(second + 1)), wallNanoseconds: 0)
            snapshot.sockets = [
                SocketSnapshot(id: id, role: .client, phase: .connected, target: "t", opened: .zero)
            ]
            snapshot.calls = ledger
            return snapshot
        }
    }

    private static func write(_ snapshots: [EngineSnapshot]) -> [UInt8] {
        var writer = RecordingWriter(application: "socktui", zero: 0)
        for snapshot in snapshots {
            writer.add(RecordedEntry(SocketID(0), at: snapshot.time, .snapshot(snapshot, [:])))
        }
        return writer.take()
    }

    @Test("what is read is what was recorded, and a recording without calls has none")
    func same() throws {
        let snapshots = Self.snapshots()
        var capture = OpenedCapture()
        try capture.absorb(Self.write(snapshots))
        let opened = try #require(capture.snapshot(SnapshotRequest(), named: "r")?.calls)
        let wanted = try #require(snapshots[2].calls)
        #expect(opened.isSame(as: wanted) && opened.latest == wanted.latest && opened.dropped == 0)
        #expect(capture.shortcomings.isEmpty)
        var plain = snapshots[0]
        plain.calls = nil
        capture = OpenedCapture()
        try capture.absorb(Self.write([plain]))
        #expect(capture.snapshot(SnapshotRequest(), named: "r")?.calls == nil)
    }

    @Test(
        "at an earlier instant, the calls that had ended and that waited are shown",
        arguments: [(0.8, 0, []), (1.1, 1, [79]), (1.3, 1, [78, 79]), (2.3, 1, [78, 79]), (2.45, 2, [79])])
    func rewound(instant: Double, ended: Int, waiting: [Int]) throws {
        var recent = RecentRecording(span: .seconds(60), limit: 1 << 20)
        for snapshot in Self.snapshots() { recent.add(snapshot, [:]) }
        var capture = OpenedCapture()
        capture.append(Self.write(Self.snapshots()))
        _ = try capture.advance(until: Self.at(instant))
        // Before the first snapshot there is no state.
        guard instant > 1 else { return #expect(capture.snapshot(SnapshotRequest(), named: "r") == nil) }
        for state in [capture, recent.state(at: Self.at(instant))] {
            let shown = state.snapshot(SnapshotRequest(), named: "r", at: Self.at(instant))
            let calls = try #require(shown?.calls)
            #expect(calls.latest.count == ended && calls.waiting.keys.sorted() == waiting)
            #expect(calls.waiting.values.allSatisfy { $0.isWaiting && $0.took == nil })
        }
        #expect(recent.cost > 0)
    }

    @Test("any number of calls is written, and a second file begins with those that wait")
    func many() throws {
        var snapshot = Self.snapshots()[0]
        var ledger = CallLedger()
        let ended = (0..<9_000).map { _ in Self.read(.returned(1), began: 0.5, ended: 0.6) }
        let waiting = (0..<9_000).map { thread in
            SocketCall(process: 1, thread: 100 + thread, .poll, descriptor: 3, asked: nil, .waits, began: .zero)
        }
        ledger.absorb(ended + waiting)
        snapshot.calls = ledger
        var writer = RecordingWriter(application: "socktui", zero: 0)
        for file in 0..<2 {
            writer.add(RecordedEntry(SocketID(0), at: snapshot.time, .snapshot(snapshot, [:])))
            var capture = OpenedCapture()
            try capture.absorb(writer.take())
            let opened = try #require(capture.snapshot(SnapshotRequest(), named: "r")?.calls)
            #expect(opened.waiting.count == 9_000 && opened.next == 9_000)
            #expect(opened.latest.count == (file == 0 ? 9_000 : 0))
            writer.begin()
        }
    }
}
