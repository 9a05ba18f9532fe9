import Dispatch
import SocketCore
import Synchronization

/// A TCP or Unix-domain stream socket.
///
/// A socket is a handle: it holds an engine and the identifier of its current session, and you can use it from any
/// thread. Reads and writes are queued and return at once. `connect`, `disconnect` and the getters wait for the
/// engine's queue, and can be called on it. Requests from one thread are carried out in order. Releasing the last
/// reference closes the connection. GCDAsyncSocket: the class of that name.
public final class AsyncSocket: Sendable {
    /// The engine that owns the socket. `move(to:)` changes it.
    public var engine: SocketEngine { state.withLock { $0.engine } }
    let state: Lock<SocketHandleState>
    /// Counts changes of the delegate or its queue, so that `withDelegate` can detect one.
    let delegateChanges = Atomic<UInt32>(0)
    /// Notices in transit to the delegate's queue.
    let backPressure = BackPressure()

    /// Creates a disconnected socket. If `delegateQueue` is `nil`, callbacks run on the engine's queue.
    public init(
        engine: SocketEngine, delegate: (any AsyncSocketDelegate)? = nil, delegateQueue: DispatchQueue? = nil,
        configuration: SocketConfiguration = SocketConfiguration()
    ) {
        state = Lock(
            SocketHandleState(
                engine: engine, delegate: delegate, pump: .pump(to: delegateQueue, from: engine),
                configuration: Shared(configuration)))
    }

    /// Creates the socket of an accepted connection. It shares the listener's pump, so that none of its callbacks
    /// overtakes `didAccept`.
    init(acceptedBy listener: SocketListener, session: SocketID, configuration: Shared<SocketConfiguration>) {
        state = Lock(
            SocketHandleState(
                engine: listener.engine, session: session,
                pump: listener.pump, configuration: configuration))
    }

    deinit {
        let (engine, session) = state.withLock { ($0.engine, $0.session) }
        if let session { engine.post(.released(session)) }
    }

    // MARK: Settings

    /// The delegate, held weakly. A new delegate receives every callback that hasn't started yet.
    public var delegate: (any AsyncSocketDelegate)? {
        get { state.delegate }
        set {
            state.delegate = newValue
            delegateChanges.add(1, ordering: .releasing)
        }
    }

    /// The queue callbacks run on, or `nil` for the engine's queue. Callbacks already sent to the previous queue still
    /// run there.
    public var delegateQueue: DispatchQueue? {
        get { state.pump?.queue }
        set {
            // Keep a pump that already fits, because sockets that share a pump share one path to its queue.
            if isPumped(to: newValue) { return }
            state.pump = .pump(to: newValue, from: engine)
            delegateChanges.add(1, ordering: .releasing)
        }
    }

    /// Whether the pump already carries callbacks from the current engine to this queue.
    private func isPumped(to queue: DispatchQueue?) -> Bool {
        state.withLock { $0.pump?.carries(from: $0.engine, to: queue) ?? false }
    }

    /// Settings that outlive sessions. A change takes effect at the next connect.
    public var configuration: SocketConfiguration {
        get { state.configuration.value }
        set { state.configuration = Shared(newValue) }
    }

    /// A value for your own use. The socket never reads it.
    public var userData: (any Sendable)? {
        get { state.userData }
        set { state.userData = newValue }
    }

    // MARK: Facts

    /// The current session, or `nil` if there is none.
    public var session: SocketID? { state.withLock { $0.session } }

    /// Whether there is no session: the socket is neither connected nor connecting.
    public var isDisconnected: Bool { fact { $0 == nil } }

    /// Whether the connection is open.
    public var isConnected: Bool { fact { $0?.machine.isOpen ?? false } }

    /// The peer's address, or `nil` if it isn't known yet. It stays available after the session ends, so that every
    /// callback can read it, until the next session begins.
    public var peerAddress: SocketAddress? { fact({ $0.peer }, ended: { $0.peer }) }

    /// The local address, or `nil` if there is none yet. It stays available until the next session begins.
    public var localAddress: SocketAddress? { fact({ $0.local }, ended: { $0.local }) }

    /// How the last session ended, or `nil` during a session and before the first.
    public var closeRecord: CloseRecord? { fact({ _ in nil }, ended: { $0.closed }) }

    /// The number of queued bytes the kernel hasn't accepted yet, or 0 if the socket isn't connected.
    public var pendingWriteBytes: Int { fact { $0?.machine.pendingWriteBytes ?? 0 } }

    /// Runs `body` with the descriptor on the engine's queue and returns its result. Returns `nil` without running it
    /// if there is no descriptor, as before the connection is established. Use it for options and queries that have no
    /// API here. Reading, writing or closing the descriptor breaks the connection. GCDAsyncSocket: `performBlock:` with
    /// `socketFD`.
    public func withDescriptor<R, Failure: Error>(
        _ body: (Int32) throws(Failure) -> R
    ) throws(Failure) -> R? {
        try fact { connection -> Result<R, Failure>? in
            guard let connection, let descriptor = connection.socket?.descriptor else { return nil }
            connection.mayLiveOn = true
            return connection.engine.runUserCode { Result { () throws(Failure) in try body(descriptor) } }
        }?.get()
    }

    func fact<R>(_ body: (Connection?) -> R) -> R {
        enter { state, session in body(session.flatMap { state.connection($0) }) }
    }

    /// Reads a fact from the current session or, if there is none, from the last one's final snapshot.
    func fact<R>(_ present: (Connection) -> R?, ended: (SocketSnapshot) -> R?) -> R? {
        enter { engineState, session in
            if let connection = session.flatMap({ engineState.connection($0) }) { return present(connection) }
            return state.withLock { $0.present }.ended.flatMap(ended)
        }
    }

    // MARK: Connecting

    /// Starts connecting to a host name or numeric address. `didConnectTo` or `didDisconnect` reports the result. You
    /// can queue reads and writes at once. `timeout` covers both resolving and connecting. Pass `nil` for the system's
    /// timeouts only.
    ///
    /// Throws `badParameter` if the host is empty or the port is 0, and `badConfiguration` if there is already a
    /// session or both families are disabled. GCDAsyncSocket: `connectToHost:onPort:withTimeout:error:`.
    public func connect(toHost host: String, port: UInt16, timeout: Duration? = nil) throws(SocketError) {
        try connect(to: .tcp(host: host, port: port), timeout: timeout)
    }

    /// Starts connecting to a TCP or Unix-domain endpoint, as `connect(toHost:port:timeout:)` does.
    public func connect(to endpoint: Endpoint, timeout: Duration? = nil) throws(SocketError) {
        try enter { state, _ in
            Result { () throws(SocketError) in try state.connect(self, to: endpoint, timeout: timeout) }
        }.get()
    }

    /// Adopts a connected stream socket of any family, and calls `didConnectTo`. This socket owns the descriptor from
    /// then on, unless the call throws.
    ///
    /// Throws `badConfiguration` if there is already a session, `other` if the descriptor isn't a connected stream
    /// socket, `badParameter` if another socket of this engine uses it, and `system` if the kernel refuses.
    /// GCDAsyncSocket: `socketFromConnectedSocketFD:`.
    public func adopt(descriptor: Int32) throws(SocketError) {
        try enter { state, _ in
            Result { () throws(SocketError) in try state.adopt(descriptor, for: self) }
        }.get()
    }

    /// Moves the connection to another engine with its queues, bytes and counts, and gives it a new session. Earlier
    /// requests to this socket are carried out before the move, later ones on the new engine. A delegate without its
    /// own queue is then called on the new engine's queue. Has no effect if the socket is already on that engine.
    /// Throws `notConnected` if the socket isn't connected.
    public func move(to other: SocketEngine) throws(SocketError) {
        let hasMoved = enter { engineState, session in
            guard engine !== other else { return true }
            engine.letOthersAct()
            guard let session, let connection = engineState.connection(session), connection.mayMove else {
                return false
            }
            moveAway(connection, of: engineState, to: other)
            return true
        }
        if !hasMoved {
            throw SocketError(.notConnected, operation: "move", detail: "only a connected socket can move")
        }
    }

    /// Makes every change that other threads can see in one step, under the lock that posting takes. Jobs posted by
    /// then move along, after the connection itself. Later jobs follow both.
    private func moveAway(_ connection: Connection, of engineState: EngineState, to other: SocketEngine) {
        let need = state.withLock { state in
            // A former session with notices in transit also gets an identifier that is unused on the new engine.
            var names: [SocketID: SocketID] = [:]
            let moved = connection.moveAway(of: self) { former in
                let name = names[former] ?? other.names.nextSession()
                names[former] = name
                return name
            }
            state.engine = other
            state.core.present.begin(moved.id)
            if state.isAwaited { state.changeAwaited { $0.rename(names) } }
            var need = other.mailbox.post(.absorb(Shared(moved), self))
            for (command, operation) in engineState.withdraw(self) {
                let next = other.mailbox.post(.ask(self, SocketCommand(moved.id, command.action), operation))
                if need != .turn { need = next }
            }
            // The places of requests are those of the new engine's mailbox from now on.
            state.noteRequest(at: other.mailbox.posted)
            return need
        }
        if need == .turn { other.requestTurn() }
    }

    // MARK: Reading and writing

    /// Queues a read and returns its identifier. If the read is rejected (no session, closing, invalid argument),
    /// `didFail` reports why.
    @discardableResult
    public func read(_ request: ReadRequest) -> OperationID {
        submit(.read(request), closesPieces: true) {
            $0.queueAtOnce(request, of: $1, as: $2)
        }
    }

    /// Queues a write and returns its identifier. If the write is rejected (no session, closing, half-closed, no
    /// bytes), `didFail` reports why.
    @discardableResult
    public func write(_ bytes: [UInt8], timeout: Duration? = nil, tag: Int = 0) -> OperationID {
        let request = WriteRequest(bytes, timeout: timeout, tag: tag)
        return submit(.write(request), closesPieces: false) {
            $0.queueAtOnce(request, of: $1, as: $2)
        }
    }

    /// Queues a write of bytes that aren't copied, such as those of a large `Data`, and returns its identifier. `owner`
    /// is released once the write has completed or failed. Rejected in the same cases as `write(_:timeout:tag:)`.
    @discardableResult
    public func write(
        contentsOf owner: any ContiguousBytesOwner, timeout: Duration? = nil, tag: Int = 0
    ) -> OperationID {
        let request = WriteRequest(contentsOf: owner, timeout: timeout, tag: tag)
        return submit(.write(request), closesPieces: false) {
            $0.queueAtOnce(request, of: $1, as: $2)
        }
    }

    /// Cancels operations before they complete; each fails with `cancelled` in `didFail`. The bytes of the current read
    /// return to the stream for later reads. Operations that have completed by then stay completed, and a write with
    /// bytes already sent continues.
    public func cancel(_ target: SocketCommand.CancelTarget) {
        ask(.cancel(target))
    }

    /// Answers an operation that timed out. Has no effect if the operation is no longer waiting for a verdict.
    public func answerTimeout(of operation: OperationID, _ verdict: TimeoutVerdict) {
        ask(.answerTimeout(operation, verdict))
    }

    /// Changes the timeout (`nil` for none) of a queued or current operation, counted from when it became current. An
    /// operation whose new deadline has passed times out at once. Has no effect if the operation is waiting for a
    /// verdict or has ended.
    public func setTimeout(_ timeout: Duration?, of operation: OperationID) {
        ask(.setTimeout(operation, timeout))
    }

    /// Whether reading from the kernel is paused. Timeouts keep running. Without a session it is `false`, and setting
    /// it has no effect.
    public var isReadingPaused: Bool {
        get { fact { $0?.machine.reading.isPausedByHand ?? false } }
        set { ask(.pauseReading(newValue)) }
    }

    // MARK: Closing

    /// Closes as `mode` says. `now` has closed the connection when this returns: `didDisconnect` follows, queued
    /// operations fail, and operations that this thread queued earlier are tried first (GCDAsyncSocket: `disconnect`).
    /// The other modes return at once, and new operations are rejected from then on (`disconnectAfterReading` and so
    /// on). Has no effect without a session.
    public func disconnect(_ mode: CloseMode = .now) {
        guard mode == .now else {
            ask(.close(mode))
            return
        }
        enter { state, session in
            if let session { state.perform(.close(session, .now)) }
        }
    }

    /// Sends FIN once every queued write is sent. Reading continues, and new writes are rejected.
    public func halfClose() {
        ask(.halfClose)
    }
}

extension AsyncSocket: CustomStringConvertible {
    /// A one-line summary: session, addresses, queued operations and byte counts.
    public var description: String {
        let snapshot: SocketSnapshot? = fact { $0?.snapshot(withKernel: false) }
        guard let snapshot else { return "AsyncSocket (disconnected)" }
        let ends = "\(snapshot.local?.description ?? "-") > \(snapshot.peer?.description ?? snapshot.target)"
        let reads = snapshot.reading.pendingCount + (snapshot.reading.current == nil ? 0 : 1)
        let writes = snapshot.writing.pendingCount + (snapshot.writing.current == nil ? 0 : 1)
        return "AsyncSocket \(snapshot.id) \(snapshot.phase.rawValue) \(ends), reads \(reads), "
            + "writes \(writes) (\(snapshot.writing.pendingBytes) bytes), "
            + "received \(snapshot.received), sent \(snapshot.sent)"
    }
}
