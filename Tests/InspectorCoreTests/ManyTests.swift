import Glibc
import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("Very many sessions")
struct ManyTests {
    private func crowd(_ milliseconds: Int64, _ count: UInt64 = 2_000) -> EngineSnapshot {
        let time = MonotonicTime(nanoseconds: World.now.nanoseconds + milliseconds * 1_000_000)
        var snapshot = World.snapshot(
            (1...count).map { World.make($0, .client, .connected, target: "host\($0).example:7") }, time: time)
        for index in snapshot.sockets.indices { snapshot.sockets[index].receiveRate = 0 }
        return snapshot
    }

    /// Makes one of them starve.
    private func starve(_ snapshot: inout EngineSnapshot, _ index: Int) {
        snapshot.sockets[index].activity.unreadSince = World.at(14, 2, 1)
    }

    @Test("What is in sight is warned of at once, the rest within a second")
    func glances() {
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(Size(80, 24)))
        _ = model.update(.snapshot(crowd(0)))
        var snapshot = crowd(100)
        starve(&snapshot, 3)
        starve(&snapshot, 1_500)
        _ = model.update(.snapshot(snapshot))
        #expect(model.shared.findings.count == 1 && !model.shared.findings[SocketID(4)].isEmpty)
        snapshot.time = crowd(1_000).time
        _ = model.update(.snapshot(snapshot))
        #expect(model.shared.findings.count == 2 && !model.shared.findings[SocketID(1_501)].isEmpty)
    }

    @Test("A session that comes is listed soon, and rows are ordered anew once a second")
    func order() {
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(Size(80, 24)))
        _ = model.update(.snapshot(crowd(0)))
        _ = model.update(.command("sort rx"))
        var snapshot = crowd(400)
        snapshot.sockets[1_000].receiveRate = 5_000
        snapshot.sockets.append(World.make(2_001, .client, .connected, target: "late.example:7"))
        _ = model.update(.snapshot(snapshot))
        #expect(model.list.rows.count == 2_001 && model.list.rows.first == SocketID(1_001))
        snapshot.time = crowd(600).time
        snapshot.sockets[1_500].receiveRate = 9_000
        _ = model.update(.snapshot(snapshot))
        #expect(model.list.rows.first == SocketID(1_001))
        snapshot.time = crowd(1_500).time
        _ = model.update(.snapshot(snapshot))
        #expect(model.list.rows.first == SocketID(1_501))
    }

    /// Processor time of this thread for a second of snapshots and pictures, a ninth of the sessions being busy.
    private func processorTime(_ count: UInt64) -> Double {
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(Size(140, 40)))
        _ = model.update(.snapshot(crowd(0, count)))
        let snapshots = (1...10).map { step in
            var snapshot = crowd(Int64(step) * 100, count)
            for index in stride(from: 0, to: snapshot.sockets.count, by: 9) {
                snapshot.sockets[index].receiveRate = Double((index * 7919 + step * 104_729) % 10_007)
                snapshot.sockets[index].received = UInt64(step * index)
            }
            return snapshot
        }
        var (began, ended) = (timespec(), timespec())
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began)
        for snapshot in snapshots {
            _ = model.update(.snapshot(snapshot))
            _ = draw(model, model.size)
        }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended)
        return Double(ended.tv_sec - began.tv_sec) + Double(ended.tv_nsec - began.tv_nsec) / 1e9
    }

    @Test("Nine thousand sessions cost no more than in proportion what a thousand do")
    func cost() {
        let (few, many) = (processorTime(1_000), processorTime(9_000))
        #expect(many < few * 30, "\(few) s, \(many) s")
    }
}
