import Dispatch
import Glibc
import HostSockets
import InspectorCore
import SocketKit

/// The sockets of several hosts, each of which is inspected by its agent.
package final class FleetSource: SocketSource {
    /// Where snapshots are made, and where what the hosts say is waited for.
    private let queue = DispatchQueue(label: "fleet", qos: .utility)
    private let links = DispatchQueue(label: "fleet-links", qos: .utility)
    private let looker: Lock<FleetLooker>
    private let told = Lock(Told())
    private let name: String
    private let began = ContinuousClock.now

    private struct Told {
        var hosts: [HostStatus] = []
        var missing: String?
        var hasAnswered = false
    }

    package init(_ options: HostOptions, _ lints: LintSettings) {
        let names = options.places.map(\.name)
        name = names.count == 1 ? names[0] : "\(names.count) hosts"
        looker = Lock(FleetLooker(options, lints))
        links.async { @Sendable [self] in
            while let (polled, patience) = looker.withLock({ $0.isClosed ? nil : $0.watch.awaited }) {
                var polled = polled
                poll(&polled, nfds_t(polled.count), Int32(clamping: patience.wholeNanoseconds / 1_000_000))
                looker.withLock { if !$0.isClosed { $0.watch.take(polled) } }
            }
        }
    }

    package func info(ordinal: Int) -> ProgramInfo {
        let told = told.withLock { $0 }
        // While one of them is live or may soon be, so is the whole.
        let isSilent = !told.hosts.isEmpty && !told.hosts.contains { $0.state == .live || $0.state == .connecting }
        let age = told.hosts.compactMap(\.age).min().map { Duration.seconds($0) } ?? ContinuousClock.now - began
        let state: ProgramInfo.State = isSilent ? .silent(.seconds(age.components.seconds)) : .live
        var info = ProgramInfo(outside: name, process: 0, ordinal: ordinal, state: state)
        (info.hosts, info.missing) = (told.hosts, told.missing)
        return info
    }

    package func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void) {
        queue.async { @Sendable [self] in
            let (snapshot, news) = looker.withLock { looker in
                let snapshot = looker.snapshot(request)
                return (snapshot, Told(hosts: looker.hosts, missing: looker.missing, hasAnswered: looker.hasAnswered))
            }
            told.withLock { $0 = news }
            then(snapshot)
        }
    }

    package var isAwaited: Bool { false }
    package var hasAnswered: Bool { told.withLock { $0.hasAnswered } }
    package func perform(_ command: SocketCommand) {}
    package func takeNotices() -> [String] { [] }

    package func close() {
        looker.withLock { looker in
            looker.isClosed = true
            looker.watch.close()
        }
    }
}

/// Watches the hosts, and keeps what was shown last.
private struct FleetLooker {
    var watch: FleetWatch
    var isClosed = false
    private var rows = HostRows()
    private var filter = Filter()
    private let lints: LintSettings
    private var last: EngineSnapshot?
    private var looked: ContinuousClock.Instant?
    private var pace = LookPace()
    /// The hosts that were lost in the last snapshot.
    private var lost: Set<String> = []
    private var counts: [HostOrdinal: Int] = [:]
    private(set) var hasAnswered = false

    init(_ options: HostOptions, _ lints: LintSettings) {
        self.lints = lints
        if options.listsOnlyMatches, case .success(let wanted) = Filter.parse(options.filter) { filter = wanted }
        watch = FleetWatch(options.places, lints: lints, reconnects: true)
    }

    var hosts: [HostStatus] { watch.statuses(counts) }

    /// What the last look could not see, except owners, which the rows report.
    var missing: String? {
        var hidden = watch.judge.look.hidden
        hidden.sockets = 0
        let words = HostCheck.missing(hidden, nil)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// Returns the last snapshot, or a new one if that is old enough.
    mutating func snapshot(_ request: SnapshotRequest) -> EngineSnapshot {
        watch.sight = inSight(request)
        let isSettled = watch.isSettled
        if let looked, let last, .now - looked < pace.pause, hasAnswered || !isSettled {
            return adding(request, to: last)
        }
        looked = .now
        let began = HostObserver.processorTime
        var snapshot = made(request)
        pace.note(HostObserver.processorTime - began)
        if !filter.isEmpty {
            var findings = Findings(lints)
            findings.absorb(snapshot, lost: 0)
            snapshot.sockets = filter.matching(snapshot.sockets, snapshot.time, findings)
        }
        hasAnswered = hasAnswered || isSettled
        last = snapshot
        return adding(request, to: snapshot)
    }

    private mutating func made(_ request: SnapshotRequest) -> EngineSnapshot {
        let wall = SystemClock().wallNanoseconds
        guard watch.judge.look.time != .zero else {
            return EngineSnapshot(engine: "host", time: SystemClock().now, wallNanoseconds: wall)
        }
        var look = watch.takeLook()
        counts = look.sockets.reduce(into: [:]) { $0[$1.host, default: 0] += 1 }
        let gone = Set(look.machines.values.lazy.filter(\.isLost).map(\.name))
        // All rows of a host change with its state.
        if gone != lost { look.changes = nil }
        lost = gone
        return rows.snapshot(
            of: look, by: watch.judge, watch.judge.verdicts().found, wallNanoseconds: wall,
            folds: request.foldsWaiting && filter.isEmpty)
    }

    private func adding(_ request: SnapshotRequest, to snapshot: EngineSnapshot) -> EngineSnapshot {
        var snapshot = snapshot
        rows.addEvents(from: request.eventsFrom, to: &snapshot)
        return snapshot
    }

    /// When all sockets are requested, the number examined closely even if nothing seems wrong with them.
    private static let most = 128

    /// Returns the sockets whose rows are visible.
    private func inSight(_ request: SnapshotRequest) -> Set<UInt64> {
        let sockets: [SocketSnapshot] =
            switch request.kernel {
            case .none: []
            case .only(let ids): ids.compactMap { last?.socket($0) }
            case .all: Array(last?.sockets.prefix(Self.most) ?? [])
            }
        return Set(sockets.compactMap { $0.host.flatMap { watch.judge.socket($0.key)?.inode } }).subtracting([0])
    }
}
