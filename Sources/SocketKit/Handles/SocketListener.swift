import Dispatch
import SocketCore

/// Accepts connections on a TCP port or a Unix-domain name.
///
/// A listener is a handle, as `AsyncSocket` is. Releasing the last reference stops it; accepted connections stay open.
/// GCDAsyncSocket: `acceptOnInterface:port:error:`, `acceptOnUrl:error:`.
public final class SocketListener: Sendable {
    /// The engine that owns the listener and the connections it accepts.
    public let engine: SocketEngine
    let state: Lock<HandleState>
    /// Notices in transit to the delegate's queue.
    let backPressure = BackPressure()

    struct HandleState: HandleStorage, ~Copyable {
        var core: HandleCore<any SocketListenerDelegate, SocketConfiguration>
        /// The connections for tasks to fetch, or `nil` if connections go to the delegate.
        var backlog: Backlog<AsyncSocket>?
    }

    /// Creates a listener that isn't listening. If `delegateQueue` is `nil`, callbacks run on the engine's queue.
    public init(
        engine: SocketEngine, delegate: (any SocketListenerDelegate)? = nil, delegateQueue: DispatchQueue? = nil,
        configuration: SocketConfiguration = SocketConfiguration()
    ) {
        self.engine = engine
        state = Lock(
            HandleState(
                core: HandleCore(
                    delegate: delegate, pump: .pump(to: delegateQueue, from: engine), configuration: configuration)))
    }

    deinit {
        if let session { engine.post(.released(session)) }
    }

    /// The delegate, held weakly.
    public var delegate: (any SocketListenerDelegate)? {
        get { state.delegate }
        set { state.delegate = newValue }
    }

    /// The queue callbacks run on, including those of accepted connections, or `nil` for the engine's queue. A change
    /// applies to callbacks that haven't started and to connections accepted from now on.
    public var delegateQueue: DispatchQueue? {
        get { pump?.queue }
        set { state.pump = .pump(to: newValue, from: engine) }
    }

    /// Shared with accepted connections, so that none of their callbacks overtakes `didAccept`.
    var pump: DelegatePump? { state.pump }

    /// Settings of the listener and of each connection that it accepts. A change takes effect at the next `listen`.
    public var configuration: SocketConfiguration {
        get { state.configuration }
        set { state.configuration = newValue }
    }

    /// The current session, or `nil` if the listener isn't listening.
    public var session: SocketID? { present.id }

    var present: PresentSession { state.withLock { $0.present } }

    /// The address it listens on, with the port that the kernel chose for port 0, or `nil` before it listens. It stays
    /// available after the end, so that `didStop` can read it, until it listens again.
    public var localAddress: SocketAddress? {
        engine.enter { engineState in
            let acceptor = session.flatMap { engineState.acceptor($0) }
            return (acceptor?.snapshot(withKernel: false) ?? present.ended)?.local
        }
    }

    /// The addresses it listens on: one, or one for each family. Empty if it isn't listening.
    public var localAddresses: [SocketAddress] {
        engine.enter { state in session.flatMap { state.acceptor($0) }?.localAddresses ?? [] }
    }

    /// Returns a snapshot of the listener. After it stops, returns its final snapshot until it listens again. Returns
    /// `nil` before it first listens. `withKernel` also queries the kernel.
    public func snapshot(withKernel: Bool = false) -> SocketSnapshot? {
        engine.enter { state in
            session.flatMap { state.acceptor($0) }?.snapshot(withKernel: withKernel) ?? present.ended
        }
    }

    /// Runs `body` with the descriptors on the engine's queue: one, one for each family, or none if it isn't listening.
    /// Use it for options that have no API here. Accepting on a descriptor or closing it breaks the listener.
    /// GCDAsyncSocket: `performBlock:` with `socket4FD` and `socket6FD`.
    public func withDescriptors<R, Failure: Error>(_ body: ([Int32]) throws(Failure) -> R) throws(Failure) -> R {
        try engine.enter { state in
            let acceptor = session.flatMap { state.acceptor($0) }
            acceptor?.mayLiveOn = true
            let descriptors = acceptor?.descriptors ?? []
            return state.runUserCode { Result { () throws(Failure) in try body(descriptors) } }
        }.get()
    }

    /// How the listener stopped, or `nil` while it listens and before it first does.
    public var closeRecord: CloseRecord? { engine.enter { _ in present.ended?.closed } }

    /// Starts listening. When this returns, peers can connect.
    ///
    /// An empty host means every interface, with a descriptor for each family on a shared port. `localhost` means both
    /// loopback addresses. Any other host must be a numeric address of this machine or the name of an interface (`lo`).
    /// For port 0, the kernel chooses a port. A socket file without a listener is replaced; anything else at the path
    /// is left alone and the call is refused. Throws `badConfiguration` if it is already listening or both families are
    /// disabled, `badParameter` for any other host or a path of more than 107 bytes, and `system` with the errno of
    /// socket, bind or listen.
    ///
    /// With `tls`, each connection is secured as soon as it is accepted, and its `socketDidSecure` reports when.
    /// Settings that are invalid, or a client's, are refused here with `badParameter`.
    public func listen(on endpoint: Endpoint, tls settings: TLSSettings? = nil) throws(SocketError) {
        let context = try Self.context(settings, "listen")
        try engine.enter { state in
            Result { () throws(SocketError) in try state.listen(self, on: endpoint, tls: context) }
        }.get()
    }

    /// Stops listening and has stopped when this returns. `didStop` follows. Has no effect if it isn't listening.
    public func stop() {
        engine.enter { state in
            if let session { state.perform(.close(session, .now)) }
        }
    }
}

/// The engine's interface to the handle.
extension SocketListener: DeliveringHandle {
    func sessionBegan(_ id: SocketID) {
        state.withLock { $0.core.present.begin(id) }
    }

    /// Records that the session has ended, with its final snapshot.
    func sessionEnded(_ id: SocketID, as snapshot: SocketSnapshot) {
        state.withLock { $0.core.present.end(id, as: .whole(snapshot)) }
    }

    /// Hands a connection to the iterating task, or calls the delegate. Returns `true` if so much waits for its queue
    /// that further connections must wait in the kernel's backlog; `caughtUp` is posted when it can resume.
    func deliver(_ notice: ListenerNotice) -> Bool {
        let (delegate, pump, hasBacklog) = state.withLock { state in
            if case .stopped(_, let id) = notice { state.core.present.deliverEnd(of: id) }
            return (state.delegate, state.pump, state.backlog != nil)
        }
        if hasBacklog {
            switch notice {
            case .accepted(let socket, _):
                fill(socket)
                return false
            case .stopped(let error, let id): endFetching(of: id, error)
            }
        }
        return deliver(AddressedNotice(delegate: delegate, content: notice), by: pump)
    }

    func call(_ notice: AddressedNotice<any SocketListenerDelegate, ListenerNotice>) {
        let delegate = notice.delegate
        switch notice.content {
        case .accepted(let socket, let peer):
            guard let delegate else { return }
            let other = delegate.listener(self, engineFor: peer)
            delegate.listener(self, didAccept: socket)
            // Moved only now, or its delegate could miss a callback there. A session that has ended has nothing to
            // move.
            if let other { try? socket.move(to: other) }
        case .stopped(let error, let id):
            if let door = delegate as? WebSocketDoor { return door.stopped(error, of: id) }
            delegate?.listener(self, didStop: error)
        }
    }
}

extension SocketListener: ConnectionSource {
    typealias Element = AsyncSocket

    func withBacklog<R: Sendable>(_ body: (inout Backlog<AsyncSocket>, PresentSession) -> R) -> R? {
        state.withLock { state -> R? in
            guard state.backlog != nil else { return nil }
            return body(&state.backlog!, state.present)
        }
    }
}
