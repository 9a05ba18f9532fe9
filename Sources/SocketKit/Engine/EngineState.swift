import SocketCore

/// All that an engine owns. It lives on the engine's queue and nowhere else; `Confined` sees to that.
final class EngineState: EngineStorage {
    let kernel: any Kernel
    let clock: any EngineClock
    let reactor: any Reactor
    let resolver: any Resolver
    let mailbox: Mailbox
    let names: Names
    let configuration: EngineConfiguration
    /// Asks for a turn later on. Set once the engine stands.
    var requestTurn: @Sendable () -> Void = {}

    /// The time of this turn: read once, the same for all that happens in it.
    var now: MonotonicTime
    var counters = EngineCounters()
    var capturesTraffic: Bool
    /// Who records what passes; `nil`: nobody.
    var tapes: EngineTapes?
    var tapeGeneration: UInt32 = 0
    /// Who is given events at the end of each turn.
    var observers: [EventObserver] = []
    /// Who waits until there is no session.
    var waitersForEmpty: [Answer<Void>] = []
    /// What the traffic of all live sessions takes up.
    var trafficCost = 0
    /// What is about to be queued by users, on connections that belong to others.
    var injecting: Set<OperationID> = [] {
        didSet { isInjecting = !injecting.isEmpty }
    }
    /// Whether there is any: asked for every command.
    private(set) var isInjecting = false
    /// What changed since viewers were last told; nil: nobody looks.
    var notes: ChangeNotes? {
        didSet { takesNotes = notes != nil }
    }
    /// Whether there are notes: asked at every step.
    private(set) var takesNotes = false

    /// Datagram sockets with what is to be sent.
    var unflushedDatagrams: [DatagramSession] = []
    /// What the reactor's timer is set to.
    var armedDeadline: MonotonicTime?
    /// When what pumps have gathered is carried out at the latest; nil: no pump gathers.
    var watchDeadline: MonotonicTime?
    /// Where bytes pass.
    var buffers = ScratchBuffers()
    /// Takes their place while bytes of theirs are lent; nil until the first time.
    var spareBuffers: ScratchBuffers?
    /// The connection that lends bytes right now.
    var lender: Connection?
    /// Whether the turn is at the readiness batch.
    var isDispatching = false

    /// How many jobs were ever carried out.
    var carriedOut = 0

    /// What the turn has carried out, and what it may still.
    var account: TurnAccount

    var scratch: UnsafeMutableRawBufferPointer { buffers.received }
    var plainScratch: UnsafeMutableRawBufferPointer { buffers.plain }
    /// What may be spent on the compressed messages of others.
    var inflation: InflationBudget
    /// What counts of the messages that WebSockets have received in part.
    var unfinishedBytes = 0
    /// Keys for WebSockets.
    var maskKeys = MaskKeys()
    /// Datagrams are received here, many at a time.
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
        super.init(
            closed: ClosedSockets(limit: configuration.closedLimit, retention: configuration.closedRetention),
            ring: EventRing(capacity: configuration.eventCapacity))
    }

    /// Keeps a session that is over, or what is the user's and may go at any time, until all that was decided is told.
    func retire(_ object: AnyObject) { retired.append(object) }

    func nextSocketID() -> SocketID {
        counters.opened += 1
        return names.nextSession()
    }

    func record(_ kind: SocketEvent.Kind, _ socket: SocketID, tag: Int = 0, _ first: Int = 0, _ second: Int = 0) {
        ring.record(kind, of: socket, at: now, tag: tag, first: first, second: second)
    }

    /// Asks for a wake-up of `socket`, if none is due by then. The session must say that this is its next one.
    func schedule(_ deadline: MonotonicTime, for socket: SocketID) {
        deadlines.insert(deadline, socket)
        if deadlines.isCrowded { deadlines.removeOutdated { sessions[$0]?.scheduledDeadline } }
    }

    /// Whether jobs, callbacks or releases are pending, apart from what the kernel reports.
    var hasWork: Bool { hasJobs || !outbox.isEmpty || !holding.isEmpty || !retired.isEmpty }

    /// Closes everything without a word: the engine itself is being released.
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
        // Nobody is left who could be called; but what waits to be called holds connections, and these the engine.
        while !outbox.isEmpty || !holding.isEmpty || !retired.isEmpty {
            runUserCode { while let callback = outbox.popFirst() { _ = consume callback } }
            releaseRetired()
        }
        requestTurn = {}
    }
}
