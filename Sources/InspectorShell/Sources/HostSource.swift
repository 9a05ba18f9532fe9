import Dispatch
import Glibc
import HostSockets
import InspectorCore
import SocketKit

/// The sockets of every program on this host, or of some of its programs, inspected from outside about once a second.
package final class HostSource: SocketSource {
    package enum Scope: Equatable {
        case host
        /// The sockets of these processes. `name` is what the user called them.
        case processes([Int32], name: String)
    }

    package let scope: Scope
    private let queue = DispatchQueue(label: "host", qos: .utility)
    /// Accessed only on `queue`.
    private let looker: Lock<Looker>
    private let told = Lock(Told())

    private struct Told {
        var ending: ProgramInfo.State?
        var hasAnswered = false
        var looked = ContinuousClock.now
        var missing: String?
        var pause = LookPace().pause
    }

    /// After this many pauses without a new look, the source is no longer called live.
    private static let patience = 3
    /// The time that a look may spend finding the owners of sockets. The first look gets more, because it is all that
    /// `--once` shows.
    fileprivate static let ownersBudget = Duration.milliseconds(20)
    fileprivate static let firstOwnersBudget = Duration.milliseconds(300)

    /// `log` receives a note about bytes peeked at if they belong to another user.
    package init(
        _ scope: Scope, _ options: HostOptions, _ lints: LintSettings,
        log: @escaping @Sendable (String) -> Void = SystemLog.write
    ) {
        self.scope = scope
        looker = Lock(Looker(scope, options, lints, log))
    }

    package func info(ordinal: Int) -> ProgramInfo {
        let told = told.withLock { $0 }
        let (age, missing) = (ContinuousClock.now - told.looked, told.missing)
        let isLate = age > told.pause * Self.patience
        let state = told.ending ?? (isLate ? .silent(age) : .live)
        var info = info(ordinal, state)
        info.missing = missing
        return info
    }

    private func info(_ ordinal: Int, _ state: ProgramInfo.State) -> ProgramInfo {
        switch scope {
        case .host:
            return ProgramInfo(outside: HostName.own, process: 0, ordinal: ordinal, state: state)
        case .processes(let numbers, let name):
            let process = numbers.count == 1 ? Int(numbers[0]) : 0
            return ProgramInfo(outside: name, process: process, ordinal: ordinal, state: state)
        }
    }

    package func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void) {
        queue.async { @Sendable [self] in
            let (snapshot, news) = looker.withLock { looker in
                let (snapshot, ending) = looker.snapshot(request)
                let told = Told(
                    ending: ending, hasAnswered: true, looked: looker.looked ?? .now, missing: looker.missing,
                    pause: looker.pause)
                return (snapshot.map { looker.adding(eventsOf: request, to: $0) }, told)
            }
            told.withLock { $0 = news }
            then(snapshot)
        }
    }

    package var isAwaited: Bool { told.withLock { !$0.hasAnswered } }
    package var hasAnswered: Bool { told.withLock { $0.hasAnswered } }

    package func requestUnread(_ request: UnreadRequest, then: @escaping @Sendable (UnreadLook?) -> Void) {
        queue.async { @Sendable [self] in then(looker.withLock { $0.unread(request) }) }
    }

    package func perform(_ command: SocketCommand) {}
    package func takeNotices() -> [String] { [] }
    package func close() {}
    package func rest() { looker.withLock { $0.rest() } }
}

extension HostSource.Scope {
    /// The most programs of one name that are inspected as one source.
    private static let most = 64

    /// Finds the processes with that number or name. Returns `nil` if there are none.
    package init?(named name: String, _ options: HostOptions) throws(AttachError) {
        if let number = Int32(name) {
            guard kill(number, 0) == 0 || errno == EPERM else { return nil }
            self = .processes([number], name: name)
            return
        }
        let found = HostWatch(options, LintSettings()).processes(named: name)
        if found.isEmpty { return nil }
        guard found.count <= Self.most else {
            let numbers = found.map(String.init).joined(separator: " ")
            throw AttachError(sentence: "\(found.count) processes are named \(name); attach to one of \(numbers)")
        }
        self = .processes(found, name: name)
    }
}

/// Inspects the host, and keeps what it saw last.
private struct Looker {
    private let scope: HostSource.Scope
    private var watch: HostWatch
    private var rows = HostRows(userNames: OwnUser.names())
    private var unread: UnreadWatch
    /// Selects the sockets to list.
    private var filter = Filter()
    private let lints: LintSettings
    private var last: EngineSnapshot?
    private(set) var looked: ContinuousClock.Instant?
    private var pace = LookPace()
    /// The interval before the next look.
    var pause: Duration { pace.pause }
    private var ending: ProgramInfo.State?
    private var spare = SpareMemory()

    init(
        _ scope: HostSource.Scope, _ options: HostOptions, _ lints: LintSettings,
        _ log: @escaping @Sendable (String) -> Void
    ) {
        self.scope = scope
        (unread, self.lints) = (UnreadWatch(options.peeks, log: log), lints)
        if options.listsOnlyMatches, case .success(let wanted) = Filter.parse(options.filter) { filter = wanted }
        watch = HostWatch(options, lints)
    }

    /// Returns the last snapshot, or a new one if that is old enough, and the reason why no more will follow.
    mutating func snapshot(_ request: SnapshotRequest) -> (EngineSnapshot?, ending: ProgramInfo.State?) {
        if let looked, .now - looked < pause || ending != nil { return (last, ending) }
        looked = .now
        let (began, isFirst) = (HostObserver.processorTime, last == nil)
        var sight: Set<UInt64> = []
        defer { pace.note(isFirst ? .zero : HostObserver.processorTime - began) }
        do throws(HostObserver.Problem) {
            // The first look finds the rows whose programs are then examined.
            if last == nil {
                try watch.see(readsPrograms: false)
                last = rows.snapshot(
                    of: watch.look, by: watch.judge, [], wallNanoseconds: 0,
                    folds: request.foldsWaiting && filter.isEmpty)
            }
            sight = inSight(request)
            try watch.see(
                readsPrograms: true, inodes: sight, processes: processes,
                ownersBudget: isFirst ? HostSource.firstOwnersBudget : HostSource.ownersBudget)
        } catch {
            // If memory or descriptors were short, the next look makes up for this one.
            if !error.isPassing { ending = .failed(error.sentence) }
            return (last, ending)
        }
        var snapshot = rows.snapshot(
            of: watch.look, by: watch.judge, watch.judge.verdicts().found,
            wallNanoseconds: SystemClock().wallNanoseconds, folds: request.foldsWaiting && filter.isEmpty, sight: sight)
        if case .processes(let numbers, let name) = scope {
            snapshot.sockets.removeAll { !($0.host?.owners.contains { numbers.contains($0) } ?? false) }
            if !numbers.contains(where: { kill($0, 0) == 0 || errno == EPERM }) { ending = .ended("\(name) has ended") }
        }
        if !filter.isEmpty {
            var findings = Findings(lints)
            findings.absorb(snapshot, lost: 0)
            snapshot.sockets = filter.matching(snapshot.sockets, snapshot.time, findings)
        }
        last = snapshot
        spare.note(watch.look.sockets.count)
        return (snapshot, ending)
    }

    func rest() { watch.rest() }

    /// What the last look could not see, except owners, which the rows report.
    var missing: String? {
        var hidden = watch.look.hidden
        hidden.sockets = 0
        let words = HostCheck.missing(hidden, nil)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    mutating func unread(_ request: UnreadRequest) -> UnreadLook? {
        last?.socket(request.socket).flatMap { unread.look(request, $0, watch) }
    }

    /// Adds the request's events to a snapshot. Each request has its own position among the events.
    func adding(eventsOf request: SnapshotRequest, to snapshot: EngineSnapshot) -> EngineSnapshot {
        var snapshot = snapshot
        rows.addEvents(from: request.eventsFrom, to: &snapshot)
        return snapshot
    }

    /// When all sockets are requested, the number examined closely even if nothing seems wrong with them.
    private static let most = 128

    private var processes: [Int32] {
        if case .processes(let numbers, _) = scope { numbers } else { [] }
    }

    /// Returns the sockets whose rows are visible, and the other ends of their connections.
    private func inSight(_ request: SnapshotRequest) -> Set<UInt64> {
        let sockets: [SocketSnapshot] =
            switch request.kernel {
            case .none: []
            case .only(let ids): ids.compactMap { last?.socket($0) }
            case .all: Array(last?.sockets.prefix(Self.most) ?? [])
            }
        var inodes: Set<UInt64> = []
        for socket in sockets {
            guard let host = socket.host else { continue }
            inodes.insert(host.inode)
            if let peer = watch.judge.peer(of: host.key) { inodes.insert(peer.inode) }
        }
        return inodes.subtracting([0])
    }
}

package enum HostName {
    package static let own: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "host" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }()
}
