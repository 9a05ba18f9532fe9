import Dispatch
import Glibc
import InspectorCore
import SocketKit

/// What is looked at: this program's own engine once something is opened on it, and programs that were attached to.
///
/// The first of them keeps its own names for its sessions; those of the others are told apart by their ordinal.
final class InspectedPrograms: Inspected {
    private let state = Lock(State())
    private let asks: Bool

    /// `asks`: a person is there who can judge a certificate.
    init(asks: Bool = true) {
        self.asks = asks
    }

    private struct State {
        /// nil: nothing was opened here yet.
        var engine: (engine: InspectedEngine, ordinal: Int)?
        var attached: [(program: AttachedProgram, ordinal: Int)] = []
        var count = 0
        /// Attaches under way.
        var attaching = 0
        var merger = ProgramMerger()
        /// The next event of the engine here, while its pictures are passed on as they are.
        var passed: UInt64 = 0

        mutating func nextOrdinal() -> Int {
            defer { count += 1 }
            return count
        }
    }

    /// The engine of this program, made when it is first needed.
    private var engine: InspectedEngine {
        state.withLock { state in
            if let engine = state.engine { return engine.engine }
            let engine = InspectedEngine(asks: asks)
            state.engine = (engine, state.nextOrdinal())
            return engine
        }
    }

    // MARK: Attaching

    func attach(_ name: String, then: @escaping @Sendable (Result<Int, SocketError>) -> Void) {
        state.withLock { $0.attaching += 1 }
        DispatchQueue.global().async { @Sendable [self] in
            defer { state.withLock { $0.attaching -= 1 } }
            do throws(AttachError) {
                var count = 0
                for path in try AttachablePrograms.paths(for: name) {
                    guard state.withLock({ $0.attached.count < Self.limit }) else { throw Self.tooMany }
                    let program = try AttachedProgram(path: path)
                    add(program)
                    count += 1
                }
                then(.success(count))
            } catch {
                then(.failure(SocketError(.other, operation: "attach", detail: error.sentence)))
            }
        }
    }

    /// Programs that one run attaches to, those that have ended since included: what they told stays.
    private static let limit = 64
    private static let tooMany = AttachError(sentence: "\(limit) programs are attached to already, the most of one run")

    private func add(_ program: AttachedProgram) {
        state.withLock { state in
            let isNew = !state.attached.contains { $0.program.path == program.path && $0.program.isLive }
            if isNew {
                if state.attached.isEmpty, let engine = state.engine {
                    state.merger = ProgramMerger(next: state.passed, expected: engine.ordinal)
                }
                state.attached.append((program, state.nextOrdinal()))
            }
            return isNew
        } ? program.start() : program.close()
    }

    func news() -> ProgramNews? {
        let (attached, engine) = state.withLock { ($0.attached, $0.engine) }
        guard !attached.isEmpty else { return nil }
        var news = ProgramNews()
        for (program, ordinal) in attached {
            news.programs.append(
                ProgramInfo(
                    ordinal: ordinal, name: program.hello.program, process: program.hello.process,
                    rights: program.hello.rights, state: program.doing))
            news.notices += program.takeNotices()
        }
        if let engine {
            news.programs.insert(
                ProgramInfo(
                    ordinal: engine.ordinal, name: "socktui", process: Int(getpid()), rights: .control,
                    isOurs: true),
                at: min(engine.ordinal, news.programs.count))
        }
        return news
    }

    func process(of id: SocketID) -> Int {
        let attached = state.withLock { $0.attached }
        return attached.first { $0.ordinal == id.ordinal }?.program.hello.process ?? Int(getpid())
    }

    var hasAnswered: Bool {
        let (attached, isAttaching) = state.withLock { ($0.attached, $0.attaching > 0) }
        return !isAttaching && attached.allSatisfy(\.program.hasAnswered)
    }

    // MARK: Looking

    func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot) -> Void) {
        let (attached, engine) = state.withLock { ($0.attached, $0.engine) }
        guard !attached.isEmpty else { return alone(engine?.engine, request, then) }
        for (program, ordinal) in attached { program.watches(request.watch(of: ordinal)) }
        guard let engine else {
            // The first picture takes a moment; without it there is no time to speak of.
            guard attached.contains(where: { $0.program.hasPicture || !$0.program.isLive }) else {
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { @Sendable [self] in
                    requestSnapshot(request, then: then)
                }
                return
            }
            return then(merge([], request))
        }
        var own = request.of(engine.ordinal)
        if request.eventsFrom != nil { own.eventsFrom = state.withLock { $0.merger.expects(of: engine.ordinal) } ?? 0 }
        engine.engine.requestSnapshot(own) { @Sendable [self] snapshot in
            then(merge([(snapshot, engine.ordinal)], request))
        }
    }

    /// A picture where nothing is attached to: of the engine here, or, where nothing was opened yet, of nothing.
    private func alone(
        _ engine: InspectedEngine?, _ request: SnapshotRequest, _ then: @escaping @Sendable (EngineSnapshot) -> Void
    ) {
        if let engine {
            return engine.requestSnapshot(request) { @Sendable [self] snapshot in
                state.withLock { $0.passed = snapshot.nextEvent }
                then(snapshot)
            }
        }
        guard state.withLock({ $0.attaching }) == 0 else {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { @Sendable [self] in
                requestSnapshot(request, then: then)
            }
            return
        }
        let clock = SystemClock()
        then(EngineSnapshot(engine: "socktui", time: clock.now, wallNanoseconds: clock.wallNanoseconds))
    }

    /// One picture of all programs, at this program's own time of day.
    private func merge(_ own: [(EngineSnapshot, Int)], _ request: SnapshotRequest) -> EngineSnapshot {
        let attached = state.withLock { $0.attached }
        let pictures = own + attached.compactMap { program, ordinal in program.snapshot().map { ($0, ordinal) } }
        var whole = state.withLock { $0.merger.merge(pictures, request) }
        let clock = SystemClock()
        whole.wallNanoseconds = clock.wallNanoseconds - (clock.now - whole.time).wholeNanoseconds
        return whole
    }

    // MARK: Acting

    func send(_ command: SocketCommand) {
        let ordinal = command.socket.ordinal
        let (attached, engine) = state.withLock { ($0.attached, $0.engine) }
        if let program = attached.first(where: { $0.ordinal == ordinal })?.program {
            program.send(command.own)
        } else {
            engine?.engine.send(command.own)
        }
    }

    func write(_ request: WriteRequest, to id: SocketID) async throws(SocketError) {
        try await ours(id).write(request, to: id.own)
    }

    func send(_ message: WebSocketMessage, to id: SocketID) async throws(SocketError) {
        try await ours(id).send(message, to: id.own)
    }

    func stream(to id: SocketID) async throws(SocketError) -> WebSocketStream {
        try await ours(id).stream(to: id.own)
    }

    /// The engine here, if that socket is its own.
    private func ours(_ id: SocketID) throws(SocketError) -> InspectedEngine {
        let engine = state.withLock { $0.engine }
        guard let engine, engine.ordinal == id.ordinal else { throw .notOurs }
        return engine.engine
    }

    func setReplies(_ id: SocketID, _ rules: [ReplyRule], then: @escaping @Sendable (SocketError?) -> Void) {
        let engine = state.withLock { $0.engine }
        guard let engine, engine.ordinal == id.ordinal else {
            return then(
                SocketError(
                    .other, operation: "reply", detail: "\(id): only what was opened here can reply by itself"))
        }
        engine.engine.setReplies(id.own, rules, then: then)
    }

    func startTLS(_ id: SocketID, _ settings: TLSSettings, then: @escaping @Sendable (SocketError?) -> Void) {
        let engine = state.withLock { $0.engine }
        guard let engine, engine.ordinal == id.ordinal else {
            let detail = "\(id): only what was opened here can be secured from here"
            return then(SocketError(.other, operation: "startTLS", detail: detail))
        }
        engine.engine.startTLS(id.own, settings, then: then)
    }

    func connect(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        engine.connect(request, then: named(then))
    }

    func listen(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        engine.listen(request, then: named(then))
    }

    func relay(_ request: RelayRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        engine.relay(request, then: named(then))
    }

    func startDemo(then: @escaping @Sendable (SocketError?) -> Void) { engine.startDemo(then: then) }

    /// What the engine opened, by the name that it has on the screen.
    private func named(
        _ then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void
    ) -> @Sendable (Result<SocketID, SocketError>) -> Void {
        let ordinal = state.withLock { $0.engine?.ordinal ?? 0 }
        return { @Sendable result in then(result.map { SocketID($0.number, of: ordinal) }) }
    }

    func close() {
        let (attached, engine) = state.withLock { ($0.attached, $0.engine) }
        engine?.engine.close()
        for (program, _) in attached { program.close() }
    }
}

extension SnapshotRequest {
    /// What of it concerns that program, in its own names.
    fileprivate func of(_ ordinal: Int) -> SnapshotRequest {
        var request = self
        if case .only(let ids) = kernel { request.kernel = .only(Set(ids.filter { $0.ordinal == ordinal }.map(\.own))) }
        request.traffic = traffic.flatMap { $0.ordinal == ordinal ? $0.own : nil }
        return request
    }

    fileprivate func watch(of ordinal: Int) -> InspectionWatch {
        let request = of(ordinal)
        var watch = InspectionWatch()
        switch request.kernel {
        case .none: break
        case .only(let ids): watch.sockets = ids.sorted()
        case .all: watch.wantsAll = true
        }
        watch.traffic = request.traffic
        watch.wantsEvents = eventsFrom != nil
        return watch
    }
}
