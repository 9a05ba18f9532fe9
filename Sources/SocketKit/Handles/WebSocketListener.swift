import Dispatch
import SocketCore

/// Takes WebSockets on a TCP port or a Unix-domain name.
///
/// It is a handle, as `SocketListener` is one. Releasing the last reference stops it; WebSockets that were opened go on.
public final class WebSocketListener: Sendable {
    /// The engine that it lives on, and on which the WebSockets it takes live.
    public let engine: SocketEngine
    /// What takes the connections, and tells the door.
    private let socket: SocketListener
    private let door = WebSocketDoor()
    private let state: Lock<HandleState>

    private struct HandleState: HandleStorage, ~Copyable {
        var core: HandleCore<any WebSocketListenerDelegate, WebSocketConfiguration>
        /// Those whose handshake is not done, and the session of the listener that each came to.
        var opening: [SocketID: (webSocket: WebSocket, listener: SocketID?)] = [:]
        /// nil: WebSockets go to the delegate.
        var backlog: Backlog<WebSocket>?
    }

    /// Makes an idle listener. Without a delegate queue, callbacks come on the engine's queue.
    public init(
        engine: SocketEngine, delegate: (any WebSocketListenerDelegate)? = nil, delegateQueue: DispatchQueue? = nil,
        configuration: WebSocketConfiguration = WebSocketConfiguration()
    ) {
        self.engine = engine
        state = Lock(
            HandleState(
                core: HandleCore(
                    delegate: delegate, pump: .pump(to: delegateQueue, from: engine), configuration: configuration)))
        socket = SocketListener(engine: engine, delegate: door, configuration: configuration.stream)
        door.listener = self
    }

    /// Whom callbacks go to; held weakly.
    public var delegate: (any WebSocketListenerDelegate)? {
        get { state.delegate }
        set { state.delegate = newValue }
    }

    /// Where callbacks come, those of accepted WebSockets included; nil: on the engine's queue.
    public var delegateQueue: DispatchQueue? { pump?.queue }

    /// Accepted WebSockets share it, so that nothing of theirs overtakes `didAccept`.
    var pump: DelegatePump? { state.pump }

    /// Settings of the listener and of each WebSocket that it takes; what concerns the port takes effect at the next
    /// `listen`, the rest with the next connection.
    public var configuration: WebSocketConfiguration {
        get { state.configuration }
        set { state.configuration = newValue }
    }

    /// The present session; nil when not listening.
    public var session: SocketID? { socket.session }

    /// Where it listens, with the port that the kernel chose for port 0; `nil` before it does. It stays after the end, so
    /// that `didStop` can read it, until it listens again.
    public var localAddress: SocketAddress? { socket.localAddress }

    /// How it stopped listening; `nil` while it listens, and before the first time.
    public var closeRecord: CloseRecord? { socket.closeRecord }

    /// How many connections have not done their handshake yet.
    public var openingCount: Int { state.withLock { $0.opening.count } }

    /// Begins to listen, as `SocketListener.listen(on:tls:)` does; when this returns, peers can connect. With `tls` it is
    /// for `wss`. Throws what that throws, and `badParameter` for a setting that is wrong.
    public func listen(on endpoint: Endpoint, tls settings: TLSSettings? = nil) throws(SocketError) {
        let configuration = configuration
        if let fault = configuration.fault { throw .refused("listen", fault) }
        var settings = settings
        if settings?.applicationProtocols.isEmpty == true { settings?.applicationProtocols = ["http/1.1"] }
        socket.configuration = configuration.stream
        try socket.listen(on: endpoint, tls: settings)
    }

    /// Stops listening and waits until that is done; `didStop` follows. Handshakes that are not done end.
    public func stop() { socket.stop() }

}

/// What the engine does with a handle.
extension WebSocketListener: DeliveringHandle {
    /// That of the listener beneath, whose session is the one that holds back.
    var backPressure: BackPressure { _read { yield socket.backPressure } }

    /// A connection was taken: its handshake begins.
    fileprivate func accept(_ socket: AsyncSocket) {
        let configuration = configuration
        let webSocket = WebSocket(acceptedBy: self, socket: socket, configuration: configuration)
        socket.enter { engineState, session in
            guard let session, let connection = engineState.connection(session) else { return }
            state.withLock { $0.opening[session] = (webSocket, connection.origin.facts.parent) }
            let layer = WebSocketLayer(
                listener: self, configuration: configuration, handle: webSocket, now: engineState.now)
            connection.begin(layer)
        }
    }

    /// A handshake came to nothing.
    func gaveUp(_ session: SocketID) {
        _ = state.withLock { $0.opening.removeValue(forKey: session) }
    }

    /// Hands it to the task that iterates, or calls the delegate. True if so many wait for the delegate's queue that the
    /// rest must wait in the kernel's backlog; `caughtUp` is posted when that is over.
    @discardableResult
    func deliver(_ notice: WebSocketListenerNotice) -> Bool {
        let (delegate, pump, hasBacklog) = state.withLock { ($0.delegate, $0.pump, $0.backlog != nil) }
        if case .accepted(let webSocket, _) = notice, let session = webSocket.session { gaveUp(session) }
        if hasBacklog {
            switch notice {
            case .accepted(let webSocket, _):
                fill(webSocket)
                return false
            case .stopped(let error, let id): endFetching(of: id, error)
            case .refused: break
            }
        }
        return deliver(AddressedNotice(delegate: delegate, content: notice), by: pump)
    }

    func call(_ notice: AddressedNotice<any WebSocketListenerDelegate, WebSocketListenerNotice>) {
        let delegate = notice.delegate
        switch notice.content {
        case .accepted(let webSocket, let agreement):
            delegate?.listener(self, didAccept: webSocket, agreement: agreement)
        case .refused(let address, let error): delegate?.listener(self, didRefuse: address, error: error)
        case .stopped(let error, _): delegate?.listener(self, didStop: error)
        }
    }

    fileprivate func stopped(_ error: SocketError?, of session: SocketID) {
        // A listener that listens again has others under way by now.
        let ended = state.withLock { state in
            let ended = state.opening.filter { $0.value.listener == session }
            for id in ended.keys { state.opening[id] = nil }
            return ended
        }
        withExtendedLifetime(ended) {}
        deliver(.stopped(error, of: session))
    }
}

extension WebSocketListener: ConnectionSource {
    typealias Element = WebSocket

    /// The WebSockets that clients open, for a task to iterate. From this call on they do not go to the delegate. While
    /// nobody fetches them, 16 are held here, and connections wait in the kernel's backlog.
    public var webSockets: WebSocketConnections {
        state.withLock { if $0.backlog == nil { $0.backlog = Backlog() } }
        return WebSocketConnections(listener: self)
    }

    /// How many tasks wait for a WebSocket.
    package var waiters: Int { fetcherCount }

    func withBacklog<R: Sendable>(_ body: (inout Backlog<WebSocket>, PresentSession) -> R) -> R? {
        state.withLock { state -> R? in
            guard state.backlog != nil else { return nil }
            return body(&state.backlog!, socket.present)
        }
    }
}

/// The WebSockets that a listener takes, one after the other; see `WebSocketListener.webSockets`. One task iterates it at
/// a time.
public struct WebSocketConnections: AsyncSequence, Sendable {
    let listener: WebSocketListener

    /// Begins to wait.
    public func makeAsyncIterator() -> Iterator { Iterator(listener: listener) }

    /// Waits for WebSocket after WebSocket.
    public struct Iterator: AsyncIteratorProtocol {
        let listener: WebSocketListener

        /// The next WebSocket; nil when the listener was stopped or the task cancelled. Throws why the listener ended
        /// otherwise.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SocketError) -> WebSocket? {
            try await listener.next().get()
        }

        /// The next WebSocket, for callers on no actor.
        public mutating func next() async throws(SocketError) -> WebSocket? { try await next(isolation: nil) }
    }
}

/// Hears for a WebSocket listener what the listener beneath it tells, on the engine's queue.
final class WebSocketDoor: SocketListenerDelegate {
    private struct Owner { weak var listener: WebSocketListener? }
    private let owner = Lock(Owner())

    var listener: WebSocketListener? {
        get { owner.withLock { $0.listener } }
        set { owner.replace(\.listener, with: newValue) }
    }

    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) { self.listener?.accept(socket) }

    /// As `didStop`, which does not say of which session.
    func stopped(_ error: SocketError?, of session: SocketID) { listener?.stopped(error, of: session) }
}
