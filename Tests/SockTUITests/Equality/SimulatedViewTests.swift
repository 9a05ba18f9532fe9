import Glibc
import InspectorCore
import InspectorScreen
import SocketKit
import SocketRecords
import SocketSimulation
import SocketTestSupport
import Testing

/// A viewer of one simulated engine: what it draws, what it records in a file and keeps in memory, and what a second
/// viewer draws of that file as it grows.
private final class RecordingViewer {
    /// What is drawn of a state, and the number of its snapshot.
    private struct Shown {
        var drawn: Drawn
        var time: MonotonicTime
    }

    private var live = RecordingViewer.newModel()
    private var opened = RecordingViewer.newModel()
    private var writer: RecordingWriter?
    private var file: [UInt8] = []
    private var capture = OpenedCapture()
    private var index: CaptureIndex
    private var recent = RecentRecording(span: .seconds(600), limit: 64 << 20)
    private var versions: [SocketID: UInt64] = [:]
    /// The last snapshot of each instant that was drawn.
    private var shown: [Shown] = []
    private var random: SplitMix64
    private var first: MonotonicTime?
    private var keepsTraffic = false
    private(set) var comparisons = 0
    private(set) var differences: [String] = []

    /// Of so many snapshots one is drawn, since drawing takes longer than everything else.
    private static let rarity = 8
    private static let size = Size(80, 24)

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        index = CaptureIndex(OpenedCapture(), distance: 4_096)
    }

    private static func newModel() -> Model {
        var model = Model(options: Model.Options(ascii: false, version: "0"))
        _ = model.update(.resized(size))
        return model
    }

    func request() -> SnapshotRequest {
        if let socket = live.shown?.sockets.randomElement(using: &random), Int.random(in: 0..<4, using: &random) == 0 {
            _ = live.update(.command("select \(socket.id.number)"))
            _ = opened.update(.command("select \(socket.id.number)"))
        }
        var request = live.snapshotRequest
        request.kernel = .none
        request.trafficVersions = versions
        return request
    }

    func absorb(_ snapshot: EngineSnapshot) {
        var snapshot = snapshot
        let changed = snapshot.changedTraffic ?? [:]
        snapshot.changedTraffic = nil
        for (id, change) in changed { versions[id] = change.version }
        var traffic = changed.mapValues(\.traffic)
        if let id = snapshot.trafficOf {
            // Some engines here keep none, which a recording cannot tell from nothing.
            keepsTraffic = keepsTraffic || snapshot.traffic != nil
            if let kept = snapshot.traffic { traffic[id] = kept }
        }
        if writer == nil {
            let zero = snapshot.wallNanoseconds - snapshot.time.nanoseconds
            writer = RecordingWriter(application: "socktui", zero: zero)
        }
        writer?.add(RecordedEntry(SocketID(0), at: snapshot.time, .snapshot(snapshot, traffic)))
        recent.add(snapshot, traffic)
        let bytes = writer?.take() ?? []
        file += bytes
        do {
            try capture.absorb(bytes)
        } catch {
            differences.append(error.sentence)
        }
        index.note(&capture)
        _ = live.update(.answer(Answer(snapshot)))
        let wanted = opened.snapshotRequest
        let told = SnapshotRequest(eventsFrom: wanted.eventsFrom, traffic: keepsTraffic ? wanted.traffic : nil)
        if let state = capture.snapshot(told, named: "simulated") { _ = opened.update(.answer(Answer(state))) }
        first = first ?? snapshot.time
        // Where another connection has just been selected, its traffic is in the next snapshot.
        let isWhole = !keepsTraffic || snapshot.trafficOf == live.list.selected
        guard isWhole, live.tab != .start, Int.random(in: 0..<Self.rarity, using: &random) == 0 else {
            // Another snapshot of the same instant hides what was drawn before.
            shown.removeAll { $0.time == snapshot.time }
            return
        }
        let bodies = DrawnBodies(live, sizes: [Self.size])
        compare(bodies, DrawnBodies(opened, sizes: [Self.size]), "as the file grew")
        shown.removeAll { $0.time == snapshot.time }
        let distance = snapshot.time - (first ?? snapshot.time)
        shown.append(
            Shown(
                drawn: Drawn(distance: distance, selected: live.list.selected, bodies: bodies), time: snapshot.time))
    }

    /// Goes to instants that were drawn, in any order, in the file and in memory.
    func goBack() {
        for shown in shown.shuffled(using: &random).prefix(4) {
            var past = index.capture(withHistoryBefore: shown.time)
            past.passing = PassedSnapshots(before: shown.time)
            do {
                while try past.advance(until: shown.time) {
                    let rest = file.dropFirst(Int(past.length)).prefix(4_096)
                    if rest.isEmpty { break }
                    past.append(rest)
                }
            } catch {
                differences.append(error.sentence)
            }
            compare(shown, past, "opened")
            compare(shown, recent.state(at: shown.time, notesPassed: true), "kept")
        }
    }

    private func compare(_ shown: Shown, _ state: OpenedCapture, _ how: String) {
        var state = state
        var model = Self.newModel()
        let before = state.takePassed()
        let request = SnapshotRequest(
            eventsFrom: before.last?.nextEvent ?? 0, traffic: keepsTraffic ? shown.drawn.selected : nil)
        guard var snapshot = state.snapshot(request, named: "simulated", at: shown.time) else {
            return differences.append("\(how): nothing at \(shown.time)")
        }
        snapshot.before = before
        _ = model.update(.answer(Answer(snapshot)))
        if let id = shown.drawn.selected { _ = model.update(.command("select \(id.number)")) }
        snapshot.before = nil
        snapshot.events = []
        _ = model.update(.answer(Answer(snapshot)))
        compare(shown.drawn.bodies, DrawnBodies(model, sizes: [Self.size]), how)
    }

    private func compare(_ live: DrawnBodies, _ other: DrawnBodies, _ how: String) {
        comparisons += 1
        if let difference = live.difference(from: other) { differences.append("\(how): \(difference)") }
    }
}

private final class RecordingViewers: SimulationViewer {
    let viewers: [RecordingViewer]

    init(seed: UInt64) { viewers = (0..<2).map { RecordingViewer(seed: seed * 2 + $0) } }

    func request(of station: Int) -> SnapshotRequest { viewers[station].request() }
    func absorb(_ snapshot: EngineSnapshot, of station: Int) { viewers[station].absorb(snapshot) }
}

/// On the simulated engine, whatever it does: what is drawn of its recording is what was drawn live.
@Suite("Recordings of the simulated engine look as it did", .timeLimit(.minutes(120)))
struct SimulatedViewTests {
    /// `SOCKTUI_VIEW_SEEDS=1000` runs so many.
    private static let seeds = getenv("SOCKTUI_VIEW_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 20

    @Test("every snapshot of every seed")
    func seeds() {
        var comparisons = 0
        var failed: [UInt64] = []
        for seed in 0..<Self.seeds {
            let viewers = RecordingViewers(seed: seed)
            let outcome = Simulation.run(seed: seed, viewer: viewers)
            viewers.viewers.forEach { $0.goBack() }
            #expect(outcome.findings.isEmpty, "seed \(seed)")
            comparisons += viewers.viewers.reduce(0) { $0 + $1.comparisons }
            let differences = viewers.viewers.flatMap(\.differences)
            guard let first = differences.first else { continue }
            failed.append(seed)
            if failed.count < 4 { Issue.record("seed \(seed), \(differences.count) of them: \(first)") }
        }
        #expect(failed.isEmpty && comparisons > 10 * Self.seeds, "\(comparisons) comparisons")
        print("\(Self.seeds) seeds, \(comparisons) comparisons of four screens, \(failed.count) failed")
    }
}
