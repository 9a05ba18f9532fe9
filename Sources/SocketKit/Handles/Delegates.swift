import SocketCore

/// What a socket tells.
///
/// All methods are optional. They are called on the delegate queue, or, when there is none, on the engine's queue at
/// the end of its turn; then they must not block. The order of one session: `didConnectTo` first; reads complete in the
/// order in which they were queued, and so do writes, with no order between the two; all partial reports of an
/// operation come before its completion; every operation ends in exactly one completion, `didRead`, `didWrite` or
/// `didFail`; `didDisconnect` is last, and comes when the descriptor is closed. In every callback the socket's addresses
/// and TLS can be read, also when the session is over by then; `closeRecord` says how it ended.
///
/// Completions of operations that were queued by an `await` go to the one who awaits them and to nobody else; all other
/// calls come here, whoever else waits for them.
public protocol AsyncSocketDelegate: AnyObject, Sendable {
    /// The connection stands. Not called for accepted connections.
    func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress)
    /// A read completed.
    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int)
    /// The same with the name that `read(_:)` gave it. Where this is not implemented, `socket(_:didRead:tag:)` is called.
    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], operation: OperationID, tag: Int)
    /// A standing read that lends its bytes (`ReadRequest.borrowing(limit:timeout:tag:)`) got some. They may be looked
    /// at until this returns, and are gone then. Without a delegate queue nothing is copied, and this is called while
    /// the engine is still at its turn, so the less it does the better; on another queue they are those of a copy. Not
    /// implementing it means `didRead` with a copy.
    func socket(_ socket: AsyncSocket, didBorrow bytes: RawSpan, tag: Int)
    /// A length or delimiter read got `count` more bytes but is not done. Not called for the pass that completes it,
    /// nor for standing reads.
    func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, tag: Int)
    /// The same with the name that `read(_:)` gave it. Where this is not implemented, the one without is called.
    func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, operation: OperationID, tag: Int)
    /// A write is wholly with the kernel, which does not mean that the peer has it.
    func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int)
    /// The same with the name that `write(_:timeout:tag:)` gave it. Where this is not implemented, the one without is
    /// called.
    func socket(_ socket: AsyncSocket, didWrite operation: OperationID, tag: Int)
    /// The kernel took `count` more bytes of a write, but not its last. Not called for the pass that completes it.
    func socket(_ socket: AsyncSocket, didWritePartialOf count: Int, tag: Int)
    /// The same with the name that `write(_:timeout:tag:)` gave it. Where this is not implemented, the one without is
    /// called.
    func socket(_ socket: AsyncSocket, didWritePartialOf count: Int, operation: OperationID, tag: Int)
    /// An operation ended without completing.
    func socket(_ socket: AsyncSocket, didFail operation: FailedOperation)
    /// An operation's time is up; it is paused until there is a verdict. A delegate without this method gives
    /// `SocketConfiguration.timeoutVerdict`. After `.later`, `answerTimeout(of:_:)` gives the verdict.
    func socket(_ socket: AsyncSocket, didTimeOut operation: TimedOutOperation) -> TimeoutVerdict
    /// The peer ended its stream, all of it was delivered, and the connection stays open for writing. Only where
    /// `SocketConfiguration.allowsHalfOpen` is set; at most once a session.
    func socketDidCloseReadStream(_ socket: AsyncSocket)
    /// The peer sent FIN, but bytes before it are not read yet, since no read wants them. At most once a session; the
    /// end itself is told once they are read.
    func socketPeerDidClose(_ socket: AsyncSocket)
    /// The bytes queued for writing rose above the high watermark (false), or fell to the low one again (true). Only
    /// where `SocketConfiguration.writeWatermarks` is set.
    func socket(_ socket: AsyncSocket, didBecomeWritable isWritable: Bool)
    /// TLS is set up: whatever completes from now on passed encrypted. GCDAsyncSocket: `socketDidSecure:`.
    func socketDidSecure(_ socket: AsyncSocket)
    /// The peer's certificate is to be judged, as `TLSSettings.trustEvaluator` wants it. The handshake waits, and its timeout
    /// does too. After `.later`, `answerTrust(of:_:)` gives the verdict, once, from any thread; after the end of the
    /// session it has no effect. Not implementing it closes the connection with `other`. GCDAsyncSocket:
    /// `socket:didReceiveTrust:completionHandler:`.
    func socket(_ socket: AsyncSocket, didReceive trust: TLSTrust) -> TrustVerdict
    /// The session is about to end in an error; `didDisconnect` follows. `unread` is what had arrived and was delivered
    /// to no read, up to 1 MiB of what the kernel held included; what a read in hand had is in its `didFail`.
    func socket(_ socket: AsyncSocket, willDisconnect error: SocketError, unread: [UInt8])
    /// The session is over. `error` is nil when this side asked for it. The socket may connect again at once.
    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?)
}

extension AsyncSocketDelegate {
    /// Does nothing.
    public func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) {}
    /// Does nothing.
    public func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {}
    /// Calls the one without the operation's name.
    public func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], operation: OperationID, tag: Int) {
        self.socket(socket, didRead: bytes, tag: tag)
    }
    /// Calls the one without the operation's name.
    public func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, operation: OperationID, tag: Int) {
        self.socket(socket, didReadPartialOf: count, tag: tag)
    }
    /// Calls the one without the operation's name.
    public func socket(_ socket: AsyncSocket, didWrite operation: OperationID, tag: Int) {
        self.socket(socket, didWriteWithTag: tag)
    }
    /// Calls the one without the operation's name.
    public func socket(_ socket: AsyncSocket, didWritePartialOf count: Int, operation: OperationID, tag: Int) {
        self.socket(socket, didWritePartialOf: count, tag: tag)
    }
    /// Copies them for `didRead`.
    public func socket(_ socket: AsyncSocket, didBorrow bytes: RawSpan, tag: Int) {
        self.socket(socket, didRead: bytes.withUnsafeBytes { [UInt8]($0) }, tag: tag)
    }
    /// Does nothing.
    public func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, tag: Int) {}
    /// Does nothing.
    public func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int) {}
    /// Does nothing.
    public func socket(_ socket: AsyncSocket, didWritePartialOf count: Int, tag: Int) {}
    /// Does nothing.
    public func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) {}
    /// Gives the verdict of the configuration, which is to close unless it was changed.
    public func socket(_ socket: AsyncSocket, didTimeOut operation: TimedOutOperation) -> TimeoutVerdict {
        socket.configuration.timeoutVerdict
    }
    /// Does nothing.
    public func socketDidSecure(_ socket: AsyncSocket) {}
    /// Says that nobody judges, which closes the connection.
    public func socket(_ socket: AsyncSocket, didReceive trust: TLSTrust) -> TrustVerdict { .unhandled }
    /// Does nothing.
    public func socketPeerDidClose(_ socket: AsyncSocket) {}
    /// Does nothing.
    public func socket(_ socket: AsyncSocket, didBecomeWritable isWritable: Bool) {}
    /// Does nothing.
    public func socket(_ socket: AsyncSocket, willDisconnect error: SocketError, unread: [UInt8]) {}
    /// Does nothing.
    public func socketDidCloseReadStream(_ socket: AsyncSocket) {}
    /// Does nothing.
    public func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {}
}

/// What a listener tells, on the queues that `AsyncSocketDelegate` names.
public protocol SocketListenerDelegate: AnyObject, Sendable {
    /// A connection was taken. It closes at once when nobody keeps `socket`. It has no delegate yet, and the listener's
    /// delegate queue; set its delegate here, and no callback of it is missed.
    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket)
    /// Called before `didAccept`: the engine to which the connection moves as soon as `didAccept` returns; nil: it stays
    /// on the listener's.
    /// GCDAsyncSocket: `newSocketQueueForConnectionFromAddress:onSocket:`.
    func listener(_ listener: SocketListener, engineFor address: SocketAddress) -> SocketEngine?
    /// The listener is closed. `error` is nil when this side asked for it.
    func listener(_ listener: SocketListener, didStop error: SocketError?)
}

extension SocketListenerDelegate {
    /// Leaves the connection on the listener's engine.
    public func listener(_ listener: SocketListener, engineFor address: SocketAddress) -> SocketEngine? { nil }
    /// Does nothing.
    public func listener(_ listener: SocketListener, didStop error: SocketError?) {}
}

/// One call of an `AsyncSocketDelegate`.
enum SocketNotice: Sendable {
    indirect case connected(SocketAddress, of: SocketID)
    case read(OperationID, tag: Int, bytes: [UInt8], lends: Bool)
    case readPartial(OperationID, tag: Int, increment: Int)
    case wrote(OperationID, tag: Int)
    case wrotePartial(OperationID, tag: Int, increment: Int)
    indirect case failed(FailedOperation)
    /// To a cancelled task alone: its write goes on without it.
    indirect case givenUp(FailedOperation)
    indirect case timedOut(TimedOutOperation)
    case closedReadStream
    case peerClosed
    case writable(Bool, of: SocketID)
    case secured(of: SocketID)
    indirect case trust(TLSTrust)
    case disconnecting(SocketError, unread: [UInt8])
    case disconnected(SocketError?, of: SocketID)

    /// The same with another name of its session.
    func renamed(_ name: (SocketID) -> SocketID) -> SocketNotice {
        switch self {
        case .connected(let address, let session): .connected(address, of: name(session))
        case .writable(let isWritable, let session): .writable(isWritable, of: name(session))
        case .secured(let session): .secured(of: name(session))
        case .disconnected(let error, let session): .disconnected(error, of: name(session))
        case .read, .readPartial, .wrote, .wrotePartial, .failed, .givenUp, .timedOut, .closedReadStream, .peerClosed,
            .trust, .disconnecting:
            self
        }
    }
}

/// One call of a `SocketListenerDelegate`.
enum ListenerNotice: WeighedNotice {
    case accepted(AsyncSocket, from: SocketAddress)
    indirect case stopped(SocketError?, of: SocketID)

    var weight: Int {
        switch self {
        case .accepted: BackPressure.connectionWeight
        case .stopped: BackPressure.boxedWeight
        }
    }
}
