/// An action on one socket. Commands are the only way in: calls on a handle, keys on a screen, scripts and tests all
/// become commands, which run on the engine's queue in the order in which they were posted.
public struct SocketCommand: Hashable, Sendable {
    /// The session to act on.
    public var socket: SocketID
    /// The action to perform.
    public var action: Action

    /// Creates a command for a session. Nothing is checked until the engine runs it.
    public init(_ socket: SocketID, _ action: Action) {
        self.socket = socket
        self.action = action
    }

    /// Everything that a command can do to an existing socket. The table of `InspectionCommand` has each action's word,
    /// the sockets that accept it and its form on the wire.
    public enum Action: Hashable, Sendable {
        /// Queue a read.
        case read(ReadRequest)
        /// Queue a write.
        case write(WriteRequest)
        /// Queue one datagram. Has no effect on a stream. On a datagram socket, a `write` sends to the connected peer,
        /// and a `read` of what is available takes one datagram, or all of them if it is standing.
        case send(DatagramRequest)
        /// Close, at once or when the named queues are empty.
        case close(CloseMode)
        /// Send FIN once every queued write has been sent, and keep reading. Later writes are rejected.
        case halfClose
        /// Pause (`true`) or resume (`false`) reading from the kernel. Timeouts keep running.
        case pauseReading(Bool)
        /// Answer an operation that timed out. Has no effect if that operation no longer waits for a verdict.
        case answerTimeout(OperationID, TimeoutVerdict)
        /// Cancel queued operations. A write of which bytes were sent continues.
        case cancel(CancelTarget)
        /// Give the verdict on the peer's certificate, which `TLSTrust.question` identifies. Has no effect if that
        /// question is no longer open.
        case answerTrust(OperationID, TrustVerdict)
        /// Change the timeout of a queued or current operation; `nil` removes it. The timeout counts from when the
        /// operation became current, so it can expire at once. Has no effect if the operation waits for a verdict or
        /// has ended.
        case setTimeout(OperationID, Duration?)
        /// Set the watermarks of the write queue, or remove them with `nil`. They are compared with the queue at once.
        case setWatermarks(Watermarks?)
        /// For a listener, accept or refuse the connection that has waited longest, whether accepting is paused or not.
        /// Has no effect if none waits.
        case answerConnection(ConnectionVerdict)
        /// For a WebSocket, send something. Has no effect on any other socket.
        case webSocket(WebSocketCommand)
    }

    /// The verdict on a connection that waits at a listener.
    public enum ConnectionVerdict: Hashable, Sendable {
        /// Accept it, as the listener would have done automatically.
        case accept
        /// End it with RST. Only an event reports this.
        case refuse
    }

    /// Which operations to cancel.
    public enum CancelTarget: Hashable, Sendable {
        /// This operation, if it is still queued or current.
        case operation(OperationID)
        /// Every read.
        case reads
        /// Every write.
        case writes
    }
}

/// Each action as a command for a session. The documentation is that of the action.
extension SocketCommand {
    /// `Action.read(_:)`
    public static func read(_ id: SocketID, _ request: ReadRequest) -> Self { Self(id, .read(request)) }
    /// `Action.write(_:)`
    public static func write(_ id: SocketID, _ request: WriteRequest) -> Self { Self(id, .write(request)) }
    /// `Action.send(_:)`
    public static func send(_ id: SocketID, _ request: DatagramRequest) -> Self { Self(id, .send(request)) }
    /// `Action.close(_:)`
    public static func close(_ id: SocketID, _ mode: CloseMode) -> Self { Self(id, .close(mode)) }
    /// `Action.halfClose`
    public static func halfClose(_ id: SocketID) -> Self { Self(id, .halfClose) }
    /// `Action.pauseReading(_:)`
    public static func pauseReading(_ id: SocketID, _ pause: Bool) -> Self { Self(id, .pauseReading(pause)) }
    /// `Action.answerTimeout(_:_:)`
    public static func answerTimeout(_ id: SocketID, _ operation: OperationID, _ verdict: TimeoutVerdict) -> Self {
        Self(id, .answerTimeout(operation, verdict))
    }
    /// `Action.cancel(_:)`
    public static func cancel(_ id: SocketID, _ target: CancelTarget) -> Self { Self(id, .cancel(target)) }
    /// `Action.answerTrust(_:_:)`
    public static func answerTrust(_ id: SocketID, _ question: OperationID, _ verdict: TrustVerdict) -> Self {
        Self(id, .answerTrust(question, verdict))
    }
    /// `Action.setTimeout(_:_:)`
    public static func setTimeout(_ id: SocketID, _ operation: OperationID, _ timeout: Duration?) -> Self {
        Self(id, .setTimeout(operation, timeout))
    }
    /// `Action.setWatermarks(_:)`
    public static func setWatermarks(_ id: SocketID, _ marks: Watermarks?) -> Self { Self(id, .setWatermarks(marks)) }
    /// `Action.answerConnection(_:)`
    public static func answerConnection(_ id: SocketID, _ verdict: ConnectionVerdict) -> Self {
        Self(id, .answerConnection(verdict))
    }
    /// `Action.webSocket(_:)`
    public static func webSocket(_ id: SocketID, _ command: WebSocketCommand) -> Self { Self(id, .webSocket(command)) }
}

/// When and how to close a connection.
public enum CloseMode: String, Hashable, Sendable, CaseIterable {
    /// At once. Queued operations fail with `disconnected` (GCDAsyncSocket: `disconnect`).
    case now
    /// When no read is left in the queue (`disconnectAfterReading`).
    case afterReading
    /// When no write is left in the queue (`disconnectAfterWriting`).
    case afterWriting
    /// When both queues are empty (`disconnectAfterReadingAndWriting`).
    case afterBoth
    /// At once, with RST instead of FIN. Bytes still in the kernel are discarded.
    case reset
}

/// The verdict on an operation that timed out.
public enum TimeoutVerdict: Hashable, Sendable {
    /// It continues for this much longer. A duration that is not more than zero counts as `close`.
    case extend(by: Duration)
    /// It fails with the bytes it had, and the connection stays open.
    case failOperation
    /// It fails, and the connection closes with the timeout as its error. This is the default.
    case close
    /// The verdict comes later, in `SocketCommand.Action.answerTimeout`. Until then the operation is paused.
    case later
}
