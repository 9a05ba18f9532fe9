import Foundation
import SocketKit

/// A TCP or Unix-domain stream socket with the interface of CocoaAsyncSocket's class of this name, on a SocketKit engine.
///
/// It needs a delegate and a delegate queue before it connects or accepts. Reads and writes are queued and return at
/// once, from any thread; the delegate hears of their completion on its queue. Reads complete in the order in which they
/// were queued, and so do writes. A timeout is in seconds; a negative one means none. When its session is over, the
/// socket may connect or accept again.
///
/// All sockets that were given no socket queue share one engine, with one thread. Those with one live on an engine on
/// that queue. <doc:StreamMembers> lists every member beside what it does here.
open class GCDAsyncSocket: NSObject {
    let state: Lock<State>
    /// That of the state.
    let present: PresentStream

    struct State: ~Copyable {
        let engine: SocketEngine
        /// Whether the engine's queue is the user's.
        let hasOwnQueue: Bool
        var delegate = WeakDelegate()
        var delegateQueue: DispatchQueue?
        var configuration = SocketConfiguration.upstreams
        var userData = Unchecked<Any?>(nil)
        var session = Session.none { didSet { present.change(to: session.socket) } }
        let present = PresentStream()
        /// Sessions that were disconnected and whose end is not told yet.
        var ending: [ObjectIdentifier: any AnyObject & Sendable] = [:]
    }

    /// What the socket is at.
    enum Session {
        case none
        case stream(StreamSession)
        case listener(ListenerSession)
    }

    /// Makes an idle socket without a delegate.
    public convenience override init() {
        self.init(delegate: nil, delegateQueue: nil, socketQueue: nil)
    }

    /// Makes an idle socket without a delegate, which lives on this serial queue.
    public convenience init(socketQueue sq: DispatchQueue?) {
        self.init(delegate: nil, delegateQueue: nil, socketQueue: sq)
    }

    /// Makes an idle socket.
    public convenience init(delegate aDelegate: (any GCDAsyncSocketDelegate)?, delegateQueue dq: DispatchQueue?) {
        self.init(delegate: aDelegate, delegateQueue: dq, socketQueue: nil)
    }

    /// Makes an idle socket that lives on `sq`, a serial queue; the two queues may be the same.
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
        // What has ended meanwhile has nothing to move.
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

    /// Takes over a connected descriptor, which the socket closes from now on. Throws, and leaves the descriptor alone,
    /// when it is not connected.
    public convenience init(fromConnectedSocketFD socketFD: Int32, socketQueue sq: DispatchQueue?) throws {
        try self.init(fromConnectedSocketFD: socketFD, delegate: nil, delegateQueue: nil, socketQueue: sq)
    }

    /// Takes over a connected descriptor, likewise; the delegate is told that the connection stands.
    public convenience init(
        fromConnectedSocketFD socketFD: Int32, delegate aDelegate: (any GCDAsyncSocketDelegate)?,
        delegateQueue dq: DispatchQueue?
    ) throws {
        try self.init(fromConnectedSocketFD: socketFD, delegate: aDelegate, delegateQueue: dq, socketQueue: nil)
    }

    /// Takes over a connected descriptor, likewise.
    public convenience init(
        fromConnectedSocketFD socketFD: Int32, delegate aDelegate: (any GCDAsyncSocketDelegate)?,
        delegateQueue dq: DispatchQueue?, socketQueue sq: DispatchQueue?
    ) throws {
        self.init(delegate: aDelegate, delegateQueue: dq, socketQueue: sq)
        try start { socket throws(SocketError) in try socket.adopt(descriptor: socketFD) }
    }

    // MARK: Sessions

    var engine: SocketEngine { state.withLock { $0.engine } }

    /// The connection, or the attempt at one.
    var stream: AsyncSocket? { state.withLock { $0.session.socket } }

    /// Calls `body` with it, if there is one. Code that the delegate runs needs no lock for that.
    @inline(__always)
    func withStream(_ body: (AsyncSocket) -> Void) {
        if PassingData.call(with: present, { stream, _ in body(stream) }) { return }
        if let stream { body(stream) }
    }

    /// The same with what turns its callbacks into upstream's.
    var session: StreamSession? {
        state.withLock { if case .stream(let session) = $0.session { session } else { nil } }
    }

    var listener: SocketListener? {
        state.withLock { if case .listener(let session) = $0.session { session.listener } else { nil } }
    }

    /// Makes a connection and lets `body` begin it.
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

    /// What the socket is at from now on; what it was at before goes on ending.
    func begin(_ session: Session) {
        let (delegate, queue) = state.withLock { state in
            state.leave()
            state.session = session
            return Unchecked((state.delegate.object, state.delegateQueue))
        }.value
        session.setDelegate(delegate, on: queue)
    }

    /// The end of a session was told.
    func ended(_ session: any AnyObject & Sendable) {
        state.withLock { state in
            if state.session.object === session { state.session = .none }
            state.ending[ObjectIdentifier(session)] = nil
        }
    }
}

extension SocketConfiguration {
    /// The defaults of upstream.
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
    /// Lets the session go on ending without the socket, and returns it.
    @discardableResult
    mutating func leave() -> GCDAsyncSocket.Session {
        let left = session
        session = .none
        if let object = left.object { ending[ObjectIdentifier(object)] = object }
        return left
    }
}
