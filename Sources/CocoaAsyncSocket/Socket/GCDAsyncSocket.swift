import Foundation
import SocketKit

/// A TCP or Unix-domain stream socket with the interface of CocoaAsyncSocket's class of this name, on a SocketKit
/// engine.
///
/// It needs a delegate and a delegate queue before it connects or accepts. Reads and writes can be called from any
/// thread. They are queued and return at once. The delegate is notified of their completion on its queue. Reads
/// complete in the order in which they were queued, and so do writes. A timeout is in seconds, and a negative one means
/// none. After its session ends, the socket can connect or accept again.
///
/// All sockets without a socket queue share one engine, which has one thread. A socket with a socket queue uses an
/// engine that runs on that queue. <doc:StreamMembers> lists every member beside what it does here.
open class GCDAsyncSocket: NSObject {
    let state: Lock<State>
    /// The same object as in the state, readable without its lock.
    let present: PresentStream

    struct State: ~Copyable {
        let engine: SocketEngine
        /// Whether the engine runs on the caller's queue.
        let hasOwnQueue: Bool
        var delegate = WeakDelegate()
        var delegateQueue: DispatchQueue?
        var configuration = SocketConfiguration.upstreams
        var userData = Unchecked<Any?>(nil)
        var session = Session.none { didSet { present.change(to: session.socket) } }
        let present = PresentStream()
        /// Disconnected sessions whose end has not been reported yet.
        var ending: [ObjectIdentifier: any AnyObject & Sendable] = [:]
    }

    enum Session {
        case none
        case stream(StreamSession)
        case listener(ListenerSession)
    }

    /// Creates a disconnected socket without a delegate.
    public convenience override init() {
        self.init(delegate: nil, delegateQueue: nil, socketQueue: nil)
    }

    /// Creates a disconnected socket without a delegate. `sq` is a serial queue that it runs on.
    public convenience init(socketQueue sq: DispatchQueue?) {
        self.init(delegate: nil, delegateQueue: nil, socketQueue: sq)
    }

    /// Creates a disconnected socket.
    public convenience init(delegate aDelegate: (any GCDAsyncSocketDelegate)?, delegateQueue dq: DispatchQueue?) {
        self.init(delegate: aDelegate, delegateQueue: dq, socketQueue: nil)
    }

    /// Creates a disconnected socket. `sq` is a serial queue that it runs on, and may be the same as `dq`.
    public init(
        delegate aDelegate: (any GCDAsyncSocketDelegate)?, delegateQueue dq: DispatchQueue?,
        socketQueue sq: DispatchQueue?
    ) {
        let state = State(
            engine: Engines.engine(on: sq), hasOwnQueue: sq != nil, delegate: WeakDelegate(aDelegate),
            delegateQueue: dq)
        present = state.present
        self.state = Lock(state)
        super.init()
    }

    /// Takes over a connection that its listener accepted.
    convenience init(
        accepted socket: AsyncSocket, delegate: any GCDAsyncSocketDelegate, delegateQueue: DispatchQueue,
        socketQueue: DispatchQueue?
    ) {
        if let socketQueue {
            self.init(delegate: delegate, delegateQueue: delegateQueue, socketQueue: socketQueue)
        } else {
            self.init(delegate: delegate, delegateQueue: delegateQueue, engine: socket.engine)
        }
        let session = StreamSession(socket, owner: self)
        begin(.stream(session))
        guard socketQueue != nil else { return }
        // A session that has ended in the meantime has nothing to move.
        try? socket.move(to: engine)
        session.setDelegate(self.delegate, on: delegateQueue)
    }

    private init(delegate: any GCDAsyncSocketDelegate, delegateQueue: DispatchQueue, engine: SocketEngine) {
        let state = State(
            engine: engine, hasOwnQueue: engine !== Engines.shared, delegate: WeakDelegate(delegate),
            delegateQueue: delegateQueue)
        present = state.present
        self.state = Lock(state)
        super.init()
    }

    /// Takes over a connected descriptor. The socket closes it from now on. Throws and leaves the descriptor alone if
    /// it is not connected.
    public convenience init(fromConnectedSocketFD socketFD: Int32, socketQueue sq: DispatchQueue?) throws {
        try self.init(fromConnectedSocketFD: socketFD, delegate: nil, delegateQueue: nil, socketQueue: sq)
    }

    /// Takes over a connected descriptor, and notifies the delegate that the connection is established. Throws and
    /// leaves the descriptor alone if it is not connected.
    public convenience init(
        fromConnectedSocketFD socketFD: Int32, delegate aDelegate: (any GCDAsyncSocketDelegate)?,
        delegateQueue dq: DispatchQueue?
    ) throws {
        try self.init(fromConnectedSocketFD: socketFD, delegate: aDelegate, delegateQueue: dq, socketQueue: nil)
    }

    /// Takes over a connected descriptor. The socket closes it from now on. Throws and leaves the descriptor alone if
    /// it is not connected.
    public convenience init(
        fromConnectedSocketFD socketFD: Int32, delegate aDelegate: (any GCDAsyncSocketDelegate)?,
        delegateQueue dq: DispatchQueue?, socketQueue sq: DispatchQueue?
    ) throws {
        self.init(delegate: aDelegate, delegateQueue: dq, socketQueue: sq)
        try start { socket throws(SocketError) in try socket.adopt(descriptor: socketFD) }
    }

    // MARK: Sessions

    var engine: SocketEngine { state.withLock { $0.engine } }
    /// The engine, if its queue is this socket's own.
    var ownEngine: SocketEngine? { state.withLock { $0.hasOwnQueue ? $0.engine : nil } }

    /// The open connection or current connection attempt.
    var stream: AsyncSocket? { state.withLock { $0.session.socket } }

    /// Calls `body` with the stream, if there is one. Code that runs in a delegate callback needs no lock for this.
    @inline(__always)
    func withStream(_ body: (AsyncSocket) -> Void) {
        if PassingData.call(with: present, { stream, _ in body(stream) }) { return }
        if let stream { body(stream) }
    }

    /// The stream session, which also forwards the stream's callbacks to the delegate.
    var session: StreamSession? {
        state.withLock { if case .stream(let session) = $0.session { session } else { nil } }
    }

    var listener: SocketListener? {
        state.withLock { if case .listener(let session) = $0.session { session.listener } else { nil } }
    }

    /// Creates a stream session and lets `body` start it.
    func start(_ body: (AsyncSocket) throws(SocketError) -> Void) throws {
        let (engine, configuration) = state.withLock { ($0.engine, $0.configuration) }
        let session = StreamSession(AsyncSocket(engine: engine, configuration: configuration), owner: self)
        begin(.stream(session))
        do throws(SocketError) {
            try body(session.socket)
        } catch {
            ended(session)
            throw NSError.stream(error)
        }
    }

    /// Makes `session` the current one. The previous session finishes on its own.
    func begin(_ session: Session) {
        let (delegate, queue) = state.withLock { state in
            state.leave()
            state.session = session
            return Unchecked((state.delegate.object, state.delegateQueue))
        }.value
        session.setDelegate(delegate, on: queue)
    }

    /// Removes a session whose end has been reported.
    func ended(_ session: any AnyObject & Sendable) {
        state.withLock { state in
            if state.session.object === session { state.session = .none }
            state.ending[ObjectIdentifier(session)] = nil
        }
    }
}

extension SocketConfiguration {
    /// Upstream's defaults.
    fileprivate static var upstreams: SocketConfiguration {
        var configuration = SocketConfiguration()
        configuration.attemptDelay = .milliseconds(300)
        return configuration
    }
}

extension GCDAsyncSocket.Session {
    var socket: AsyncSocket? { if case .stream(let session) = self { session.socket } else { nil } }

    var object: (any AnyObject & Sendable)? {
        switch self {
        case .none: nil
        case .stream(let session): session
        case .listener(let session): session
        }
    }

    func setDelegate(_ delegate: (any GCDAsyncSocketDelegate)?, on queue: DispatchQueue?) {
        switch self {
        case .none: break
        case .stream(let session): session.setDelegate(delegate, on: queue)
        case .listener(let session): session.setDelegate(delegate, on: queue)
        }
    }
}

extension GCDAsyncSocket.State {
    /// Detaches the session, which finishes on its own, and returns it.
    @discardableResult
    mutating func leave() -> GCDAsyncSocket.Session {
        let left = session
        session = .none
        if let object = left.object { ending[ObjectIdentifier(object)] = object }
        return left
    }
}
