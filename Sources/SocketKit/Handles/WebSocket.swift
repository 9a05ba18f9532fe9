import Dispatch
import SocketCore

/// A WebSocket (RFC 6455), of either end.
///
/// It is a handle, as `AsyncSocket` is one: it may be used from any thread, what one thread asks for happens in the order
/// in which it asked, and releasing the last reference ends the connection: with Close 1001 behind what is queued, as far
/// as the kernel takes that at once, and without waiting for the peer's. Messages may be sent from `connect` on; they
/// wait until it is open. Pings are answered by the engine, however busy the user's queue is. While nobody takes messages,
/// no more than 128 KiB of them, or one, are gathered, and the rest stays with the kernel, where the peer feels it.
/// SocketRocket: `SRWebSocket`.
///
/// A client may open several WebSockets to one server at a time: unlike RFC 6455, 4.1 asks of browsers, nothing makes one
/// wait for another, since a program knows best what it connects to.
public final class WebSocket: Sendable {
    /// How far a WebSocket is. SocketRocket: `SRReadyState`.
    public enum ReadyState: String, Hashable, Sendable, Codable {
        /// It is to be opened.
        case connecting
        /// Messages pass.
        case open
        /// One side has said Close.
        case closing
        /// It is over, or was never opened.
        case closed
    }

    /// The engine that it lives on.
    public let engine: SocketEngine
    /// The stream beneath.
    let socket: AsyncSocket
    let state: Lock<WebSocketHandleState>
    /// Notices on their way to the user, and messages that wait in the inbox.
    let sharedPressure = SharedBackPressure(limit: BackPressure.webSocketLimit)
    /// Names no session.
    static let noSession = SocketID(0)

    /// Makes an idle client. Without a delegate queue, callbacks come on the engine's queue.
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

    /// A server's end. It shares its listener's pump, so that nothing of it overtakes `didAccept`.
    init(acceptedBy listener: WebSocketListener, socket: AsyncSocket, configuration: WebSocketConfiguration) {
        engine = listener.engine
        self.socket = socket
        let core = HandleCore<any WebSocketDelegate, _>(
            session: socket.session, pump: listener.pump, configuration: configuration)
        state = Lock(WebSocketHandleState(core: core))
    }

    // MARK: Settings

    /// Whom callbacks go to; held weakly. A change concerns callbacks that have not begun. Messages that came while there
    /// was none, and that no task took, are given to it.
    public var delegate: (any WebSocketDelegate)? {
        get { state.delegate }
        set {
            state.delegate = newValue
            if newValue != nil { engine.post(.deliverInbox(self)) }
        }
    }

    /// Where callbacks come; nil: on the engine's queue. Callbacks that were sent to the former queue still come there.
    public var delegateQueue: DispatchQueue? {
        get { state.pump?.queue }
        set { state.pump = .pump(to: newValue, from: engine) }
    }

    /// Settings; a change takes effect at the next connect.
    public var configuration: WebSocketConfiguration {
        get { state.configuration }
        set { state.configuration = newValue }
    }

    /// Anything of the caller's; never looked at.
    public var userData: (any Sendable)? {
        get { state.userData }
        set { state.userData = newValue }
    }

    // MARK: Facts

    /// Its session within the engine, as snapshots name it; nil when there is none.
    public var session: SocketID? { socket.session }

    /// How far it is. SocketRocket: `readyState`.
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

    /// What was agreed on when it opened; nil: it is not open yet. It stays after the end.
    public var agreement: WebSocketAgreement? { state.withLock { $0.agreement } }

    /// The protocol above it; nil: none, or not open yet. SocketRocket: `protocol`.
    public var subprotocol: String? { agreement?.subprotocol }

    /// How it ended; nil: it has not, or never was open.
    public var closeReport: WebSocketCloseReport? { state.withLock { $0.report } }

    /// Bytes of messages that the kernel has not taken, those that wait until it is open included; browsers'
    /// `bufferedAmount`.
    public var bufferedAmount: Int {
        layer { layer, _ in
            guard let layer else { return 0 }
            return (layer.machine?.bufferedBytes ?? 0) + layer.waitingBytes
        }
    }

    /// The last round-trip time that a ping measured; nil: none yet.
    public var roundTripTime: Duration? { picture?.traffic?.roundTrip }

    /// The peer's address; `nil` before it is known. It stays after the end, so that every callback can read it, until this
    /// WebSocket is opened again.
    public var peerAddress: SocketAddress? { socket.peerAddress }

    /// Our own address; `nil` before there is one. It stays as `peerAddress` does.
    public var localAddress: SocketAddress? { socket.localAddress }

    /// TLS as it stands; `nil` if there is none. It stays as `peerAddress` does.
    public var tls: TLSSnapshot? { socket.tls }

    /// Messages and all, at this instant; `nil` before there was a session. It stays as `peerAddress` does.
    public var picture: WebSocketPicture? {
        socket.fact({ $0.webSocket?.snapshot(isConnecting: false) }, ended: { $0.webSocket })
    }

    func layer<R>(_ body: (WebSocketLayer?, Connection?) -> R) -> R {
        socket.fact { connection in body(connection?.webSocket, connection) }
    }

    // MARK: Connecting

    /// Begins to open a WebSocket; `didOpen` or `didClose` tells how it went. The configuration's `openTimeout` covers all
    /// of it.
    ///
    /// Throws `badParameter` for a setting that is wrong, with a sentence that names it, and `badConfiguration` when it is
    /// open, or being opened, already; then nothing was begun. SocketRocket: `open`.
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

    /// Begins to open a WebSocket, as above. Throws `badParameter` for what is no URL of a WebSocket, too.
    public func connect(to url: String) throws(SocketError) {
        try connect(to: WebSocketURL.checked(url))
    }

    // MARK: Trust

    /// Gives the verdict on the server's certificate, as `AsyncSocket.answerTrust(of:_:)` does.
    public func answerTrust(of question: OperationID, _ verdict: TrustVerdict) {
        socket.answerTrust(of: question, verdict)
    }

    // MARK: Asking

    /// Posts a command for the present session and names it; without one, it fails.
    @discardableResult
    func ask(_ command: WebSocketCommand) -> OperationID {
        let operation = engine.names.nextOperation()
        engine.meet(engine.mailbox.post(.webSocket(self, socket.session, command, operation)))
        return operation
    }
}
