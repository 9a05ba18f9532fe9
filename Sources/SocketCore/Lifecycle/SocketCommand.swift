/// Everything that can be asked of a socket that exists. It is the one way in: calls on a handle, keys on a screen,
/// scripts and tests all become one of these, and run on the engine's queue in the order in which they were posted.
public enum SocketCommand: Hashable, Sendable {
    /// Queue a read.
    case read(SocketID, ReadRequest)
    /// Queue a write.
    case write(SocketID, WriteRequest)
    /// Queue one datagram; for a stream it has no effect. A `write` to a datagram socket is one to its connected peer, a
    /// `read` of what is available takes one datagram, or all when it is standing.
    case send(SocketID, DatagramRequest)
    /// Close, at once or when the named queues have emptied.
    case close(SocketID, CloseMode)
    /// Send FIN once every queued write is out; reading goes on. Later writes are refused.
    case halfClose(SocketID)
    /// Take no more bytes from the kernel (true), or take them again (false). Timeouts go on counting.
    case pauseReading(SocketID, Bool)
    /// Answer an operation that timed out. It has no effect when that operation is no longer asking.
    case answerTimeout(SocketID, OperationID, TimeoutVerdict)

    /// End queued operations before they complete. A write of which bytes were sent goes on.
    case cancel(SocketID, CancelTarget)
    /// Give the verdict on the peer's certificate, which `TLSTrust.question` names. It has no effect when that question
    /// is not open any more.
    case answerTrust(SocketID, OperationID, TrustVerdict)
    /// Give an operation, queued or in hand, another timeout (nil: none), counted from when it became the one in hand;
    /// one whose time is then up already times out at once. No effect on an operation that is asking or not here.
    case setTimeout(SocketID, OperationID, Duration?)
    /// Set the marks of the write queue (nil: none). They are compared with what is queued at once.
    case setWatermarks(SocketID, Watermarks?)
    /// Of a listener: take or refuse the connection that has waited longest, whether accepting is paused or not. No
    /// effect when none waits.
    case answerConnection(SocketID, ConnectionVerdict)

    /// Of a WebSocket: send something. No effect on any other socket.
    case webSocket(SocketID, WebSocketCommand)

    /// What becomes of a connection that waits at a listener.
    public enum ConnectionVerdict: Hashable, Sendable {
        /// It is accepted, as the listener would have done by itself.
        case take
        /// It is ended with RST, and nobody is told of it but by an event.
        case refuse
    }

    /// Which operations to cancel.
    public enum CancelTarget: Hashable, Sendable {
        /// This one, if it is still queued or in hand.
        case operation(OperationID)
        /// Every read.
        case reads
        /// Every write.
        case writes
    }

    /// The session that this command is for.
    public var socket: SocketID {
        switch self {
        case .read(let id, _), .write(let id, _), .send(let id, _), .close(let id, _), .halfClose(let id),
            .pauseReading(let id, _),
            .answerTimeout(let id, _, _), .cancel(let id, _), .answerTrust(let id, _, _), .setTimeout(let id, _, _),
            .setWatermarks(let id, _), .answerConnection(let id, _), .webSocket(let id, _):
            id
        }
    }
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
    /// The answer comes later, by `SocketCommand.answerTimeout`; until then the operation is paused.
    case later
}
