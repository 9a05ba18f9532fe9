import Dispatch
import Glibc
import InspectorCore
import SocketKit
import SocketRecords

/// The sources of this run, in the order added: the program's own engine once something is opened on it, and the
/// attached programs. The first source's sockets keep their own names. An ordinal distinguishes the others.
package final class SourceList: Sendable {
    private let state: Lock<State>
    private let looking: HostOptions
    private let lints: LintSettings
    private let makeOwn: @Sendable () -> any OpeningSource
    private let former = FormerSnapshots()
    package let limits: TrafficLimits
    /// Whether several files are opened. They then share one clock, the time of day.
    private let opensSeveral: Bool
    /// The rules and breakpoints of this run.
    package let faults: FaultControl
    /// The recording of this run.
    package let recording = Lock<Recording?>(nil)
    /// The history that the screen can rewind through, while rewinding is enabled.
    package let history = Lock<LiveHistory?>(nil)
    /// The traffic versions already stored in the recording and the history.
    package let trafficVersions = Lock(TrafficVersions())
    /// The other ends of connections, or `nil` if they are not looked up.
    package let peers = Lock<[SocketID: PeerEnd]?>(nil)
    /// The calls of the program that is run, or `nil` if they are not traced.
    let calls = Lock<CallTap?>(nil)

    struct Entry: Sendable {
        let source: any SocketSource
        let ordinal: Int
    }

    private struct State {
        var entries: [Entry] = []
        /// The program's own engine, or `nil` if nothing has been opened on it yet.
        var own: (source: any OpeningSource, ordinal: Int)?
        /// The number of attaches in progress.
        var attaching = 0
        /// Whether a program was named that is not there, and whether another attach failed for another reason.
        var isMissing = false
        var hasFailed = false
        var merger = ProgramMerger()
        /// The last instant jumped to. See `SnapshotRequest.jump`.
        var jump: UInt64 = 0

        mutating func add(_ source: any SocketSource) -> Int {
            entries.append(Entry(source: source, ordinal: entries.count))
            return entries.count - 1
        }

        /// Restarts the events at another instant, and for files whose events were not reported yet.
        mutating func jump(to jump: UInt64, hasHistory: Bool) {
            let isFresh = merger.isEmpty && !entries.isEmpty && entries.allSatisfy { $0.source is OpenedSource }
            guard jump != self.jump || isFresh else { return }
            self.jump = jump
            // The run's history has already numbered its events.
            if hasHistory, !isFresh { return }
            merger = ProgramMerger()
        }

        mutating func setOwn(_ source: any OpeningSource) {
            let ordinal = add(source)
            merger.expect(0, of: ordinal)
            own = (source, ordinal)
        }
    }

    /// `asks` says whether a user is present to verify a certificate. `received` gets what the program's own sockets
    /// receive. `limits` bounds the traffic that the program's own engine keeps. `looking` says how other programs'
    /// sockets are inspected.
    package init(
        asks: Bool = true, received: ReceivedBytes? = nil, keeping limits: TrafficLimits = TrafficLimits(),
        looking: HostOptions = HostOptions(), lints: LintSettings = LintSettings(), opensSeveral: Bool = false,
        faults: FaultControl = FaultControl()
    ) {
        (self.looking, self.lints, self.limits, self.opensSeveral) = (looking, lints, limits, opensSeveral)
        self.faults = faults
        state = Lock(State())
        makeOwn = { EngineSource(asks: asks, received: received, keeping: limits, control: faults) }
    }

    /// Creates a list with this source as the program's own.
    package init(own: any OpeningSource) {
        var first = State()
        first.setOwn(own)
        (looking, lints, limits, opensSeveral) = (HostOptions(), LintSettings(), TrafficLimits(), false)
        faults = (own as? EngineSource)?.control ?? FaultControl()
        state = Lock(first)
        makeOwn = { own }
    }

    /// The last instant jumped to.
    package var jump: UInt64 { state.withLock { $0.jump } }

    /// Whether a capture file is shown.
    package var hasOpenedFiles: Bool { entries.contains { $0.source is OpenedSource } }

    /// The opened files, with their ordinals.
    package var openedFiles: [(file: OpenedSource, ordinal: Int)] {
        entries.compactMap { entry in (entry.source as? OpenedSource).map { ($0, entry.ordinal) } }
    }

    /// Whether nothing can change any more: all sources are files that were read to their end.
    package var isStill: Bool {
        let (entries, isAttaching) = state.withLock { ($0.entries, $0.attaching > 0) }
        return !isAttaching && !entries.isEmpty && history.withLock { $0 == nil } && recording.withLock { $0 == nil }
            && entries.allSatisfy { ($0.source as? OpenedSource)?.hasAnswered == true }
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// Whether there is nothing because no program of the given name is there.
    package var hasFoundNothing: Bool { state.withLock { $0.isMissing && !$0.hasFailed && $0.entries.isEmpty } }

    var entries: [Entry] { state.withLock { $0.entries } }

    /// Whether something was opened on the program's own engine, or may be.
    package var usesOwnEngine: Bool { state.withLock { $0.own != nil || $0.entries.isEmpty } }

    /// Whether the program's own source is the only one.
    package var hasOwnOnly: Bool { state.withLock { $0.own != nil && $0.entries.count == 1 } }

    /// The program's own engine, or `nil` if nothing has been opened on it yet.
    package var present: (source: any OpeningSource, ordinal: Int)? { state.withLock { $0.own } }

    /// The program's own source, created when first needed, and its ordinal.
    package var own: (source: any OpeningSource, ordinal: Int) {
        state.withLock { state in
            if let own = state.own { return own }
            let source = makeOwn()
            state.setOwn(source)
            return state.own ?? (source, 0)
        }
    }

    // MARK: Attaching

    /// Attaches to every inspectable program of that name, or inspects all programs of that name from outside. Calls
    /// `then` with the reason for each attach that failed, and finally with `nil`.
    package func attach(_ name: String, then: @escaping @Sendable (SocketError?) -> Void) {
        state.withLock { $0.attaching += 1 }
        DispatchQueue.global().async { @Sendable [self] in
            func attempt(_ step: () throws(AttachError) -> Void) {
                do throws(AttachError) { try step() } catch {
                    state.withLock { if error.isMissing { $0.isMissing = true } else { $0.hasFailed = true } }
                    then(SocketError(.other, operation: "attach", detail: error.sentence))
                }
            }
            var paths: [String] = []
            attempt { () throws(AttachError) in
                do throws(AttachError) {
                    paths = try AttachablePrograms.paths(for: name)
                } catch {
                    // A program that does not allow inspection is inspected from outside.
                    guard let scope = try HostSource.Scope(named: name, looking) else {
                        throw error.isMissing && Int32(name) == nil
                            ? AttachError(sentence: "no program is named \(name)", isMissing: true) : error
                    }
                    addOutside(scope)
                }
            }
            for path in paths {
                attempt { () throws(AttachError) in
                    guard attached.count < Self.limit else { throw Self.tooMany }
                    add(try AttachedSource(path: path))
                }
            }
            state.withLock { $0.attaching -= 1 }
            then(nil)
        }
    }

    /// Adds the sockets of all programs on this host, once.
    package func showHost() { addOutside(.host) }

    /// Adds the contents of a capture file.
    package func openFile(_ path: String) throws(AttachError) {
        let source = try OpenedSource(path: path, keeping: limits, zero: opensSeveral ? 0 : nil)
        _ = state.withLock { $0.add(source) }
        source.start()
    }

    /// Opens a capture. `startCapture` shows its traffic.
    package func openCapture(_ target: CaptureTarget) throws(AttachError) {
        let source = try CaptureSource(target, keeping: limits, looking: looking, lints)
        _ = state.withLock { $0.add(source) }
    }

    private func addOutside(_ scope: HostSource.Scope) {
        let isFleet = scope == .host && !looking.places.isEmpty
        state.withLock { state in
            let isThere = state.entries.contains {
                isFleet ? $0.source is FleetSource : ($0.source as? HostSource)?.scope == scope
            }
            guard !isThere else { return }
            _ = state.add(isFleet ? FleetSource(looking, lints) : HostSource(scope, looking, lints))
        }
    }

    private var attached: [AttachedSource] { attachedPrograms.map(\.program) }

    /// The attached programs, with their ordinals.
    package var attachedPrograms: [(program: AttachedSource, ordinal: Int)] {
        entries.compactMap { entry in (entry.source as? AttachedSource).map { ($0, entry.ordinal) } }
    }

    /// The most programs that one run attaches to. Ended ones count too, because what they reported is kept.
    private static let limit = 64
    private static let tooMany = AttachError(sentence: "already attached to \(limit) programs, the limit of a run")

    private func add(_ program: AttachedSource) {
        let isNew = state.withLock { state in
            let isKnown = state.entries.contains { entry in
                (entry.source as? AttachedSource).map { $0.path == program.path && $0.isLive } ?? false
            }
            if !isKnown { _ = state.add(program) }
            return !isKnown
        }
        isNew ? program.start() : program.close()
        if isNew, let recorder = recording.withLock({ $0?.recorder }), !recorder.status.hasEnded {
            recordAttached(program, by: recorder)
        }
    }

    /// Returns the news of the attached programs, or `nil` if there are none.
    package func news() -> ProgramNews? {
        let entries = entries
        let programs = entries.map { $0.source.info(ordinal: $0.ordinal) }
        guard !programs.allSatisfy(\.isOurs) else { return nil }
        return ProgramNews(programs: programs, notices: entries.flatMap { $0.source.takeNotices() })
    }

    /// Returns the process that owns a socket.
    package func process(of id: SocketID) -> Int {
        source(of: id)?.info(ordinal: id.ordinal).process ?? Int(getpid())
    }

    /// Whether all sources have answered the last snapshot request as far as they will.
    package var hasAnswered: Bool {
        let (entries, isAttaching) = state.withLock { ($0.entries, $0.attaching > 0) }
        return !isAttaching && entries.allSatisfy(\.source.hasAnswered)
    }

    // MARK: Snapshots

    /// Answers with one snapshot of all sources, on any thread. Its events are those since the previous snapshot, so
    /// make one request at a time and use every answer.
    package func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot) -> Void) {
        let history = history.withLock { $0 }
        let (entries, isAttaching) = state.withLock { state in
            state.jump(to: request.jump, hasHistory: history != nil)
            return (state.entries, state.attaching > 0)
        }
        let (live, generation) = live(request, with: history)
        let keeping = Keeping(history: history, generation: generation)
        guard !entries.isEmpty else { return isAttaching ? again(request, then) : answer([], request, keeping, then) }
        let answers = Lock((snapshots: [(snapshot: EngineSnapshot, ordinal: Int)](), missing: entries.count))
        for entry in entries {
            entry.source.requestSnapshot(own(live, of: entry.ordinal)) { @Sendable [self] snapshot in
                let all = answers.withLock { answers -> [(snapshot: EngineSnapshot, ordinal: Int)]? in
                    if let snapshot { answers.snapshots.append((snapshot, entry.ordinal)) }
                    answers.missing -= 1
                    return answers.missing == 0 ? answers.snapshots : nil
                }
                if let all { answer(all, request, keeping, then) }
            }
        }
    }

    /// Returns the part of a request that concerns one source, in the source's own names.
    private func own(_ request: SnapshotRequest, of ordinal: Int) -> SnapshotRequest {
        var own = request
        if recordingStatus != nil { own.foldsWaiting = false }
        if case .only(let ids) = request.kernel {
            own.kernel = .only(Set(ids.filter { $0.ordinal == ordinal }.map(\.own)))
        }
        own.traffic = request.traffic.flatMap { $0.ordinal == ordinal ? $0.own : nil }
        if let versions = request.trafficVersions {
            own.trafficVersions = Dictionary(
                versions.lazy.filter { $0.key.ordinal == ordinal }.map { ($0.key.own, $0.value) },
                uniquingKeysWith: { first, _ in first })
        }
        if request.eventsFrom != nil { own.eventsFrom = state.withLock { $0.merger.expects(of: ordinal) } ?? 0 }
        return own
    }

    /// Answers with one snapshot of all sources, at this program's time of day.
    private func answer(
        _ snapshots: [(snapshot: EngineSnapshot, ordinal: Int)], _ request: SnapshotRequest, _ keeping: Keeping,
        _ then: @escaping @Sendable (EngineSnapshot) -> Void
    ) {
        let clock = SystemClock()
        var whole = EngineSnapshot(engine: "socktui", time: clock.now, wallNanoseconds: 0)
        if !snapshots.isEmpty {
            whole = state.withLock { $0.merger.merge(snapshots, request) }
        } else if entries.contains(where: \.source.isAwaited) {
            // Without a first snapshot there is no time base.
            return again(request, then)
        }
        // A file has the time of day at which it was made.
        if snapshots.isEmpty || !entries.allSatisfy({ $0.source is OpenedSource }) {
            whole.wallNanoseconds = clock.wallNanoseconds - (clock.now - whole.time).wholeNanoseconds
        }
        whole.jump = request.jump
        whole.peers = whole.peers ?? peers.withLock { $0 }
        if let tap = calls.withLock({ $0 }) { whole.calls = tap.ledger(ordinal: present?.ordinal ?? 0) }
        let traffic = takeTraffic(of: &whole, keeping.generation)
        former.keep(whole)
        if keeping.history != nil || request.instant == nil, let recording = recording.withLock({ $0 }),
            recording.capture == nil
        {
            recording.recorder.note(whole, traffic)
        }
        if let history = keeping.history {
            history.absorb(whole, traffic, for: request, then: then)
        } else {
            then(whole)
        }
    }

    private func again(_ request: SnapshotRequest, _ then: @escaping @Sendable (EngineSnapshot) -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { @Sendable [self] in
            requestSnapshot(request, then: then)
        }
    }

    /// Returns the kept traffic of the program's own sockets. Waits at most ten seconds, and then returns none.
    package func traffic(of ids: [SocketID]) -> [(id: SocketID, traffic: TrafficSnapshot)] {
        let found = Lock<[SocketID: TrafficSnapshot]>([:])
        let answered = DispatchSemaphore(value: 0)
        requestTraffic(of: ids) { traffic in
            found.withLock { $0 = traffic }
            answered.signal()
        }
        _ = answered.wait(timeout: .now() + .seconds(10))
        return found.withLock { found in ids.compactMap { id in found[id].map { (id, $0) } } }
    }

    /// Answers with the kept traffic of these sockets, on any thread. Leaves out those whose source has only the
    /// traffic of the selected connection.
    package func requestTraffic(
        of sockets: [SocketID], then: @escaping @Sendable ([SocketID: TrafficSnapshot]) -> Void
    ) {
        if let history = history.withLock({ $0 }) {
            return history.requestTraffic(of: sockets) { @Sendable [self] traffic in
                if let traffic { then(traffic) } else { requestPresentTraffic(of: sockets, then: then) }
            }
        }
        requestPresentTraffic(of: sockets, then: then)
    }

    private func requestPresentTraffic(
        of sockets: [SocketID], then: @escaping @Sendable ([SocketID: TrafficSnapshot]) -> Void
    ) {
        let groups = Dictionary(grouping: sockets, by: \.ordinal)
        let known = groups.compactMap { ordinal, ids in ids.first.flatMap(source).map { ($0, ordinal, ids) } }
        guard !known.isEmpty else { return then([:]) }
        let answers = Lock((traffic: [SocketID: TrafficSnapshot](), missing: known.count))
        for (source, ordinal, ids) in known {
            source.requestTraffic(of: ids.map(\.own)) { @Sendable traffic in
                let all = answers.withLock { answers -> [SocketID: TrafficSnapshot]? in
                    for (id, kept) in traffic ?? [:] { answers.traffic[SocketID(id.number, of: ordinal)] = kept }
                    answers.missing -= 1
                    return answers.missing == 0 ? answers.traffic : nil
                }
                if let all { then(all) }
            }
        }
    }

    // MARK: Acting on sockets

    private func source(of id: SocketID) -> (any SocketSource)? {
        let entries = entries
        return entries.indices.contains(id.ordinal) ? entries[id.ordinal].source : nil
    }

    /// Answers with bytes of a socket that its program has not read, if peeking at them is allowed.
    package func requestUnread(_ request: UnreadRequest, then: @escaping @Sendable (UnreadLook?) -> Void) {
        guard let source = source(of: request.socket) else { return then(nil) }
        var own = request
        own.socket = request.socket.own
        source.requestUnread(own) { @Sendable look in
            var look = look
            look?.socket = request.socket
            then(look)
        }
    }

    /// Posts a command to the source of its socket. Later snapshots show the effect.
    package func perform(_ command: SocketCommand) { source(of: command.socket)?.perform(command.own) }

    /// Tells the sources that no requests will follow for a while.
    package func rest() { for entry in entries { entry.source.rest() } }
}
