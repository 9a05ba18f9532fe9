import Foundation
import SocketKit

/// One connection of a GCDAsyncSocket: it turns what its engine's socket tells into what upstream's delegate hears.
///
/// A connection that was disconnected keeps the delegate that it had then, and the GCDAsyncSocket goes on without it: what
/// is set there later concerns the next one.
final class StreamSession: AsyncSocketDelegate {
    /// The engine's socket.
    let socket: AsyncSocket
    private let state: Lock<State>

    private struct State {
        weak var owner: GCDAsyncSocket?
        var delegate = WeakDelegate()
        /// Nobody is called without a queue.
        var isMute = true
        var buffers: [OperationID: ReadBuffer] = [:]

        /// Who calls whom. It changes nothing: a getter that might not would copy the weak reference to look at it.
        var target: (GCDAsyncSocket?, (any GCDAsyncSocketDelegate)?) {
            mutating get { (owner, isMute ? nil : delegate.object) }
        }
    }

    init(_ socket: AsyncSocket, owner: GCDAsyncSocket) {
        self.socket = socket
        state = Lock(State(owner: owner))
        socket.delegate = self
    }

    /// Sets whom its callbacks go to, and where.
    func setDelegate(_ delegate: WeakDelegate, on queue: DispatchQueue?) {
        state.withLock { ($0.delegate, $0.isMute) = (delegate, queue == nil) }
        socket.delegateQueue = queue
    }

    // MARK: Reading

    /// Queues a read whose bytes go to a buffer. Its name is known before its completion can look for it.
    func read(_ request: ReadRequest, into buffer: ReadBuffer) {
        state.withLock { state in
            state.buffers[socket.read(request)] = buffer
        }
    }

    // MARK: Callbacks

    /// Calls the delegate, if there is one, and a queue to call it on.
    @inline(__always) private func tell(_ call: (any GCDAsyncSocketDelegate, GCDAsyncSocket) -> Void) {
        let (owner, delegate) = state.withLock { Unchecked($0.target) }.value
        guard let owner, let delegate else { return }
        call(delegate, owner)
    }

    func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) {
        tell { delegate, owner in
            if let path = address.path {
                delegate.socket(owner, didConnectTo: URL(fileURLWithPath: path))
            } else if let host = address.plainHost {
                delegate.socket(owner, didConnectToHost: host, port: address.port ?? 0)
            }
        }
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], operation: OperationID, tag: Int) {
        let (buffer, (owner, delegate)) = state.withLock { state in
            Unchecked((state.buffers.isEmpty ? nil : state.buffers.removeValue(forKey: operation), state.target))
        }.value
        buffer?.fill(bytes)
        if let owner, let delegate { delegate.socket(owner, didRead: Data(handingOver: bytes), withTag: tag) }
    }

    func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, tag: Int) {
        tell { $0.socket($1, didReadPartialDataOfLength: UInt(count), tag: tag) }
    }

    func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int) {
        let (owner, delegate) = state.withLock { Unchecked($0.target) }.value
        if let owner, let delegate { delegate.socket(owner, didWriteDataWithTag: tag) }
    }

    func socket(_ socket: AsyncSocket, didWritePartialOf count: Int, tag: Int) {
        tell { $0.socket($1, didWritePartialDataOfLength: UInt(count), tag: tag) }
    }

    /// Upstream says nothing of an operation that fails; the end of the connection says why.
    func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) {
        state.withLock { if !$0.buffers.isEmpty { $0.buffers[operation.operation] = nil } }
    }

    func socket(_ socket: AsyncSocket, didTimeOut operation: TimedOutOperation) -> TimeoutVerdict {
        var more: TimeInterval = 0
        let (elapsed, done) = (operation.elapsed.seconds, UInt(operation.done))
        tell { delegate, owner in
            more =
                switch operation.kind {
                case .read:
                    delegate.socket(
                        owner, shouldTimeoutReadWithTag: operation.tag, elapsed: elapsed, bytesDone: done)
                case .write:
                    delegate.socket(
                        owner, shouldTimeoutWriteWithTag: operation.tag, elapsed: elapsed, bytesDone: done)
                }
        }
        return more > 0 ? .extend(by: Duration(timeout: more) ?? .seconds(3_155_760_000)) : .close
    }

    func socketDidCloseReadStream(_ socket: AsyncSocket) {
        tell { $0.socketDidCloseReadStream($1) }
    }

    func socketDidSecure(_ socket: AsyncSocket) {
        tell { $0.socketDidSecure($1) }
    }

    func socket(_ socket: AsyncSocket, didReceive trust: TLSTrust) -> TrustVerdict {
        let evaluated = SecTrust(trust)
        var isAsked = false
        tell { delegate, owner in
            isAsked = true
            delegate.socket(owner, didReceive: evaluated) { isTrusted in
                socket.answerTrust(of: trust.question, isTrusted ? .accept : .refuse)
            }
        }
        return isAsked && !evaluated.hasNoEvaluator ? .later : .unhandled
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        state.withLock { $0.owner }?.ended(self)
        tell { $0.socketDidDisconnect($1, withError: error.map { NSError.stream($0) }) }
    }
}
