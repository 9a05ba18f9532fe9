import Dispatch
import SocketCore

/// A WebSocket (RFC 6455), client or server.
///
/// A WebSocket is a handle, as `AsyncSocket` is: you can use it from any thread, and requests from one thread are
/// carried out in order. Releasing the last reference ends the connection. It sends Close 1001 after the queued
/// messages, as far as the kernel accepts them at once, and doesn't wait for the peer's. You can send messages from
/// `connect` on; they wait until the WebSocket is open. The engine answers pings, however busy the delegate's queue is.
/// If messages aren't taken, at most 128 KiB of them, or one, are buffered; the rest stays in the kernel, so that the
/// peer slows down. SocketRocket: `SRWebSocket`.
///
/// A client can open several WebSockets to one server at a time. RFC 6455, 4.1 asks browsers to make each wait for
/// another; nothing does so here, because a program knows best what it connects to.
public final class WebSocket: Sendable {
    /// The state of a WebSocket. SocketRocket: `SRReadyState`.
    public enum ReadyState: String, Hashable, Sendable {
        /// The opening handshake isn't done.
        case connecting
        /// Messages can be sent and received.
        case open
        /// The closing handshake has started.
        case closing
        /// The WebSocket has ended, or was never opened.
        case closed
    }

    /// The engine that owns the WebSocket.
    public let engine: SocketEngine
    /// The underlying stream socket.
    let socket: AsyncSocket
    let state: Lock<WebSocketHandleState>
    /// Notices in transit to the user, and messages that wait in the inbox.
    let sharedPressure = SharedBackPressure(limit: BackPressure.webSocketLimit)
    /// Identifies no session.
    static let noSession = SocketID(0)

    /// Creates a client that isn't connected. If `delegateQueue` is `nil`, callbacks run on the engine's queue.
    public init(
        engine: SocketEngine, delegate: (any WebSocketDelegate)? = nil, delegateQueue: DispatchQueue? = nil,
        configuration: WebSocketConfiguration = WebSocketConfiguration()
    ) {
        self.engine = engine
        socket = AsyncSocket(engine: engine, configuration: configuration.stream)
        let core = HandleCore(
            delegate: delegate, pump: .pump(to: delegateQueue, from: engine), configuration: configuration)
        state = Lock(WebSocketHandleState(core: core))
    }

    /// Creates the server side of an accepted connection. It shares the listener's pump, so that none of its callbacks
    /// overtakes `didAccept`.
    init(acceptedBy listener: WebSocketListener, socket: AsyncSocket, configuration: WebSocketConfiguration) {
        engine = listener.engine
        self.socket = socket
        let core = HandleCore<any WebSocketDelegate, _>(
            session: socket.session, pump: listener.pump, configuration: configuration)
        state = Lock(WebSocketHandleState(core: core))
    }

    // MARK: Settings

    /// The delegate, held weakly. A new delegate receives every callback that hasn't started yet, and the messages that
    /// arrived while there was no delegate and that no task took.
    public var delegate: (any WebSocketDelegate)? {
        get { state.delegate }
        set {
            state.delegate = newValue
            if newValue != nil { engine.post(.deliverInbox(self)) }
        }
    }

    /// The queue callbacks run on, or `nil` for the engine's queue. Callbacks already sent to the previous queue still
    /// run there.
    public var delegateQueue: DispatchQueue? {
        get { state.pump?.queue }
        set { state.pump = .pump(to: newValue, from: engine) }
    }

    /// The settings. A change takes effect at the next connect.
    public var configuration: WebSocketConfiguration {
        get { state.configuration }
        set { state.configuration = newValue }
    }

    /// A value for your own use. The WebSocket never reads it.
    public var userData: (any Sendable)? {
        get { state.userData }
        set { state.userData = newValue }
    }

    // MARK: Facts

    /// The current session in the engine, as snapshots identify it, or `nil` if there is none.
    public var session: SocketID? { socket.session }

    /// The current state. SocketRocket: `readyState`.
    public var readyState: ReadyState {
        layer { layer, _ in
            guard let layer, layer.isOpen else { return layer == nil ? .closed : .connecting }
            return switch layer.machine?.state {
            case .open: .open
            case .closing: .closing
            case .closed, nil: .closed
            }
        }
    }

    /// What was negotiated when the WebSocket opened, or `nil` if it isn't open yet. It stays available after the end.
    public var agreement: WebSocketAgreement? { state.withLock { $0.agreement } }

    /// The negotiated subprotocol, or `nil` if there is none or the WebSocket isn't open yet. SocketRocket: `protocol`.
    public var subprotocol: String? { agreement?.subprotocol }

    /// How the WebSocket closed, or `nil` if it hasn't or was never open.
    public var closeReport: WebSocketCloseReport? { state.withLock { $0.report } }

    /// The number of message bytes the kernel hasn't accepted, including those that wait until the WebSocket is open.
    /// Browsers call it `bufferedAmount`.
    public var bufferedAmount: Int {
        layer { layer, _ in
            guard let layer else { return 0 }
            return (layer.machine?.bufferedBytes ?? 0) + layer.waitingBytes
        }
    }

    /// The last round-trip time that a ping measured, or `nil` if there is none.
    public var roundTripTime: Duration? { picture?.traffic?.roundTrip }

    /// The peer's address, or `nil` if it isn't known yet. It stays available after the end, so that every callback can
    /// read it, until this WebSocket is opened again.
    public var peerAddress: SocketAddress? { socket.peerAddress }

    /// The local address, or `nil` if there is none yet. It stays available until this WebSocket is opened again.
    public var localAddress: SocketAddress? { socket.localAddress }

    /// The state of TLS, or `nil` if there is none. It stays available until this WebSocket is opened again.
    public var tls: TLSSnapshot? { socket.tls }

    /// A snapshot of the WebSocket layer, or `nil` before the first session. It stays available until this WebSocket is
    /// opened again.
    public var picture: WebSocketPicture? {
        socket.fact({ $0.webSocket?.snapshot(isConnecting: false) }, ended: { $0.webSocket })
    }

    func layer<R>(_ body: (WebSocketLayer?, Connection?) -> R) -> R {
        socket.fact { connection in body(connection?.webSocket, connection) }
    }

    // MARK: Connecting

    /// Starts opening a WebSocket. `didOpen` or `didClose` reports the result. The configuration's `openTimeout` covers
    /// all of it.
    ///
    /// Throws `badParameter` if a setting is invalid, which the error names, and `badConfiguration` if this WebSocket
    /// is open or opening already. If it throws, nothing was started. SocketRocket: `open`.
    public func connect(to url: WebSocketURL) throws(SocketError) {
        let plan = try WebSocketPlan(url, configuration)
        socket.configuration = plan.configuration.stream
        try socket.enter { engineState, _ in
            Result { () throws(SocketError) in
                try engineState.connect(socket, to: plan.endpoint, timeout: nil)
                guard let connection = socket.session.flatMap({ engineState.connection($0) }) else { return }
                wasDelivered(state.withLock { $0.begin(connection.id) })
                let layer = WebSocketLayer(plan, handle: self, now: engineState.now)
                if plan.tunnel == nil, let context = plan.tls { try connection.startTLS(context) }
                connection.target = url.description
                connection.begin(layer)
            }
        }.get()
    }

    /// Starts opening a WebSocket at a URL given as text. Also throws `badParameter` if it isn't a WebSocket URL.
    public func connect(to url: String) throws(SocketError) {
        try connect(to: WebSocketURL.checked(url))
    }

    // MARK: Trust

    /// Answers the question about the server's certificate, as `AsyncSocket.answerTrust(of:_:)` does.
    public func answerTrust(of question: OperationID, _ verdict: TrustVerdict) {
        socket.answerTrust(of: question, verdict)
    }

    // MARK: Commands

    /// Posts a command for the current session and returns its identifier. The command fails if there is no session.
    @discardableResult
    func ask(_ command: WebSocketCommand) -> OperationID {
        let operation = engine.names.nextOperation()
        engine.meet(engine.mailbox.post(.webSocket(self, socket.session, command, operation)))
        return operation
    }
}
