import SocketCore

/// The WebSocket of one connection: the opening handshake, then the machine. The connection owns it, as it owns its
/// TLS. It lives on the engine's queue.
///
/// The connection passes it lent bytes, notices, deadlines and commands. It queues writes, holds back and closes the
/// connection directly, but ending or restarting reading waits for `proceed`, since receiving would overwrite the lent
/// bytes. Notices for its user go to the outbox.
final class WebSocketLayer: WebSocketStorage {
    /// The progress of the opening.
    enum Stage {
        /// For a client, the proxy was asked.
        case tunnelling(TunnelHandshake)
        /// For a client, the tunnel is established. TLS or the handshake begins within it once lent bytes are consumed.
        case tunnelled(early: [UInt8])
        /// For a client, the proxy requires a new connection with credentials.
        case returning(TunnelHandshake)
        /// For a client, the request was sent.
        case opening(ClientHandshake)
        /// For a server, the request has not arrived yet.
        case answering(ServerHandshake)
        /// For a server, the request has arrived and user code is about to decide. `early` holds the bytes that follow
        /// it.
        case deciding(WebSocketRequest, early: [UInt8])
        /// The WebSocket is open, and the machine handles its bytes.
        case open
        /// It did not open, and never will.
        case over
    }

    let role: WebSocketRole
    let configuration: WebSocketConfiguration
    /// The client's plan, or `nil` for a server.
    let plan: WebSocketPlan?
    /// The handle to notify, or `nil` once the user has released it.
    let handle: HandleReference<WebSocket>
    /// For a server, the listener to notify when the WebSocket opens.
    let listener: HandleReference<WebSocketListener>
    /// Measures the notices that the user hasn't processed yet.
    let backPressure: SharedBackPressure
    /// The first session of this opening, which identifies the opening and its notices to the handle.
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

    /// The earlier sessions in which it asked its proxy.
    var former: [SocketID] = []
    /// Commands that were posted before it opened.
    var waiting: [(command: WebSocketCommand, operation: OperationID)] = [] {
        didSet { if waiting.isEmpty { waitingBytes = 0 } }
    }
    /// The payload bytes of those commands.
    var waitingBytes = 0
    /// The streamed messages, by the operation that began them.
    var streams: [OperationID: WebSocketMessageID] = [:]
    /// The bytes given to the connection's write queue so far, and how many of them are not the machine's or were
    /// reported to it as written.
    var handedOn = 0
    var reported = 0
    /// The bytes taken from the machine in this turn.
    var pumped = (turn: MonotonicTime.zero, bytes: 0)
    /// The gathered reads on their way here. Bytes that follow them must not be lent ahead of them.
    var gatheredReads = 0
    /// Whether a call of `proceed` is pending.
    var isProceedAsked = false
    /// Whether reads are held back because the user can't keep up.
    var isUserBehind = false
    /// The recorded traffic of the incoming message and of the received pong.
    var incoming: WebSocketTraffic?
    var pong: WebSocketTraffic?
    /// The recorded traffic of streamed messages, by the operation that began them.
    var streamed: [OperationID: StreamedTraffic] = [:]
    /// The last write of the opening handshake. That write and those before it are not frames.
    var lastPlainWrite = OperationID(0)
    /// The part of the engine's sum that the unfinished incoming message counts for.
    var unfinished = 0
    /// The unsent bytes of a plain HTTP response at the last check, and the deadline for sending them.
    var unsentAnswer: (left: Int, due: MonotonicTime)?
    /// The time until which deadlines are postponed.
    var postponed: MonotonicTime?

    /// Creates the layer of a client that follows `plan`.
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

    /// Creates the layer of a server that waits for a request.
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

    // MARK: Called by the connection

    /// Begins the opening. Writes wait in the connection until it is open and TLS is established.
    func begin(on connection: Connection) {
        if session == WebSocket.noSession { session = connection.id }
        connection.queue(.borrowing(), as: connection.engine.names.nextOperation())
        switch stage {
        case .tunnelling(let tunnel): write(tunnel.request, on: connection)
        case .opening(let handshake): ask(handshake, on: connection)
        case .tunnelled, .returning, .answering, .deciding, .open, .over: break
        }
    }

    /// Handles received bytes, which are lent for the length of this call.
    func receive(_ bytes: RawSpan, on connection: Connection) {
        if case .open = stage {
            let engine = connection.engine
            limitUnfinished(engine)
            machine?.receive(bytes, now: engine.now, spares: &engine.spares, into: &events)
            return performEvents(on: connection)
        }
        receiveOpening(bytes, on: connection)
    }

    /// Handles a notice from the outbox that would otherwise go to a delegate.
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

    /// Continues what was postponed. Called from the outbox, where user code may run and no bytes are lent.
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

    /// The time at which it must be woken, or `nil` if it has no deadline.
    var deadline: MonotonicTime? {
        if let openDeadline { return openDeadline }
        guard isOpen, let due = machine?.deadline else { return nil }
        return postponed.map { max(due, $0) } ?? due
    }

    // MARK: Notifying

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
