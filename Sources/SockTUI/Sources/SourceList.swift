import Dispatch
import Glibc
import InspectorCore
import SocketKit

/// The sources of this run, in the order in which they came: the program's own engine once something is opened on it, and
/// the programs that it is attached to. The first keeps its own names for its sockets; an ordinal tells the others apart.
final class SourceList: Sendable {
    private let state: Lock<State>
    private let looking: HostOptions
    private let lints: LintSettings
    private let makeOwn: @Sendable () -> any OpeningSource
    private let former = FormerSnapshots()
    let limits: TrafficLimits
    /// Whether several files are opened, which then have one clock: the time of day.
    private let opensSeveral: Bool
    /// The rules and breakpoints of this run.
    let faults: FaultControl
    /// What records this run.
    let recording = Lock<Recording?>(nil)
    /// What its screen can go back in, while that is wanted.
    let history = Lock<LiveHistory?>(nil)
    /// The versions of the traffic that these two have.
    let trafficVersions = Lock(TrafficVersions())
    /// The other ends of connections, where somebody looks for them.
    let peers = Lock<[SocketID: PeerEnd]?>(nil)

    private struct Entry: Sendable {
        let source: any SocketSource
        let ordinal: Int
    }

    private struct State {
        var entries: [Entry] = []
        /// The program's own engine; nil: nothing was opened on it yet.
        var own: (source: any OpeningSource, ordinal: Int)?
        /// Attaches under way.
        var attaching = 0
        var merger = ProgramMerger()
        /// The last instant that was gone to; see `SnapshotRequest.turn`.
        var turn: UInt64 = 0

        mutating func add(_ source: any SocketSource) -> Int {
            entries.append(Entry(source: source, ordinal: entries.count))
            return entries.count - 1
        }

        /// At another instant events begin again; so they do for a file of which none was told yet.
        mutating func turn(to turn: UInt64, hasHistory: Bool) {
            let isFresh = merger.isEmpty && !entries.isEmpty && entries.allSatisfy { $0.source is OpenedSource }
            guard turn != self.turn || isFresh else { return }
            self.turn = turn
            // A history of the run has numbered its events already.
            if hasHistory, !isFresh { return }
            merger = ProgramMerger()
        }

        mutating func setOwn(_ source: any OpeningSource) {
            let ordinal = add(source)
            merger.expect(0, of: ordinal)
            own = (source, ordinal)
        }
    }

    /// `asks`: a person is there who can judge a certificate. `received` gets what the program's own sockets receive.
    /// `limits`: how much traffic the own engine keeps. `looking`: how sockets of other programs are looked at.
    init(
        asks: Bool = true, received: ReceivedBytes? = nil, keeping limits: TrafficLimits = TrafficLimits(),
        looking: HostOptions = HostOptions(), lints: LintSettings = LintSettings(), opensSeveral: Bool = false,
        faults: FaultControl = FaultControl()
    ) {
        (self.looking, self.lints, self.limits, self.opensSeveral) = (looking, lints, limits, opensSeveral)
        self.faults = faults
        state = Lock(State())
        makeOwn = { EngineSource(asks: asks, received: received, keeping: limits, control: faults) }
    }

    /// A list with this source as the program's own.
    init(own: any OpeningSource) {
        var first = State()
        first.setOwn(own)
        (looking, lints, limits, opensSeveral) = (HostOptions(), LintSettings(), TrafficLimits(), false)
        faults = (own as? EngineSource)?.control ?? FaultControl()
        state = Lock(first)
        makeOwn = { own }
    }

    /// The last instant that was gone to.
    var turn: UInt64 { state.withLock { $0.turn } }

    /// Whether a capture file is shown.
    var hasOpenedFiles: Bool { entries.contains { $0.source is OpenedSource } }

    /// Whether there is no source.
    var isEmpty: Bool { entries.isEmpty }

    private var entries: [Entry] { state.withLock { $0.entries } }

    /// Whether something was opened on the program's own engine, or may be.
    var usesOwnEngine: Bool { state.withLock { $0.own != nil || $0.entries.isEmpty } }

    /// Whether the program's own source is the only one.
    var hasOwnOnly: Bool { state.withLock { $0.own != nil && $0.entries.count == 1 } }

    /// The program's own engine; `nil` if nothing was opened on it yet.
    var present: (source: any OpeningSource, ordinal: Int)? { state.withLock { $0.own } }

    /// The program's own source, made when it is first needed, and its ordinal.
    var own: (source: any OpeningSource, ordinal: Int) {
        state.withLock { state in
            if let own = state.own { return own }
            let source = makeOwn()
            state.setOwn(source)
            return state.own ?? (source, 0)
        }
    }

    // MARK: Attaching

    /// Attaches to every inspectable program of that name, or looks at all programs of that name from outside; answers with why it could not, once for each that failed, and
    /// with nil in the end.
    func attach(_ name: String, then: @escaping @Sendable (SocketError?) -> Void) {
        state.withLock { $0.attaching += 1 }
        DispatchQueue.global().async { @Sendable [self] in
            func attempt(_ step: () throws(AttachError) -> Void) {
                do throws(AttachError) { try step() } catch {
                    then(SocketError(.other, operation: "attach", detail: error.sentence))
                }
            }
            var paths: [String] = []
            attempt { () throws(AttachError) in
                do throws(AttachError) {
                    paths = try AttachablePrograms.paths(for: name)
                } catch {
                    // What does not let itself be inspected is looked at from outside.
                    guard let scope = try HostSource.Scope(named: name, looking) else { throw error }
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

    /// Adds the sockets of all programs of this host, once.
    func showHost() { addOutside(.host) }

    /// Adds what a capture file tells.
    func openFile(_ path: String) throws(AttachError) {
        let source = try OpenedSource(path: path, keeping: limits, zero: opensSeveral ? 0 : nil)
        _ = state.withLock { $0.add(source) }
        source.start()
    }

    /// Begins to capture; `startCapture` shows what passes.
    func openCapture(_ target: CaptureTarget) throws(AttachError) {
        let source = try CaptureSource(target, keeping: limits, looking: looking, lints)
        _ = state.withLock { $0.add(source) }
    }

    func startCapture() { capture?.start() }

    /// What is captured.
    var capture: CaptureSource? { entries.lazy.compactMap { $0.source as? CaptureSource }.first }

    private func addOutside(_ scope: HostSource.Scope) {
        state.withLock { state in
            guard !state.entries.contains(where: { ($0.source as? HostSource)?.scope == scope }) else { return }
            _ = state.add(HostSource(scope, looking, lints))
        }
    }

    private var attached: [AttachedSource] { attachedPrograms.map(\.program) }

    /// The programs that are attached to, with their ordinals.
    var attachedPrograms: [(program: AttachedSource, ordinal: Int)] {
        entries.compactMap { entry in (entry.source as? AttachedSource).map { ($0, entry.ordinal) } }
    }

    /// Programs that one run attaches to, those that have ended since included: what they told stays.
    private static let limit = 64
    private static let tooMany = AttachError(sentence: "\(limit) programs are attached to already, the most of one run")

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

    /// What is new of the programs that are attached to; nil: there are none.
    func news() -> ProgramNews? {
        let entries = entries
        let programs = entries.map { $0.source.info(ordinal: $0.ordinal) }
        guard !programs.allSatisfy(\.isOurs) else { return nil }
        return ProgramNews(programs: programs, notices: entries.flatMap { $0.source.takeNotices() })
    }

    /// The process that a socket lives in.
    func process(of id: SocketID) -> Int {
        source(of: id)?.info(ordinal: id.ordinal).process ?? Int(getpid())
    }

    /// Whether all sources have told what the last snapshot asked for, as far as they will.
    var hasAnswered: Bool {
        let (entries, isAttaching) = state.withLock { ($0.entries, $0.attaching > 0) }
        return !isAttaching && entries.allSatisfy(\.source.hasAnswered)
    }

    // MARK: Snapshots

    /// Answers with one snapshot of all sources, on any thread. Its events are those since the snapshot before, so there is
    /// one request at a time and each answer must be used.
    func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot) -> Void) {
        let history = history.withLock { $0 }
        let (entries, isAttaching) = state.withLock { state in
            state.turn(to: request.turn, hasHistory: history != nil)
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

    /// What of a request concerns one source, in its own names.
    private func own(_ request: SnapshotRequest, of ordinal: Int) -> SnapshotRequest {
        var own = request
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

    /// One snapshot of all sources, at this program's own time of day.
    private func answer(
        _ snapshots: [(snapshot: EngineSnapshot, ordinal: Int)], _ request: SnapshotRequest, _ keeping: Keeping,
        _ then: @escaping @Sendable (EngineSnapshot) -> Void
    ) {
        let clock = SystemClock()
        var whole = EngineSnapshot(engine: "socktui", time: clock.now, wallNanoseconds: 0)
        if !snapshots.isEmpty {
            whole = state.withLock { $0.merger.merge(snapshots, request) }
        } else if entries.contains(where: \.source.isAwaited) {
            // Without a first snapshot there is no time to speak of.
            return again(request, then)
        }
        // A file has the time of day at which it was made.
        if snapshots.isEmpty || !entries.allSatisfy({ $0.source is OpenedSource }) {
            whole.wallNanoseconds = clock.wallNanoseconds - (clock.now - whole.time).wholeNanoseconds
        }
        whole.turn = request.turn
        whole.peers = whole.peers ?? peers.withLock { $0 }
        let traffic = takeTraffic(of: &whole, keeping.generation)
        former.keep(whole)
        if keeping.history != nil || request.instant == nil, let recording = recording.withLock({ $0 }),
            recording.capture == nil
        {
            recording.recorder.note(whole, traffic)
        }
        if let history = keeping.history {
            history.take(whole, traffic, for: request, then: then)
        } else {
            then(whole)
        }
    }

    private func again(_ request: SnapshotRequest, _ then: @escaping @Sendable (EngineSnapshot) -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { @Sendable [self] in
            requestSnapshot(request, then: then)
        }
    }

    /// What is kept of the traffic of the program's own sockets. Waits ten seconds at most, and then
    /// answers with none of it.
    func traffic(of ids: [SocketID]) -> [(id: SocketID, traffic: TrafficSnapshot)] {
        let found = Lock<[SocketID: TrafficSnapshot]>([:])
        let answered = DispatchSemaphore(value: 0)
        requestTraffic(of: ids) { traffic in
            found.withLock { $0 = traffic }
            answered.signal()
        }
        _ = answered.wait(timeout: .now() + .seconds(10))
        return found.withLock { found in ids.compactMap { id in found[id].map { (id, $0) } } }
    }

    /// Answers with what was kept of the traffic of these sockets, on any thread. Those whose source knows the traffic of
    /// the selected connection only are left out.
    func requestTraffic(
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

    // MARK: What is done to sockets

    private func source(of id: SocketID) -> (any SocketSource)? {
        let entries = entries
        return entries.indices.contains(id.ordinal) ? entries[id.ordinal].source : nil
    }

    /// Answers with bytes of a socket that its program has not read, where they may be looked at.
    func requestUnread(_ request: UnreadRequest, then: @escaping @Sendable (UnreadLook?) -> Void) {
        guard let source = source(of: request.socket) else { return then(nil) }
        var own = request
        own.socket = request.socket.own
        source.requestUnread(own) { @Sendable look in
            var look = look
            look?.socket = request.socket
            then(look)
        }
    }

    /// Posts a command to the source of its socket; what it did shows in later snapshots.
    func perform(_ command: SocketCommand) { source(of: command.socket)?.perform(command.own) }

    /// Nobody will ask for a while.
    func rest() { for entry in entries { entry.source.rest() } }

    /// Removes what others could see, such as socket files; the program is about to end.
    func close() {
        let recording = recording.withLock { $0 }
        if recording != nil { recordLastState(takesEvents: true) }
        for entry in entries { entry.source.close() }
        recording?.end()
    }
}
