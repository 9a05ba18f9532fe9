import SocketCore

/// The WebSocket of one connection, which owns it as it owns its TLS: the opening handshake, then the machine. It lives on
/// the engine's queue.
///
/// What it is told comes by the connection: bytes that are lent, notices, deadlines, commands. What it does to the
/// connection, that is to queue writes, to hold back and to close, it does directly; what ends or restarts reading is
/// put off to `proceed`, since lent bytes must not be received over. What it tells its user goes to the outbox.
final class WebSocketLayer: WebSocketStorage {
    /// Where the opening is.
    enum Stage {
        /// Of a client: the proxy was asked.
        case tunnelling(TunnelHandshake)
        /// Of a client: the tunnel stands; TLS or the handshake begins within it as soon as lent bytes are done with.
        case tunnelled(early: [UInt8])
        /// Of a client: the proxy wants a new connection, and to know who asks.
        case returning(TunnelHandshake)
        /// Of a client: the request is out.
        case opening(ClientHandshake)
        /// Of a server: the request is awaited.
        case answering(ServerHandshake)
        /// Of a server: the request is there, and user code is about to be asked; what came behind it waits.
        case deciding(WebSocketRequest, early: [UInt8])
        /// The machine has it.
        case open
        /// It did not open, and will not.
        case over
    }

    let role: WebSocketRole
    let configuration: WebSocketConfiguration
    /// nil: of a server.
    let plan: WebSocketPlan?
    /// Who is told; nil once the user let go of it.
    let handle: HandleReference<WebSocket>
    /// Of a server: who is told that it opened.
    let listener: HandleReference<WebSocketListener>
    /// How far behind the user is.
    let backPressure: SharedBackPressure
    /// The session in which it began: it names this opening, and all that comes of it, to the handle.
    var session = WebSocket.noSession
    var stage: Stage
    var agreement: WebSocketAgreement?
    var request: HTTPHead?
    var response: HTTPHead?
    /// Why it did not open.
    var problem: SocketError?
    let began: MonotonicTime
    var openDeadline: MonotonicTime?
    var openedIn: Duration?
    var report: WebSocketCloseReport?

    /// The sessions in which it asked its proxy before.
    var former: [SocketID] = []
    /// Commands that came before it is open.
    var waiting: [(command: WebSocketCommand, operation: OperationID)] = [] {
        didSet { if waiting.isEmpty { waitingBytes = 0 } }
    }
    /// Their payload bytes.
    var waitingBytes = 0
    /// Messages that are streamed, by the operation that began them.
    var streams: [OperationID: WebSocketMessageID] = [:]
    /// Bytes given to the connection's write queue so far, and those of them that the machine knows to be written, or
    /// that are not its own.
    var handedOn = 0
    var reported = 0
    /// What was taken from the machine in this turn.
    var pumped = (turn: MonotonicTime.zero, bytes: 0)
    /// Reads that were gathered and are on their way here; what comes behind them must not be lent past them.
    var gatheredReads = 0
    /// Whether `proceed` was asked for.
    var isProceedAsked = false
    /// Whether the user is so far behind that the kernel's bytes stay there.
    var isUserBehind = false
    /// Frames of the message that comes in, and of the pong that came, for the traffic that is kept.
    var incoming: WebSocketTraffic?
    var pong: WebSocketTraffic?
    /// Parts of messages that are streamed, by the operation that began them, likewise.
    var streamed: [OperationID: StreamedTraffic] = [:]
    /// The last write of the opening handshake: it and those before it are no frames.
    var lastPlainWrite = OperationID(0)
    /// What counts of the message that came in part, in the engine's sum.
    var unfinished = 0
    /// Bytes of a plain HTTP answer that were still to go out when somebody last looked, and when it has taken too long.
    var unsentAnswer: (left: Int, due: MonotonicTime)?
    /// Until when deadlines are put off.
    var postponed: MonotonicTime?

    /// A client that follows this plan.
    init(_ plan: WebSocketPlan, handle: WebSocket, now: MonotonicTime) {
        role = .client
        configuration = plan.configuration
        self.plan = plan
        self.handle = HandleReference(handle)
        listener = HandleReference()
        backPressure = handle.sharedPressure
        began = now
        openDeadline = plan.configuration.openTimeout.map { now + $0 }
        if let tunnel = plan.tunnel { stage = .tunnelling(tunnel) } else { stage = .opening(plan.handshake) }
    }

    /// A server that waits for a request.
    init(listener: WebSocketListener, configuration: WebSocketConfiguration, handle: WebSocket, now: MonotonicTime) {
        role = .server
        self.configuration = configuration
        plan = nil
        self.handle = HandleReference(handle)
        self.listener = HandleReference(listener)
        backPressure = handle.sharedPressure
        began = now
        openDeadline = configuration.openTimeout.map { now + $0 }
        stage = .answering(ServerHandshake(headLimit: configuration.headLimit))
    }

    var isOpen: Bool { if case .open = stage { true } else { false } }

    // MARK: Told by the connection

    /// Everything is set up; whatever is queued waits in the connection until it stands, and TLS does.
    func begin(on connection: Connection) {
        if session == WebSocket.noSession { session = connection.id }
        connection.queue(.borrowing(), as: connection.engine.names.nextOperation())
        switch stage {
        case .tunnelling(let tunnel): write(tunnel.request, on: connection)
        case .opening(let handshake): ask(handshake, on: connection)
        case .tunnelled, .returning, .answering, .deciding, .open, .over: break
        }
    }

    /// Bytes came. They are lent for the length of this call.
    func receive(_ bytes: RawSpan, on connection: Connection) {
        if case .open = stage {
            let engine = connection.engine
            limitUnfinished(engine)
            machine?.receive(bytes, now: engine.now, spares: &engine.spares, into: &events)
            return performEvents(on: connection)
        }
        receiveOpening(bytes, on: connection)
    }

    /// What the connection would have told a delegate, from the outbox.
    func hear(_ notice: SocketNotice, on connection: Connection) {
        switch notice {
        case .read(_, _, let bytes, _):
            gatheredReads -= 1
            receive(bytes.span.bytes, on: connection)
        case .closedReadStream: receiveEnd(on: connection)
        case .trust(let trust): tell(.trust(trust), on: connection)
        case .disconnected(let error, _): transportEnded(error, on: connection)
        case .connected, .secured, .readPartial, .wrote, .wrotePartial, .failed, .givenUp, .timedOut, .peerClosed,
            .writable,
            .disconnecting:
            break
        }
    }

    /// Goes on with what was put off, from the outbox, where user code may run and nothing is lent.
    func proceed(on connection: Connection) {
        isProceedAsked = false
        switch stage {
        case .tunnelled(let early): enterTunnel(early, on: connection)
        case .deciding(let request, let early): decide(request, early, on: connection)
        case .open: connection.handleDelegateCaughtUp()
        case .tunnelling, .returning, .opening, .answering, .over: break
        }
    }

    func askToProceed(on connection: Connection) {
        guard !isProceedAsked else { return }
        isProceedAsked = true
        connection.engine.outbox.append(.webSocketStep(connection, nil))
    }

    /// When it wants to be woken.
    var deadline: MonotonicTime? {
        if let openDeadline { return openDeadline }
        guard isOpen, let due = machine?.deadline else { return nil }
        return postponed.map { max(due, $0) } ?? due
    }

    // MARK: Telling

    func tell(_ notice: WebSocketNotice, on connection: Connection) {
        let isBehind = handle.load { connection.engine.outbox.append(.webSocket($0, session, notice)) }
            .map { _ in notice.weight > 0 && backPressure.pressure.add(notice.weight) }
        if isBehind == true { isUserBehind = true }
    }

    /// Queues bytes of the opening handshake.
    func write(_ bytes: [UInt8], on connection: Connection) {
        handedOn += bytes.count
        lastPlainWrite = connection.engine.names.nextOperation()
        connection.queue(WriteRequest(bytes), as: lastPlainWrite)
    }
}
