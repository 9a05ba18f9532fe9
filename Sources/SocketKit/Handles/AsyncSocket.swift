import Dispatch
import SocketCore
import Synchronization

/// A TCP or Unix-domain stream socket.
///
/// It is a handle: it holds an engine and the number of its present session, and may be used from any thread. Reads and
/// writes are queued and return at once; `connect`, `disconnect` and the getters wait for the engine's queue, and may be
/// called on it. What one thread asks for happens in the order in which it asked. Releasing the last reference closes
/// the connection. GCDAsyncSocket: the class of that name.
public final class AsyncSocket: Sendable {
    /// The engine that it lives on; `move(to:)` changes it.
    public var engine: SocketEngine { state.withLock { $0.engine } }
    let state: Lock<SocketHandleState>
    /// How often the delegate or its queue was changed, for whoever holds on to it for a while.
    let delegateChanges = Atomic<UInt32>(0)
    /// Notices on their way to the delegate's queue.
    let backPressure = BackPressure()

    /// Makes an idle socket. Without a delegate queue, callbacks come on the engine's queue.
    public init(
        engine: SocketEngine, delegate: (any AsyncSocketDelegate)? = nil, delegateQueue: DispatchQueue? = nil,
        configuration: SocketConfiguration = SocketConfiguration()
    ) {
        state = Lock(
            SocketHandleState(
                engine: engine, delegate: delegate, pump: .pump(to: delegateQueue, from: engine),
                configuration: Shared(configuration)))
    }

    /// A connection that a listener took. It shares the listener's pump, so that nothing of it overtakes `didAccept`.
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

    /// Whom callbacks go to; held weakly. A change concerns callbacks that have not begun.
    public var delegate: (any AsyncSocketDelegate)? {
        get { state.delegate }
        set {
            state.delegate = newValue
            delegateChanges.add(1, ordering: .releasing)
        }
    }

    /// Where callbacks come; nil: on the engine's queue. Callbacks that were sent to the former queue still come there.
    public var delegateQueue: DispatchQueue? {
        get { state.pump?.queue }
        set {
            // Sockets that share a pump share the way to its queue, so one that has the right pump keeps it.
            if isPumped(to: newValue) { return }
            state.pump = .pump(to: newValue, from: engine)
            delegateChanges.add(1, ordering: .releasing)
        }
    }

    /// Whether callbacks go to this queue by a pump of the present engine.
    private func isPumped(to queue: DispatchQueue?) -> Bool {
        state.withLock { $0.pump?.carries(from: $0.engine, to: queue) ?? false }
    }

    /// Settings that outlive sessions; a change takes effect at the next connect.
    public var configuration: SocketConfiguration {
        get { state.configuration.value }
        set { state.configuration = Shared(newValue) }
    }

    /// Anything of the caller's; never looked at.
    public var userData: (any Sendable)? {
        get { state.userData }
        set { state.userData = newValue }
    }

    // MARK: Facts

    /// The present session; nil when there is none.
    public var session: SocketID? { state.withLock { $0.session } }

    /// Whether there is no session: neither connected nor about to be.
    public var isDisconnected: Bool { fact { $0 == nil } }

    /// Whether bytes can pass.
    public var isConnected: Bool { fact { $0?.machine.isOpen ?? false } }

    /// The peer's address; `nil` before it is known. It stays after the end of the session, so that every callback can
    /// read it, until the next session begins.
    public var peerAddress: SocketAddress? { fact({ $0.peer }, ended: { $0.peer }) }

    /// Our own address; `nil` before there is one. It stays as `peerAddress` does.
    public var localAddress: SocketAddress? { fact({ $0.local }, ended: { $0.local }) }

    /// How the last session ended; `nil` while there is one, and before the first.
    public var closeRecord: CloseRecord? { fact({ _ in nil }, ended: { $0.closed }) }

    /// Bytes queued for writing that the kernel has not taken; 0 when not connected.
    public var pendingWriteBytes: Int { fact { $0?.machine.pendingWriteBytes ?? 0 } }

    /// Runs `body` with the descriptor, on the engine's queue, and returns what it returns; nil without running it when
    /// there is no descriptor, which is so before the connection stands. For options and questions that have no name
    /// here; whoever reads, writes or closes the descriptor breaks the connection. GCDAsyncSocket: `performBlock:` with
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

    /// A fact of the present session; of the last one, as it was at its end, while there is none.
    func fact<R>(_ present: (Connection) -> R?, ended: (SocketSnapshot) -> R?) -> R? {
        enter { engineState, session in
            if let connection = session.flatMap({ engineState.connection($0) }) { return present(connection) }
            return state.withLock { $0.present }.ended.flatMap(ended)
        }
    }

    // MARK: Connecting

    /// Begins to connect to a host name or numeric address; `didConnectTo` or `didDisconnect` tells how it went. Reads
    /// and writes may be queued at once. `timeout` covers resolving and connecting; nil: none but the system's.
    ///
    /// Throws `badParameter` for an empty host or port 0, `badConfiguration` when there is a session already or both
    /// families are switched off. GCDAsyncSocket: `connectToHost:onPort:withTimeout:error:`.
    public func connect(toHost host: String, port: UInt16, timeout: Duration? = nil) throws(SocketError) {
        try connect(to: .tcp(host: host, port: port), timeout: timeout)
    }

    /// Begins to connect, as `connect(toHost:port:timeout:)` does, to TCP or to a Unix-domain socket.
    public func connect(to endpoint: Endpoint, timeout: Duration? = nil) throws(SocketError) {
        try enter { state, _ in
            Result { () throws(SocketError) in try state.connect(self, to: endpoint, timeout: timeout) }
        }.get()
    }

    /// Takes over a connected stream socket of any family. It belongs to this socket from now on, unless this throws:
    /// `badConfiguration` when there is a session already, `other` when it is not a connected stream socket, `badParameter`
    /// when another socket of this engine watches it, `system` when the kernel refuses. `didConnectTo` is called.
    /// GCDAsyncSocket: `socketFromConnectedSocketFD:`.
    public func adopt(descriptor: Int32) throws(SocketError) {
        try enter { state, _ in
            Result { () throws(SocketError) in try state.adopt(descriptor, for: self) }
        }.get()
    }

    /// Moves the connection to another engine, with its queues, its bytes and its counts; what was asked of this socket
    /// before happens before, what is asked later happens there. It gets a new session. A delegate without a queue of
    /// its own is called on the other engine's queue from now on. No effect when it lives there already. Throws
    /// `notConnected` when it is not connected.
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

    /// All of a move that other threads can see, in one step: who posts does so under the same lock. So what they have
    /// posted by now goes along, behind the connection itself, and what they post later comes behind both.
    private func moveAway(_ connection: Connection, of engineState: EngineState, to other: SocketEngine) {
        let need = state.withLock { state in
            // A former session of which notices are under way gets a name too, that no other has there.
            var names: [SocketID: SocketID] = [:]
            let moved = connection.moveAway(of: self) { former in
                let name = names[former] ?? other.names.nextSession()
                names[former] = name
                return name
            }
            state.engine = other
            state.core.present.begin(moved.id)
            if state.isAwaited { state.changeAwaited { $0.rename(names) } }
            var need = other.mailbox.post(.take(Shared(moved), self))
            for (command, operation) in engineState.withdraw(self) {
                let next = other.mailbox.post(.ask(self, SocketCommand(moved.id, command.action), operation))
                if need != .turn { need = next }
            }
            return need
        }
        if need == .turn { other.requestTurn() }
    }

    // MARK: Reading and writing

    /// Queues a read and names it. When it is refused (no session, closing, or an argument that makes no sense)
    /// `didFail` says why.
    @discardableResult
    public func read(_ request: ReadRequest) -> OperationID {
        submit(.read(request)) {
            $0.queueAtOnce(request, of: $1, as: $2)
        }
    }

    /// Queues a write and names it. When it is refused (no session, closing, half-closed, no bytes) `didFail` says why.
    @discardableResult
    public func write(_ bytes: [UInt8], timeout: Duration? = nil, tag: Int = 0) -> OperationID {
        let request = WriteRequest(bytes, timeout: timeout, tag: tag)
        return submit(.write(request)) {
            $0.queueAtOnce(request, of: $1, as: $2)
        }
    }

    /// Queues a write of bytes that stay where they are, such as those of a large `Data`, and names it. `owner` is
    /// released once the write has completed or failed. Refused as `write(_:timeout:tag:)` is.
    @discardableResult
    public func write(
        contentsOf owner: any ContiguousBytesOwner, timeout: Duration? = nil, tag: Int = 0
    ) -> OperationID {
        let request = WriteRequest(contentsOf: owner, timeout: timeout, tag: tag)
        return submit(.write(request)) {
            $0.queueAtOnce(request, of: $1, as: $2)
        }
    }

    /// Ends operations before they complete: `didFail` with `cancelled`. What a read in hand had goes back to the stream,
    /// for the reads that follow; what has completed meanwhile stays completed; a write of which bytes were sent goes
    /// on.
    public func cancel(_ target: SocketCommand.CancelTarget) {
        ask(.cancel(target))
    }

    /// Gives the verdict on an operation that timed out; no effect when it is not waiting for one any more.
    public func answerTimeout(of operation: OperationID, _ verdict: TimeoutVerdict) {
        ask(.answerTimeout(operation, verdict))
    }

    /// Gives an operation, queued or in hand, another timeout (nil: none), counted from when it became the one in hand;
    /// one whose time is then up already times out at once. No effect on one that is asking or has ended.
    public func setTimeout(_ timeout: Duration?, of operation: OperationID) {
        ask(.setTimeout(operation, timeout))
    }

    /// Whether nothing is taken from the kernel for now. Set it to stop, or to go on; timeouts go on counting. `false`,
    /// and no effect, without a session.
    public var isReadingPaused: Bool {
        get { fact { $0?.machine.reading.isPausedByHand ?? false } }
        set { ask(.pauseReading(newValue)) }
    }

    // MARK: Closing

    /// Closes as the mode says. `now` closes at once and has closed when this returns; `didDisconnect` follows, queued
    /// operations fail, and what this thread queued before is tried first (GCDAsyncSocket: `disconnect`). The others return
    /// at once, and new operations are refused from then on (`disconnectAfterReading` and so on). No effect without a
    /// session.
    public func disconnect(_ mode: CloseMode = .now) {
        guard mode == .now else {
            ask(.close(mode))
            return
        }
        enter { state, session in
            if let session { state.perform(.close(session, .now)) }
        }
    }

    /// Sends FIN once every queued write is out; reading goes on. New writes are refused from now on.
    public func halfClose() {
        ask(.halfClose)
    }
}

extension AsyncSocket: CustomStringConvertible {
    /// One line for a person: session, ends, and what is queued.
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
