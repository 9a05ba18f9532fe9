import Foundation
import SocketKit

/// Translates the engine's callbacks into upstream's delegate methods. Each delegate gets a new instance, so that a
/// callback needs no lock.
final class StreamCallbacks: AsyncSocketDelegate {
    private let session: UnretainedReference<StreamSession>
    private let owner: UnretainedReference<GCDAsyncSocket>
    let delegate: WeakDelegate
    private let buffers: ReadBuffers

    init(
        of session: StreamSession, _ owner: GCDAsyncSocket?, to delegate: (any GCDAsyncSocketDelegate)?,
        filling buffers: ReadBuffers
    ) {
        self.session = UnretainedReference(session)
        self.owner = UnretainedReference(owner)
        self.delegate = WeakDelegate(delegate)
        self.buffers = buffers
    }

    /// Calls the delegate, if there is one.
    @inline(__always) private func tell(_ call: (any GCDAsyncSocketDelegate, GCDAsyncSocket) -> Void) {
        guard let delegate = delegate.object, let owner = owner.reference else { return }
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
        buffers.take(operation)?.fill(bytes)
        tell { delegate, owner in
            PassingData.pass(bytes, of: socket) { delegate.socket(owner, didRead: $0, withTag: tag) }
        }
    }

    func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, tag: Int) {
        tell { $0.socket($1, didReadPartialDataOfLength: UInt(count), tag: tag) }
    }

    func socket(_ socket: AsyncSocket, didWrite operation: OperationID, tag: Int) {
        tell { $0.socket($1, didWriteDataWithTag: tag) }
    }

    func socket(_ socket: AsyncSocket, didWritePartialOf count: Int, tag: Int) {
        tell { $0.socket($1, didWritePartialDataOfLength: UInt(count), tag: tag) }
    }

    /// Upstream reports no failed operation. The disconnect callback has the reason.
    func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) {
        _ = buffers.take(operation.operation)
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
        if let session = session.reference { owner.reference?.ended(session) }
        tell { $0.socketDidDisconnect($1, withError: error.map { NSError.stream($0) }) }
    }
}
