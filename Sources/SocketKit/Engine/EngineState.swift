import SocketCore

/// Everything that an engine owns. It is used on the engine's queue only, which `Confined` ensures.
final class EngineState: EngineStorage {
    let kernel: any Kernel
    let clock: any EngineClock
    let reactor: any Reactor
    let resolver: any Resolver
    let mailbox: Mailbox
    let names: Names
    let configuration: EngineConfiguration
    /// Requests a turn. Set once the engine is initialized.
    var requestTurn: @Sendable () -> Void = {}
    /// Starts the reactor, or is `nil` if it runs.
    var startReactor: (@Sendable () -> Int32)?

    /// The time of this turn. It is read once and is the same for everything in the turn.
    var now: MonotonicTime
    var counters = EngineCounters()
    var capturesTraffic: Bool
    /// The tapes of this engine's recorders, or `nil` if there are none.
    var tapes: EngineTapes?
    var tapeGeneration: UInt32 = 0
    /// The observers that get events at the end of each turn.
    var observers: [EventObserver] = []
    /// The tasks that wait until there is no session.
    var waitersForEmpty: [Answer<Void>] = []
    /// The memory that the traffic of all live sessions takes.
    var trafficCost = 0
    /// Operations that users are about to queue on connections that belong to others.
    var injecting: Set<OperationID> = [] {
        didSet { isInjecting = !injecting.isEmpty }
    }
    /// Whether `injecting` has any. Checked for every command.
    private(set) var isInjecting = false
    /// Changes since the last update for viewers, or `nil` if there are no viewers.
    var notes: ChangeNotes? {
        didSet {
            takesNotes = notes != nil
            talliesExchanges = takesNotes || capturesTraffic
        }
    }
    /// Whether there are notes. Checked at every step.
    private(set) var takesNotes = false
    /// Whether somebody inspects the engine, so that questions and answers are counted. Checked at every such step.
    private(set) var talliesExchanges = false

    /// Datagram sockets that have something to send.
    var unflushedDatagrams: [DatagramSession] = []
    /// The deadline that the reactor's timer is set to.
    var armedDeadline: MonotonicTime?
    /// When gathered jobs are carried out at the latest, or `nil` if no pump gathers.
    var watchDeadline: MonotonicTime?
    /// The buffers that bytes pass through.
    var buffers = ScratchBuffers()
    /// Replaces `buffers` while its bytes are lent. `nil` until it is first needed.
    var spareBuffers: ScratchBuffers?
    /// The connection that is lending bytes, if any.
    var lender: Connection?
    /// Whether the turn is handling its readiness batch.
    var isDispatching = false

    /// The number of jobs ever carried out.
    var carriedOut = 0

    /// What the turn has carried out, and what is left of its budget.
    var account: TurnAccount

    var scratch: UnsafeMutableRawBufferPointer { buffers.received }
    var plainScratch: UnsafeMutableRawBufferPointer { buffers.plain }
    /// The budget for inflating peers' compressed messages.
    var inflation: InflationBudget
    /// The bytes counted for messages that WebSockets have received in part.
    var unfinishedBytes = 0
    var maskKeys = MaskKeys()
    /// Receives datagrams, many at a time.
    private(set) lazy var inbox = DatagramInbox()

    init(
        kernel: any Kernel, clock: any EngineClock, reactor: any Reactor, resolver: any Resolver, mailbox: Mailbox,
        names: Names, configuration: EngineConfiguration, budget: TurnBudget
    ) {
        self.kernel = kernel
        self.clock = clock
        self.reactor = reactor
        self.resolver = resolver
        self.mailbox = mailbox
        self.names = names
        self.configuration = configuration
        account = TurnAccount(budget)
        now = clock.now
        inflation = .ofEngine(now: now)
        capturesTraffic = configuration.capturesTraffic
        talliesExchanges = capturesTraffic
        super.init(
            closed: ClosedSockets(limit: configuration.closedLimit, retention: configuration.closedRetention),
            ring: EventRing(capacity: configuration.eventCapacity))
    }

    /// Retains an ended session, or an object of the user's that may be released at any time, until all pending
    /// callbacks have run.
    func retire(_ object: AnyObject) { retired.append(object) }

    func nextSocketID() -> SocketID {
        counters.opened += 1
        return names.nextSession()
    }

    func record(_ kind: SocketEvent.Kind, _ socket: SocketID, tag: Int = 0, _ first: Int = 0, _ second: Int = 0) {
        ring.record(kind, of: socket, at: now, tag: tag, first: first, second: second)
    }

    /// Requests a wake-up for `socket`, if none is due by then. The session must report it as its `scheduledDeadline`.
    func schedule(_ deadline: MonotonicTime, for socket: SocketID) {
        deadlines.insert(deadline, socket)
        if deadlines.isCrowded { deadlines.removeOutdated { sessions[$0]?.scheduledDeadline } }
    }

    /// Whether jobs, callbacks or releases are pending, apart from what the kernel reports.
    var hasWork: Bool { hasJobs || !outbox.isEmpty || !retainedHandles.isEmpty || !retired.isEmpty }

    /// Closes everything without notices, because the engine itself is being released.
    func shutDown() {
        reactor.stop()
        let open = sessions.inOrder()
        sessions = SessionTable()
        for connection in open.lazy.compactMap(\.connection) { retire(connection) }
        for acceptor in open.lazy.compactMap(\.acceptor) { acceptor.close(error: nil, mode: nil, isReleased: true) }
        for session in open.lazy.compactMap(\.datagrams) { session.handleRelease() }
        (unflushed, unflushedDatagrams, unreceived) = ([], [], [])
        unseen = []
        runUserCode { while let job = jobs.popFirst() { _ = consume job } }
        // No delegate is left to call, but pending callbacks retain connections, which retain the engine.
        while !outbox.isEmpty || !retainedHandles.isEmpty || !retired.isEmpty {
            runUserCode { while let callback = outbox.popFirst() { _ = consume callback } }
            releaseRetired()
        }
        (requestTurn, startReactor) = ({}, nil)
    }
}
