import Dispatch
import SocketCore
import SocketRecords

/// One serial queue, one thread that waits for the kernel, and all sockets created on it.
///
/// Everything about its sockets happens on `queue`. A socket does the same whether a handle, a delegate or a user at a
/// screen requests it. Use one engine. To use more cores, create more engines; one engine never spreads over more
/// threads. The engine lives while it or one of its sockets is retained. Then it closes what is open.
public final class SocketEngine: Sendable {
    /// The engine's serial queue. You can submit work to it, but that work delays every socket on the engine.
    public let queue: DispatchQueue
    /// The name from the configuration.
    public let name: String
    private let confined: Confined<EngineState>
    let mailbox: Mailbox
    private let mark: DispatchSpecificKey<Bool>
    private let schedule: WorkScheduler
    private let reactor: any Reactor
    /// The threads that run turns, if they may also call delegates on their queues, or `nil` if they may not.
    let lead: Lead?
    let trustLimits: LeadTrust.Limits
    /// Whether the queue was supplied by the caller.
    private let isQueueShared: Bool
    let clock: any EngineClock
    let names: Names
    private let budget: TurnBudget
    /// What other threads do in a simulation between two steps of a move.
    private let interleave = Lock<(@Sendable () -> Void)?>(nil)
    private let inspections = Lock<[SocketInspection]>([])
    private let handler = Lock<RequestHandler?>(nil)

    /// Carries out a request line from a viewer and answers once, on any thread. It is called on the inspection's
    /// thread and must not wait.
    package typealias RequestHandler =
        @Sendable (_ line: String, _ then: @escaping @Sendable (InspectionAnswer) -> Void)
        -> Void

    /// Carries out the requests of viewers that have the right to control, or `nil` if nothing does.
    package var requestHandler: RequestHandler? {
        get { handler.withLock { $0 } }
        set { handler.replace(with: newValue) { swap(&$0, &$1) } }
    }

    /// Starts an engine. If the process has no descriptors or threads left for it, the engine starts with the first
    /// socket that is opened on it once there are some. Until then, opening one fails with the errno.
    public convenience init(_ configuration: EngineConfiguration = EngineConfiguration()) {
        self.init(
            configuration, kernel: LinuxKernel(), clock: SystemClock(), reactor: EpollReactor(),
            resolver: SystemResolver(), allowsGathering: true)
        SocketInspection.serveAsAsked(self)
    }

    /// Starts an engine on another kernel, clock, reactor and resolver. `schedule` submits work to the queue, or is
    /// `nil` for Dispatch. A simulation keeps the work and runs it on its own thread, when its seed says so. In a test
    /// that tells sessions apart, `names` must not repeat the identifiers of another engine that connections move to.
    /// With `allowsGathering`, threads of delegate queues may enter the engine, guarded by the reactor's timer, and the
    /// engine's own threads may call delegates on their queues.
    package init(
        _ configuration: EngineConfiguration, kernel: any Kernel, clock: any EngineClock, reactor: any Reactor,
        resolver: any Resolver, schedule: WorkScheduler? = nil, names: Names = Names(),
        budget: TurnBudget = TurnBudget(), allowsGathering: Bool = false, trust: LeadTrust.Limits = LeadTrust.Limits()
    ) {
        let queue = configuration.queue ?? DispatchQueue(label: configuration.name)
        precondition(!queue.isGlobal, "EngineConfiguration.queue: a global queue is concurrent; a serial one is needed")
        let mailbox = Mailbox(allowsGathering: allowsGathering)
        let mark = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: mark, value: true)
        let confined = Confined(
            EngineState(
                kernel: kernel, clock: clock, reactor: reactor, resolver: resolver, mailbox: mailbox,
                names: names, configuration: configuration, budget: budget), to: queue, mark: mark)
        self.queue = queue
        self.mailbox = mailbox
        self.mark = mark
        self.names = names
        self.budget = budget
        self.clock = clock
        self.confined = confined
        let schedule = schedule ?? { work in queue.async { work() } }
        self.schedule = schedule
        self.reactor = reactor
        lead = allowsGathering && configuration.queue == nil ? reactor.lead : nil
        trustLimits = trust
        name = configuration.name
        isQueueShared = configuration.queue != nil
        // If the queue is the caller's, this may already run on it.
        Self.run(on: queue, isHere: DispatchQueue.getSpecific(key: mark) != nil) {
            // A reference cycle, which `shutDown` breaks.
            confined {
                $0.requestTurn = {
                    if reactor.rouse() { return }
                    let due = clock.now
                    schedule { confined { $0.turn([], due: due) } }
                }
            }
        }
        let start: @Sendable () -> Int32 = {
            reactor.start { batch in
                let due = clock.now
                queue.sync { confined { $0.turn(batch, due: due) } }
            }
        }
        guard start() != 0 else { return }
        Self.run(on: queue, isHere: DispatchQueue.getSpecific(key: mark) != nil) {
            confined { $0.startReactor = start }
        }
    }

    private static func run<R>(on queue: DispatchQueue, isHere: Bool, _ body: () -> R) -> R {
        isHere ? body() : queue.sync(execute: body)
    }

    deinit {
        if isQueueShared { queue.setSpecific(key: mark, value: nil) }
        stopInspections()
        let due = clock.now
        // Jobs posted before come first. No turn is requested for them now.
        schedule { [confined] in
            confined { engine in
                repeat { engine.turn([], due: due) } while engine.hasWork
                engine.shutDown()
            }
        }
    }

    /// Whether the caller runs on the engine's queue, on a queue that targets it, or in a callback on the engine's
    /// queue that entered another queue by `sync`.
    public var isOnQueue: Bool { DispatchQueue.getSpecific(key: mark) != nil || mailbox.isWithinTurn }

    /// Counts a serial queue that the engine's queue targets as the engine's own, or stops doing so. Code on it may
    /// query the sockets, as on the engine's queue. GCDAsyncSocket: `markSocketQueueTargetQueue:`.
    package func mark(target: DispatchQueue, _ isMarked: Bool) {
        if isMarked { confined.trustMark() }
        target.setSpecific(key: mark, value: isMarked ? true : nil)
    }

    /// Runs the waiting callbacks on this thread, as a turn does. Has no effect on the engine's queue.
    package func flushCallbacks() {
        if !isOnQueue { enterTurn() }
    }

    /// Runs `body` on the engine's queue and waits until it has returned. May be called on the queue. Every socket of
    /// the engine waits meanwhile. GCDAsyncSocket: `performBlock:`.
    public func perform<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        try Self.run(on: queue, isHere: isOnQueue) { Result { () throws(Failure) in try body() } }.get()
    }

    /// Posts a command. Commands run on the engine's queue in the order posted, whichever thread posted them. Has no
    /// effect if the session has ended.
    public func post(_ command: SocketCommand) {
        meet(mailbox.post(.command(command)))
    }

    /// Posts work without waiting. It runs once, as callbacks do: on the engine's queue, at the end of a turn, after
    /// everything posted before it and the resulting callbacks.
    package func post(_ work: @escaping @Sendable () -> Void) {
        meet(mailbox.post(.work(work)))
    }

    /// Returns a snapshot of every session at this instant, after everything that this thread has requested so far.
    /// Waits for the queue; may be called on it.
    public func snapshot(_ request: SnapshotRequest = SnapshotRequest()) -> EngineSnapshot {
        enter { $0.snapshot(request) }
    }

    /// Requests a snapshot without waiting. `answer` is called once, on the engine's queue.
    public func requestSnapshot(
        _ request: SnapshotRequest, then answer: @escaping @Sendable (EngineSnapshot) -> Void
    ) {
        post(.snapshot(request, answer))
    }

    /// Returns the handle of a live connection, or `nil` for a listener or a session that has ended. Waits for the
    /// queue; may be called on it.
    public func socket(for session: SocketID) -> AsyncSocket? {
        enter { $0.connection(session)?.handle.load(in: $0) }
    }

    /// Retains an inspection, which is stopped when the engine is released.
    func keep(_ inspection: SocketInspection) { inspections.withLock { $0.append(inspection) } }

    /// Stops serving viewers, so that no socket file remains.
    package func stopInspections() { for inspection in inspections.withLock({ $0 }) { inspection.stop() } }

    /// The inspection that the environment requested, if it is still served.
    var askedInspection: SocketInspection? { inspections.withLock { $0 }.first { $0.isAskedFor } }

    func forget(_ inspection: SocketInspection) { inspections.withLock { $0.removeAll { $0 === inspection } } }

    func owns(_ state: EngineState) -> Bool { mailbox === state.mailbox }

    /// Posts a job of the library's own and never waits. May be called under the lock of a handle.
    func post(_ job: consuming EngineJob) {
        if mailbox.post(job) == .turn { requestTurn() }
    }

    /// Does what must follow a user's post, once no lock is held.
    func meet(_ need: Mailbox.Need) {
        switch need {
        case .nothing: return
        case .turn: requestTurn()
        case .patience: if !isOnQueue { Mailbox.waitAMoment() }
        }
    }

    func requestTurn() {
        if reactor.rouse() { return }
        let due = clock.now
        schedule { [confined] in confined { $0.turn([], due: due) } }
    }

    /// Whether the caller is user code within a turn of this engine, whose requests are carried out at once.
    var isWithinTurn: Bool { mailbox.isWithinTurn }

    /// Lets `body` carry out a request of user code within a turn at once. Returns `false` if it can't, or if the
    /// caller is not such code. The request must then be posted.
    @inline(__always)
    func atOnce(_ body: (EngineState) -> Bool) -> Bool { confined.withinTurn(of: mailbox, body) ?? false }

    // MARK: For a simulation

    /// Sets what runs between two steps of a move, where other threads may act.
    package func interleave(_ others: (@Sendable () -> Void)?) { interleave.withLock { $0 = others } }

    func letOthersAct() { interleave.withLock { $0 }?() }

    /// Whether no turn is needed before something happens. Must not be called by user code within a turn.
    package var isAtRest: Bool { queue.sync { confined { $0.isAtRest } } }

    /// What the last turn carried out. Must not be called by user code within a turn.
    package var lastTurn: TurnTally { queue.sync { confined { $0.account.tally } } }

    /// Runs a turn on this thread, now.
    func enterTurn() {
        let due = clock.now
        queue.sync { confined { $0.turn([], due: due) } }
    }

    /// Runs `body` on the queue, now, after everything posted before this call. The resulting callbacks run later.
    ///
    /// If more jobs were posted than one turn carries out, leaves the queue in between so that other work gets its
    /// turn.
    func enter<R>(_ body: (EngineState) -> R) -> R {
        let place = mailbox.posted
        let isHere = isOnQueue
        while true {
            let result: R? =
                isHere
                ? confined { $0.enter(upTo: place, most: .max, body) }
                : queue.sync { confined { $0.enter(upTo: place, most: budget.jobs, body) } }
            if let result { return result }
        }
    }
}

/// Runs work once on the engine's queue, later, in the order in which it was given.
package typealias WorkScheduler = @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
