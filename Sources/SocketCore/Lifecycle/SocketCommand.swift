/// An action on one socket. It is the one way in: calls on a handle, keys on a screen, scripts and tests all become one
/// of these, and run on the engine's queue in the order in which they were posted.
public struct SocketCommand: Hashable, Sendable {
    /// The session that it is for.
    public var socket: SocketID
    /// What to do.
    public var action: Action

    /// A command for a session; nothing is checked before the engine carries it out.
    public init(_ socket: SocketID, _ action: Action) {
        self.socket = socket
        self.action = action
    }

    /// Everything that can be asked of a socket that exists. Its word, the sockets that take it and its form on the wire
    /// are in the table of `InspectionCommand`.
    public enum Action: Hashable, Sendable {
        /// Queue a read.
        case read(ReadRequest)
        /// Queue a write.
        case write(WriteRequest)
        /// Queue one datagram; for a stream it has no effect. A `write` to a datagram socket is one to its connected peer,
        /// a `read` of what is available takes one datagram, or all when it is standing.
        case send(DatagramRequest)
        /// Close, at once or when the named queues have emptied.
        case close(CloseMode)
        /// Send FIN once every queued write is out; reading goes on. Later writes are refused.
        case halfClose
        /// Take no more bytes from the kernel (true), or take them again (false). Timeouts go on counting.
        case pauseReading(Bool)
        /// Answer an operation that timed out. It has no effect when that operation is no longer asking.
        case answerTimeout(OperationID, TimeoutVerdict)
        /// End queued operations before they complete. A write of which bytes were sent goes on.
        case cancel(CancelTarget)
        /// Give the verdict on the peer's certificate, which `TLSTrust.question` names. It has no effect when that
        /// question is no longer open.
        case answerTrust(OperationID, TrustVerdict)
        /// Give an operation, queued or current, another timeout (nil: none), counted from when it became the current one;
        /// one whose time is then up already times out at once. No effect on an operation that is asking or not here.
        case setTimeout(OperationID, Duration?)
        /// Set the marks of the write queue (nil: none). They are compared with what is queued at once.
        case setWatermarks(Watermarks?)
        /// Of a listener: accept or refuse the connection that has waited longest, whether accepting is paused or not. No
        /// effect when none waits.
        case answerConnection(ConnectionVerdict)
        /// Of a WebSocket: send something. No effect on any other socket.
        case webSocket(WebSocketCommand)
    }

    /// What becomes of a connection that waits at a listener.
    public enum ConnectionVerdict: Hashable, Sendable {
        /// It is accepted, as the listener would have done automatically.
        case accept
        /// It is ended with RST, and nobody is notified except by an event.
        case refuse
    }

    /// Which operations to cancel.
    public enum CancelTarget: Hashable, Sendable {
        /// This one, if it is still queued or current.
        case operation(OperationID)
        /// Every read.
        case reads
        /// Every write.
        case writes
    }
}

/// Each action as a command for a session; an action says what it does.
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
public enum CloseMode: String, Hashable, Sendable, Codable, CaseIterable {
    /// At once. Queued operations fail with `disconnected` (GCDAsyncSocket: `disconnect`).
    case now
    /// When no read is queued any more (`disconnectAfterReading`).
    case afterReading
    /// When no write is queued any more (`disconnectAfterWriting`).
    case afterWriting
    /// When neither is (`disconnectAfterReadingAndWriting`).
    case afterBoth
    /// At once, with RST instead of FIN: what the kernel still holds is thrown away.
    case reset
}

/// What becomes of an operation that timed out.
public enum TimeoutVerdict: Hashable, Sendable {
    /// It goes on for so much longer; must be more than zero, else it counts as `close`.
    case extend(by: Duration)
    /// It fails, with the bytes it had; the connection stays.
    case failOperation
    /// It fails, and the connection closes with the timeout as its error. The default.
    case close
    /// The answer comes later, by `SocketCommand.Action.answerTimeout`; until then the operation is paused.
    case later
}
