import Foundation
import SocketKit

/// One listening session of a GCDAsyncSocket.
final class ListenerSession: SocketListenerDelegate {
    let listener: SocketListener
    private let state: Lock<State>

    private struct State: ~Copyable {
        weak var owner: GCDAsyncSocket?
        var delegate = WeakDelegate()
        var queue: DispatchQueue?
        /// The socket queue that the delegate chose for the next connection to be reported.
        var nextQueue: DispatchQueue?
    }

    init(_ listener: SocketListener, owner: GCDAsyncSocket) {
        self.listener = listener
        state = Lock(State(owner: owner))
        listener.delegate = self
    }

    /// Sets the delegate and its queue.
    func setDelegate(_ delegate: (any GCDAsyncSocketDelegate)?, on queue: DispatchQueue?) {
        state.replace(with: WeakDelegate(delegate)) { state, delegate in
            swap(&state.delegate, &delegate)
            state.queue = queue
        }
        listener.delegateQueue = queue
    }

    /// The objects that a callback needs, or `nil` without a delegate or a queue to call it on.
    private var target: (owner: GCDAsyncSocket, delegate: any GCDAsyncSocketDelegate, queue: DispatchQueue)? {
        let (owner, delegate, queue) = state.withLock { Unchecked(($0.owner, $0.delegate.object, $0.queue)) }.value
        guard let owner, let delegate, let queue else { return nil }
        return (owner, delegate, queue)
    }

    /// Stores the delegate's choice and returns `nil`. The connection moves in `didAccept`, because its delegate must
    /// be set first.
    func listener(_ listener: SocketListener, engineFor address: SocketAddress) -> SocketEngine? {
        let chosen = target.flatMap { target in
            target.delegate.newSocketQueueForConnection(fromAddress: address.data, on: target.owner)
        }
        state.withLock { $0.nextQueue = chosen }
        return nil
    }

    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        let queue = state.withLock { $0.nextQueue.take() }
        // Without a delegate the connection closes, because nothing retains it.
        guard let target else { return }
        let accepted = GCDAsyncSocket(
            accepted: socket, delegate: target.delegate, delegateQueue: target.queue, socketQueue: queue)
        target.delegate.socket(target.owner, didAcceptNewSocket: accepted)
    }

    func listener(_ listener: SocketListener, didStop error: SocketError?) {
        let target = target
        state.withLock { $0.owner }?.ended(self)
        guard let target else { return }
        target.delegate.socketDidDisconnect(target.owner, withError: error.map { NSError.stream($0) })
    }
}
