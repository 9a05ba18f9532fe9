import Dispatch
import SocketCore

/// Takes connections on a TCP port or a Unix-domain name.
///
/// It is a handle, as `AsyncSocket` is one. Releasing the last reference stops it; connections that were taken go on.
/// GCDAsyncSocket: `acceptOnInterface:port:error:`, `acceptOnUrl:error:`.
public final class SocketListener: Sendable {
    /// The engine that it lives on, and on which the connections it takes live.
    public let engine: SocketEngine
    let state: Lock<HandleState>
    /// Notices on their way to the delegate's queue.
    let backPressure = BackPressure()

    struct HandleState: HandleStorage, ~Copyable {
        var core: HandleCore<any SocketListenerDelegate, SocketConfiguration>
        /// nil: connections go to the delegate.
        var backlog: Backlog<AsyncSocket>?
    }

    /// Makes an idle listener. Without a delegate queue, callbacks come on the engine's queue.
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

    /// Whom callbacks go to; held weakly.
    public var delegate: (any SocketListenerDelegate)? {
        get { state.delegate }
        set { state.delegate = newValue }
    }

    /// Where callbacks come, those of accepted connections included; nil: on the engine's queue.
    /// A change concerns callbacks that have not begun, and connections that are accepted from now on.
    public var delegateQueue: DispatchQueue? {
        get { pump?.queue }
        set { state.pump = .pump(to: newValue, from: engine) }
    }

    /// Accepted connections share it, so that nothing of theirs overtakes `didAccept`.
    var pump: DelegatePump? { state.pump }

    /// Settings of the listener and of each connection that it takes; a change takes effect at the next `listen`.
    public var configuration: SocketConfiguration {
        get { state.configuration }
        set { state.configuration = newValue }
    }

    /// The present session; nil when not listening.
    public var session: SocketID? { present.id }

    /// The present session, and the end of the last one.
    var present: PresentSession { state.withLock { $0.present } }

    /// Where it listens, with the port that the kernel chose for port 0; `nil` before it does. It stays after the end, so
    /// that `didStop` can read it, until it listens again.
    public var localAddress: SocketAddress? {
        engine.enter { engineState in
            let acceptor = session.flatMap { engineState.acceptor($0) }
            return (acceptor?.snapshot(withKernel: false) ?? present.ended)?.local
        }
    }

    /// Where it listens: one address, or one for each family. Empty when it does not listen.
    public var localAddresses: [SocketAddress] {
        engine.enter { state in session.flatMap { state.acceptor($0) }?.localAddresses ?? [] }
    }

    /// This listener as it is now. After its end it stays as it was then, until it listens again; nil before the first
    /// time. `withKernel` asks the kernel too.
    public func snapshot(withKernel: Bool = false) -> SocketSnapshot? {
        engine.enter { state in
            session.flatMap { state.acceptor($0) }?.snapshot(withKernel: withKernel) ?? present.ended
        }
    }

    /// Runs `body` with the descriptors, on the engine's queue; one, or one for each family; none when it does not
    /// listen. For options that have no name here; whoever accepts on a descriptor or closes it breaks the listener.
    /// GCDAsyncSocket: `performBlock:` with `socket4FD` and `socket6FD`.
    public func withDescriptors<R, Failure: Error>(_ body: ([Int32]) throws(Failure) -> R) throws(Failure) -> R {
        try engine.enter { state in
            let acceptor = session.flatMap { state.acceptor($0) }
            acceptor?.mayLiveOn = true
            let descriptors = acceptor?.descriptors ?? []
            return state.runUserCode { Result { () throws(Failure) in try body(descriptors) } }
        }.get()
    }

    /// How it stopped listening; `nil` while it listens, and before the first time.
    public var closeRecord: CloseRecord? { engine.enter { _ in present.ended?.closed } }

    /// Begins to listen; when this returns, peers can connect.
    ///
    /// An empty host means every interface, by a descriptor for each family that share the port; `localhost` means both
    /// loopback addresses; any other host must be a numeric address of this machine or the name of an interface (`lo`). Port 0 lets the kernel choose. A
    /// socket file that nobody listens on any more is replaced; anything else at the path is left alone and refused.
    /// Throws `badConfiguration` when it listens already or both families are switched off, `badParameter` for a host
    /// that is not numeric or a path of more than 107 bytes, `system` with the errno of socket, bind or listen.
    ///
    /// With `tls`, each connection is secured as soon as it is taken; its `socketDidSecure` tells when. Settings that
    /// are wrong, or a client's, are refused here with `badParameter`.
    public func listen(on endpoint: Endpoint, tls settings: TLSSettings? = nil) throws(SocketError) {
        let context = try Self.context(settings, "listen")
        try engine.enter { state in
            Result { () throws(SocketError) in try state.listen(self, on: endpoint, tls: context) }
        }.get()
    }

    /// Stops listening and waits until that is done; `didStop` follows. No effect when not listening.
    public func stop() {
        engine.enter { state in
            if let session { state.perform(.close(session, .now)) }
        }
    }
}

/// What the engine does with a handle.
extension SocketListener: DeliveringHandle {
    func sessionBegan(_ id: SocketID) {
        state.withLock { $0.core.present.begin(id) }
    }

    /// The session is over; `snapshot` is how it was at its end.
    func sessionEnded(_ id: SocketID, as snapshot: SocketSnapshot) {
        state.withLock { $0.core.present.end(id, as: .whole(snapshot)) }
    }

    /// Hands it to the task that iterates, or calls the delegate. True if so many wait for the delegate's queue that the
    /// rest must wait in the kernel's backlog; `caughtUp` is posted when that is over.
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
            // Only now, or its delegate could miss a callback there. What has ended meanwhile has nothing to move.
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
