import Dispatch
import SocketCore

/// Accepts WebSockets on a TCP port or a Unix-domain name.
///
/// It is a handle, as `SocketListener` is. Releasing the last reference stops it; WebSockets that were opened stay
/// open.
public final class WebSocketListener: Sendable {
    /// The engine that owns the listener and the WebSockets it accepts.
    public let engine: SocketEngine
    /// The underlying listener, which notifies `door`.
    private let socket: SocketListener
    private let door = WebSocketDoor()
    private let state: Lock<HandleState>

    private struct HandleState: HandleStorage, ~Copyable {
        var core: HandleCore<any WebSocketListenerDelegate, WebSocketConfiguration>
        /// The WebSockets in their opening handshake, with the listener's session that accepted each.
        var opening: [SocketID: (webSocket: WebSocket, listener: SocketID?)] = [:]
        /// The WebSockets for tasks to fetch, or `nil` if WebSockets go to the delegate.
        var backlog: Backlog<WebSocket>?
    }

    /// Creates a listener that isn't listening. If `delegateQueue` is `nil`, callbacks run on the engine's queue.
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

    /// The delegate, held weakly.
    public var delegate: (any WebSocketListenerDelegate)? {
        get { state.delegate }
        set { state.delegate = newValue }
    }

    /// The queue callbacks run on, including those of accepted WebSockets, or `nil` for the engine's queue.
    public var delegateQueue: DispatchQueue? { pump?.queue }

    /// Shared with accepted WebSockets, so that none of their callbacks overtakes `didAccept`.
    var pump: DelegatePump? { state.pump }

    /// Settings of the listener and of each WebSocket that it accepts. A change that concerns the port takes effect at
    /// the next `listen`, any other with the next connection.
    public var configuration: WebSocketConfiguration {
        get { state.configuration }
        set { state.configuration = newValue }
    }

    /// The current session, or `nil` if the listener isn't listening.
    public var session: SocketID? { socket.session }

    /// The address it listens on, with the port that the kernel chose for port 0, or `nil` before it listens. It stays
    /// available after the end, so that `didStop` can read it, until it listens again.
    public var localAddress: SocketAddress? { socket.localAddress }

    /// How the listener stopped, or `nil` while it listens and before it first does.
    public var closeRecord: CloseRecord? { socket.closeRecord }

    /// The number of connections in their opening handshake.
    public var openingCount: Int { state.withLock { $0.opening.count } }

    /// Starts listening, as `SocketListener.listen(on:tls:)` does. When this returns, peers can connect. With `tls`, it
    /// serves `wss`. Throws what that method throws, and `badParameter` if a setting is invalid.
    public func listen(on endpoint: Endpoint, tls settings: TLSSettings? = nil) throws(SocketError) {
        let configuration = configuration
        if let fault = configuration.fault { throw .refused("listen", fault) }
        var settings = settings
        if settings?.applicationProtocols.isEmpty == true { settings?.applicationProtocols = ["http/1.1"] }
        socket.configuration = configuration.stream
        try socket.listen(on: endpoint, tls: settings)
    }

    /// Stops listening and has stopped when this returns. `didStop` follows. Unfinished handshakes end.
    public func stop() { socket.stop() }

}

/// The engine's interface to the handle.
extension WebSocketListener: DeliveringHandle {
    /// That of the underlying listener, whose session is the one that holds back.
    var backPressure: BackPressure { _read { yield socket.backPressure } }

    /// Starts the handshake of an accepted connection.
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

    /// Forgets a connection whose handshake has ended.
    func gaveUp(_ session: SocketID) {
        _ = state.withLock { $0.opening.removeValue(forKey: session) }
    }

    /// Hands a WebSocket to the iterating task, or calls the delegate. Returns `true` if so much waits for its queue
    /// that further connections must wait in the kernel's backlog; `caughtUp` is posted when it can resume.
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
        // A listener that listens again already has other handshakes in progress.
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

    /// The WebSockets that clients open, for a task to iterate. From this call on they don't go to the delegate. Up to
    /// 16 unfetched WebSockets are held here; further connections wait in the kernel's backlog.
    public var webSockets: WebSocketConnections {
        state.withLock { if $0.backlog == nil { $0.backlog = Backlog() } }
        return WebSocketConnections(listener: self)
    }

    /// The number of tasks that wait for a WebSocket.
    package var waiters: Int { fetcherCount }

    func withBacklog<R: Sendable>(_ body: (inout Backlog<WebSocket>, PresentSession) -> R) -> R? {
        state.withLock { state -> R? in
            guard state.backlog != nil else { return nil }
            return body(&state.backlog!, socket.present)
        }
    }
}

/// The WebSockets that a listener accepts, one after the other. See `WebSocketListener.webSockets`. Only one task at a
/// time can iterate it.
public struct WebSocketConnections: AsyncSequence, Sendable {
    let listener: WebSocketListener

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(listener: listener) }

    /// Takes one WebSocket after another. It waits only if none has arrived.
    public struct Iterator: AsyncIteratorProtocol {
        let listener: WebSocketListener

        /// Returns the next WebSocket, or `nil` if the listener was stopped or the task cancelled. Otherwise throws why
        /// the listener ended.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SocketError) -> WebSocket? {
            if !Task.isCancelled, let webSocket = listener.takeReady() { return webSocket }
            return try await listener.next().get()
        }

        /// Returns the next WebSocket, for callers without an actor.
        public mutating func next() async throws(SocketError) -> WebSocket? { try await next(isolation: nil) }
    }
}

/// Receives the underlying listener's notices for a WebSocket listener, on the engine's queue.
final class WebSocketDoor: SocketListenerDelegate {
    private struct Owner { weak var listener: WebSocketListener? }
    private let owner = Lock(Owner())

    var listener: WebSocketListener? {
        get { owner.withLock { $0.listener } }
        set { owner.replace(\.listener, with: newValue) }
    }

    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) { self.listener?.accept(socket) }

    /// Called in place of `didStop`, which doesn't name the session.
    func stopped(_ error: SocketError?, of session: SocketID) { listener?.stopped(error, of: session) }
}
