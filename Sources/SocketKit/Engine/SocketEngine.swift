import Dispatch
import SocketCore

/// One serial queue, one thread that waits for the kernel, and all sockets made on it.
///
/// Everything about its sockets happens on `queue`; what a socket does is the same whether it is asked by a handle, a
/// delegate, or a person at a screen. Use one engine; more engines make use of more cores, never more threads of one.
/// The engine lives as long as somebody holds it or a socket of it; then it closes what is open.
public final class SocketEngine: Sendable {
    /// The queue that everything runs on. Work may be added to it; it delays every socket of the engine.
    public let queue: DispatchQueue
    /// The name given at the start.
    public let name: String
    private let confined: Confined<EngineState>
    let mailbox: Mailbox
    private let mark: DispatchSpecificKey<Bool>
    private let schedule: WorkScheduler
    private let reactor: any Reactor
    /// The threads that run turns, where they may also call delegates on their queues; nil: they may not.
    let lead: Lead?
    let trustLimits: LeadTrust.Limits
    /// Whether the queue is the caller's.
    private let isQueueShared: Bool
    let clock: any EngineClock
    let names: Names
    private let budget: TurnBudget
    /// In a simulation, what other threads do between two steps of a move.
    private let interleave = Lock<(@Sendable () -> Void)?>(nil)
    private let inspections = Lock<[SocketInspection]>([])
    private let handler = Lock<RequestHandler?>(nil)

    /// Does what a line of a viewer asks for, and answers once, on any thread. It is called on the inspection's thread
    /// and must not wait.
    package typealias RequestHandler =
        @Sendable (_ line: String, _ then: @escaping @Sendable (InspectionAnswer) -> Void)
        -> Void

    /// What carries out the requests of viewers that have the right to control; `nil`: nothing does.
    package var requestHandler: RequestHandler? {
        get { handler.withLock { $0 } }
        set { handler.replace(with: newValue) { swap(&$0, &$1) } }
    }

    /// Starts an engine. Traps when the process has no descriptors or threads left for one.
    public convenience init(_ configuration: EngineConfiguration = EngineConfiguration()) {
        self.init(
            configuration, kernel: LinuxKernel(), clock: SystemClock(), reactor: EpollReactor(),
            resolver: SystemResolver(), allowsGathering: true)
        SocketInspection.serveAsAsked(self)
    }

    /// Starts an engine on another kernel, clock, reactor and resolver. `schedule` brings work to the queue later on
    /// (nil: by Dispatch); a simulation keeps the work and runs it on its own thread, when its seed says so. `names` must
    /// not name a session as those of another engine do that connections move to in a test that tells them apart.
    /// `allowsGathering`: threads of delegate queues may enter the engine, and the reactor's timer watches over them; its own
    /// threads may call delegates on their queues.
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
        // The caller may be on a queue of its own already.
        Self.run(on: queue, isHere: DispatchQueue.getSpecific(key: mark) != nil) {
            // A cycle, which `shutDown` breaks.
            confined {
                $0.requestTurn = {
                    if reactor.rouse() { return }
                    let due = clock.now
                    schedule { confined { $0.turn([], due: due) } }
                }
            }
        }
        let failure = reactor.start { batch in
            let due = clock.now
            queue.sync { confined { $0.turn(batch, due: due) } }
        }
        precondition(failure == 0, "the engine's thread could not be started: errno \(failure)")
    }

    private static func run<R>(on queue: DispatchQueue, isHere: Bool, _ body: () -> R) -> R {
        isHere ? body() : queue.sync(execute: body)
    }

    deinit {
        if isQueueShared { queue.setSpecific(key: mark, value: nil) }
        for inspection in inspections.withLock({ $0 }) { inspection.stop() }
        let due = clock.now
        // What was posted before comes first: nobody is roused for it any more.
        schedule { [confined] in
            confined { engine in
                repeat { engine.turn([], due: due) } while engine.hasWork
                engine.shutDown()
            }
        }
    }

    /// Whether the caller runs on the engine's queue, on one that targets it, or in a callback on the engine's queue that
    /// entered another queue by `sync`.
    public var isOnQueue: Bool { DispatchQueue.getSpecific(key: mark) != nil || mailbox.isWithinTurn }

    /// Counts a serial queue as the engine's own that the engine's queue targets, or no longer: code that runs on it
    /// may ask the sockets, as on the engine's queue. GCDAsyncSocket: `markSocketQueueTargetQueue:`.
    package func mark(target: DispatchQueue, _ isMarked: Bool) {
        if isMarked { confined.trustMark() }
        target.setSpecific(key: mark, value: isMarked ? true : nil)
    }

    /// Makes the callbacks that wait, on this thread, as a turn does. No effect on the engine's queue.
    package func flushCallbacks() {
        if !isOnQueue { enterTurn() }
    }

    /// Runs `body` on the engine's queue and waits until it has returned; may be called on it. Every other socket of the
    /// engine waits meanwhile. GCDAsyncSocket: `performBlock:`.
    public func perform<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        try Self.run(on: queue, isHere: isOnQueue) { Result { () throws(Failure) in try body() } }.get()
    }

    /// Posts a command. It is carried out on the queue after all that was posted before it, by whomever; for a session
    /// that is over it has no effect.
    public func post(_ command: SocketCommand) {
        meet(mailbox.post(.command(command)))
    }

    /// Posts work of the caller's, and does not wait. It runs once, as callbacks do: on the engine's queue, at the end of a
    /// turn, after all that was posted before it and the callbacks that came of that.
    package func post(_ work: @escaping @Sendable () -> Void) {
        meet(mailbox.post(.work(work)))
    }

    /// A picture of every session at this instant, after all that this thread has asked for so far. Waits for the
    /// queue; may be called on it.
    public func snapshot(_ request: SnapshotRequest = SnapshotRequest()) -> EngineSnapshot {
        enter { $0.snapshot(request) }
    }

    /// Like `snapshot(_:)`, without waiting: `answer` is called once, on the engine's queue.
    public func requestSnapshot(
        _ request: SnapshotRequest, then answer: @escaping @Sendable (EngineSnapshot) -> Void
    ) {
        post(.snapshot(request, answer))
    }

    /// The handle of a connection that lives; nil for a listener, and for a session that is over. Waits for the queue;
    /// may be called on it.
    public func socket(for session: SocketID) -> AsyncSocket? {
        enter { $0.connection(session)?.handle.load(in: $0) }
    }

    /// Keeps what lets others look at it, until it ends.
    func keep(_ inspection: SocketInspection) { inspections.withLock { $0.append(inspection) } }

    /// What the environment asked for, if that is still served.
    var askedInspection: SocketInspection? { inspections.withLock { $0 }.first { $0.isAskedFor } }

    /// Drops what was stopped.
    func forget(_ inspection: SocketInspection) { inspections.withLock { $0.removeAll { $0 === inspection } } }

    /// Whether this is the engine that has that state.
    func owns(_ state: EngineState) -> Bool { mailbox === state.mailbox }

    /// Posts a job of the library's own, which never waits. May be called under the lock of a handle.
    func post(_ job: consuming EngineJob) {
        if mailbox.post(job) == .turn { requestTurn() }
    }

    /// Does what has to follow a post of the user's, once no lock is held.
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

    /// Whether the caller is user code that runs within a turn of this engine: what it asks for is carried out at once.
    var isWithinTurn: Bool { mailbox.isWithinTurn }

    /// Lets `body` carry out at once what user code within a turn asks for; false where it may not, or the caller is not
    /// that code: then it has to be posted.
    @inline(__always)
    func atOnce(_ body: (EngineState) -> Bool) -> Bool { confined.withinTurn(of: mailbox, body) ?? false }

    // MARK: For a simulation

    /// Sets what runs between two steps of a move, where other threads may act.
    package func interleave(_ others: (@Sendable () -> Void)?) { interleave.withLock { $0 = others } }

    /// Other threads may act here.
    func letOthersAct() { interleave.withLock { $0 }?() }

    /// Whether no turn is needed before something happens. Not to be called by user code within a turn.
    package var isAtRest: Bool { queue.sync { confined { $0.isAtRest } } }

    /// What the last turn carried out. Not to be called by user code within one.
    package var lastTurn: TurnTally { queue.sync { confined { $0.account.tally } } }

    /// A turn on this thread, now.
    func enterTurn() {
        let due = clock.now
        queue.sync { confined { $0.turn([], due: due) } }
    }

    /// Runs `body` on the queue, now, after all that was posted before this call. Callbacks that come of it run later.
    ///
    /// Where more was posted than one turn carries out, the queue is left in between, so that others get their turn.
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

/// Runs work on the engine's queue, once, later on, in the order in which it was given.
package typealias WorkScheduler = @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
