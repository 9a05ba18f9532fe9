import SocketCore

/// All that an engine owns. It lives on the engine's queue and nowhere else; `Confined` sees to that.
///
/// As in `Connection`, what is used at every step is not checked for overlapping accesses.
final class EngineState {
    let kernel: any Kernel
    let clock: any EngineClock
    let reactor: any Reactor
    let resolver: any Resolver
    let mailbox: Mailbox
    let names: Names
    let configuration: EngineConfiguration
    /// Asks for a turn later on. Set once the engine stands.
    @exclusivity(unchecked) var requestTurn: @Sendable () -> Void = {}

    /// The time of this turn: read once, the same for all that happens in it.
    @exclusivity(unchecked) var now: MonotonicTime
    @exclusivity(unchecked) var sessions = SessionTable<Session>()
    @exclusivity(unchecked) var closed: ClosedSockets
    @exclusivity(unchecked) var counters = EngineCounters()
    @exclusivity(unchecked) var meter = EngineMeter()
    @exclusivity(unchecked) var ring: EventRing
    @exclusivity(unchecked) var capturesTraffic: Bool
    /// Who records what passes; `nil`: nobody.
    @exclusivity(unchecked) var tapes: EngineTapes?
    @exclusivity(unchecked) var tapeGeneration: UInt32 = 0
    /// Who is given events at the end of each turn.
    @exclusivity(unchecked) var observers: [EventObserver] = []
    /// Who waits until there is no session.
    @exclusivity(unchecked) var waitersForEmpty: [Answer<Void>] = []
    /// What the traffic of all live sessions takes up.
    var trafficCost = 0
    /// What is about to be queued by users, on connections that belong to others.
    var injecting: Set<OperationID> = [] {
        didSet { isInjecting = !injecting.isEmpty }
    }
    /// Whether there is any: asked for every command.
    @exclusivity(unchecked) private(set) var isInjecting = false
    /// What changed since viewers were last told; nil: nobody looks.
    @exclusivity(unchecked) var notes: ChangeNotes? {
        didSet { takesNotes = notes != nil }
    }
    /// Whether there are notes: asked at every step.
    @exclusivity(unchecked) private(set) var takesNotes = false

    /// Connections with writes that were queued in this turn: flushed together at its end.
    @exclusivity(unchecked) var unflushed: [Connection] = []
    /// Those that are being flushed; between two times only its memory is of use.
    @exclusivity(unchecked) var flushing: [Connection] = []
    /// Connections with reads for what the last receive left in the kernel.
    @exclusivity(unchecked) var unreceived: [Connection] = []
    /// Those that receive right now; between two times only its memory is of use.
    @exclusivity(unchecked) var receiving: [Connection] = []
    /// Datagram sockets with what is to be sent.
    @exclusivity(unchecked) var unflushedDatagrams: [DatagramSession] = []
    /// Callbacks to run when all state is settled.
    @exclusivity(unchecked) var outbox = Outbox()
    /// Handles that are held until the outbox is empty.
    @exclusivity(unchecked) var holding: [HeldHandle] = []
    /// Sessions that are over: what users gave them must not be destroyed before the turn has come to its end.
    @exclusivity(unchecked) var retired: [AnyObject] = []
    /// Those of both that are let go of right now; between two times only their memory is of use.
    @exclusivity(unchecked) var leaving: [HeldHandle] = []
    @exclusivity(unchecked) var ended: [AnyObject] = []
    @exclusivity(unchecked) var deadlines = DeadlineHeap()
    /// What the reactor's timer is set to.
    @exclusivity(unchecked) var armedDeadline: MonotonicTime?
    /// When what pumps have gathered is carried out at the latest; nil: no pump gathers.
    @exclusivity(unchecked) var watchDeadline: MonotonicTime?
    /// Where bytes pass.
    @exclusivity(unchecked) var buffers = ScratchBuffers()
    /// Takes their place while bytes of theirs are lent; nil until the first time.
    @exclusivity(unchecked) var spareBuffers: ScratchBuffers?
    /// The connection that lends bytes right now.
    @exclusivity(unchecked) var lender: Connection?
    /// Whether the turn is at the readiness batch.
    @exclusivity(unchecked) var isDispatching = false

    /// Jobs that were taken out of the mailbox, and those of them that are carried out: what users gave with them must not
    /// be destroyed in the midst of a step.
    @exclusivity(unchecked) var jobs = MoveQueue<EngineJob>()
    @exclusivity(unchecked) var doneJobs = MoveQueue<EngineJob>()
    /// How many jobs were ever carried out.
    @exclusivity(unchecked) var carriedOut = 0

    /// What the turn has carried out, and what it may still.
    @exclusivity(unchecked) var account: TurnAccount
    /// Reports that a turn left over.
    @exclusivity(unchecked) var unseen: [Readiness] = []

    var scratch: UnsafeMutableRawBufferPointer { buffers.received }
    var plainScratch: UnsafeMutableRawBufferPointer { buffers.plain }
    /// Memory of large messages that went out, for those that come.
    @exclusivity(unchecked) var spares = SpareArrays()
    /// Memory of short reads and writes that are done, for reads that follow.
    @exclusivity(unchecked) var shorts = ShortArrays()
    /// What may be spent on the compressed messages of others.
    @exclusivity(unchecked) var inflation: InflationBudget
    /// What counts of the messages that WebSockets have received in part.
    @exclusivity(unchecked) var unfinishedBytes = 0
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
        ring = EventRing(capacity: configuration.eventCapacity)
        closed = ClosedSockets(limit: configuration.closedLimit, retention: configuration.closedRetention)
        capturesTraffic = configuration.capturesTraffic
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
        for session in open.lazy.compactMap(\.datagrams) { session.wasReleased() }
        (unflushed, unflushedDatagrams, unreceived) = ([], [], [])
        unseen = []
        host { while let job = jobs.popFirst() { _ = consume job } }
        // Nobody is left who could be called; but what waits to be called holds connections, and these the engine.
        while !outbox.isEmpty || !holding.isEmpty || !retired.isEmpty {
            host { while let callback = outbox.popFirst() { _ = consume callback } }
            letGo()
        }
        requestTurn = {}
    }
}
