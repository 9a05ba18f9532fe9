import SocketCore

/// The delegate of an `AsyncSocket`.
///
/// All methods are optional. They are called on the delegate queue or, without one, on the engine's queue at the end of
/// its turn, where they must not block. In every callback you can read the socket's addresses and TLS state, even if
/// the session has already ended; `closeRecord` says how it ended.
///
/// Within a session, `didConnectTo` comes first. Reads complete in the order they were queued, and so do writes, but
/// reads and writes have no order between them. All partial reports of an operation come before its completion. Every
/// operation ends in exactly one completion: `didRead`, `didWrite` or `didFail`. `didDisconnect` comes last, when the
/// descriptor is closed.
///
/// An operation that was queued by an `await` completes in the awaiting task only. All other calls come to the
/// delegate, whether or not a task also waits for them.
public protocol AsyncSocketDelegate: AnyObject, Sendable {
    /// Called when the connection is established. Not called for accepted connections.
    func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress)
    /// Called when a read completes.
    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int)
    /// Called when a read completes, with its identifier from `read(_:)`. Calls `socket(_:didRead:tag:)` by default.
    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], operation: OperationID, tag: Int)
    /// Called when a standing read that lends its bytes (`ReadRequest.borrowing(limit:timeout:tag:)`) receives some.
    /// `bytes` is valid only until this returns. Without a delegate queue nothing is copied and the engine is still in
    /// its turn, so do as little as possible. On another queue the bytes are a copy. Calls `didRead` with a copy by
    /// default.
    func socket(_ socket: AsyncSocket, didBorrow bytes: RawSpan, tag: Int)
    /// Called when a length or delimiter read receives `count` more bytes but isn't complete. Not called for the pass
    /// that completes it, nor for standing reads.
    func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, tag: Int)
    /// Called when a read makes partial progress, with its identifier from `read(_:)`. Calls
    /// `socket(_:didReadPartialOf:tag:)` by default.
    func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, operation: OperationID, tag: Int)
    /// Called when the kernel has accepted every byte of a write. The peer may not have received them yet.
    func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int)
    /// Called when a write completes, with its identifier from `write(_:timeout:tag:)`. Calls
    /// `socket(_:didWriteWithTag:)` by default.
    func socket(_ socket: AsyncSocket, didWrite operation: OperationID, tag: Int)
    /// Called when the kernel has accepted `count` more bytes of a write, but not its last. Not called for the pass
    /// that completes it.
    func socket(_ socket: AsyncSocket, didWritePartialOf count: Int, tag: Int)
    /// Called when a write makes partial progress, with its identifier from `write(_:timeout:tag:)`. Calls
    /// `socket(_:didWritePartialOf:tag:)` by default.
    func socket(_ socket: AsyncSocket, didWritePartialOf count: Int, operation: OperationID, tag: Int)
    /// Called when an operation ends without completing.
    func socket(_ socket: AsyncSocket, didFail operation: FailedOperation)
    /// Called when an operation times out. The operation stays paused until it gets a verdict: return one, or return
    /// `.later` and call `answerTimeout(of:_:)`. Returns `SocketConfiguration.timeoutVerdict` by default.
    func socket(_ socket: AsyncSocket, didTimeOut operation: TimedOutOperation) -> TimeoutVerdict
    /// Called when the peer has ended its stream, all of it has been delivered, and the connection stays open for
    /// writing. Called only if `SocketConfiguration.allowsHalfOpen` is set, at most once a session.
    func socketDidCloseReadStream(_ socket: AsyncSocket)
    /// Called when the peer has sent FIN but no read has taken the bytes before it, at most once a session. The end
    /// itself is reported once those bytes are read.
    func socketPeerDidClose(_ socket: AsyncSocket)
    /// Called when the bytes queued for writing rise above the high watermark (`false`) or fall to the low one again
    /// (`true`). Called only if `SocketConfiguration.writeWatermarks` is set.
    func socket(_ socket: AsyncSocket, didBecomeWritable isWritable: Bool)
    /// Called when TLS is set up. Everything that completes from now on was sent encrypted. GCDAsyncSocket:
    /// `socketDidSecure:`.
    func socketDidSecure(_ socket: AsyncSocket)
    /// Called when `TLSSettings.trustEvaluator` leaves the peer's certificate to the delegate. The handshake and its
    /// timeout pause until the verdict. After returning `.later`, call `answerTrust(of:_:)` once, from any thread; it
    /// has no effect after the session ends. By default, the connection closes with `other`. GCDAsyncSocket:
    /// `socket:didReceiveTrust:completionHandler:`.
    func socket(_ socket: AsyncSocket, didReceive trust: TLSTrust) -> TrustVerdict
    /// Called before `didDisconnect` when the session ends with an error. `unread` holds bytes that arrived but reached
    /// no read, including up to 1 MiB from the kernel. The current read's bytes are in its `didFail`.
    func socket(_ socket: AsyncSocket, willDisconnect error: SocketError, unread: [UInt8])
    /// Called when the session has ended. `error` is `nil` if the local side closed it. The socket can connect again at
    /// once.
    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?)
}

extension AsyncSocketDelegate {
    /// Does nothing.
    public func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) {}
    /// Does nothing.
    public func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {}
    /// Calls the method without the identifier.
    public func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], operation: OperationID, tag: Int) {
        self.socket(socket, didRead: bytes, tag: tag)
    }
    /// Calls the method without the identifier.
    public func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, operation: OperationID, tag: Int) {
        self.socket(socket, didReadPartialOf: count, tag: tag)
    }
    /// Calls the method without the identifier.
    public func socket(_ socket: AsyncSocket, didWrite operation: OperationID, tag: Int) {
        self.socket(socket, didWriteWithTag: tag)
    }
    /// Calls the method without the identifier.
    public func socket(_ socket: AsyncSocket, didWritePartialOf count: Int, operation: OperationID, tag: Int) {
        self.socket(socket, didWritePartialOf: count, tag: tag)
    }
    /// Calls `didRead` with a copy of the bytes.
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
    /// Returns the configuration's `timeoutVerdict`, which defaults to `close`.
    public func socket(_ socket: AsyncSocket, didTimeOut operation: TimedOutOperation) -> TimeoutVerdict {
        socket.configuration.timeoutVerdict
    }
    /// Does nothing.
    public func socketDidSecure(_ socket: AsyncSocket) {}
    /// Returns `unhandled`, which closes the connection.
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

/// The delegate of a `SocketListener`. Its methods are called on the same queues as those of `AsyncSocketDelegate`.
public protocol SocketListenerDelegate: AnyObject, Sendable {
    /// Called when a connection is accepted. It closes at once unless you retain `socket`, which has no delegate yet
    /// and uses the listener's delegate queue. Set its delegate here, and it misses no callback.
    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket)
    /// Called before `didAccept`. Returns the engine to which the connection moves as soon as `didAccept` returns, or
    /// `nil` if it stays on the listener's. GCDAsyncSocket: `newSocketQueueForConnectionFromAddress:onSocket:`.
    func listener(_ listener: SocketListener, engineFor address: SocketAddress) -> SocketEngine?
    /// Called when the listener has closed. `error` is `nil` if the local side closed it.
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
    /// Sent to a cancelled task only, whose write continues without it.
    indirect case givenUp(FailedOperation)
    indirect case timedOut(TimedOutOperation)
    case closedReadStream
    case peerClosed
    case writable(Bool, of: SocketID)
    case secured(of: SocketID)
    indirect case trust(TLSTrust)
    case disconnecting(SocketError, unread: [UInt8])
    case disconnected(SocketError?, of: SocketID)

    /// Returns the same notice with another identifier for its session.
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
