import Foundation
import SocketKit

/// One connection of a GCDAsyncSocket.
///
/// A disconnected connection keeps the delegate it had. Settings that change later on the GCDAsyncSocket apply to its
/// next connection.
final class StreamSession: Sendable {
    let socket: AsyncSocket
    private let owner: UnretainedReference<GCDAsyncSocket>
    private let buffers = ReadBuffers()
    /// The current callbacks. The engine's socket does not retain them.
    private let callbacks = Lock<StreamCallbacks?>(nil)

    init(_ socket: AsyncSocket, owner: GCDAsyncSocket) {
        self.socket = socket
        self.owner = UnretainedReference(owner)
    }

    /// Sets the delegate and its queue. Without a queue there are no callbacks.
    func setDelegate(_ delegate: (any GCDAsyncSocketDelegate)?, on queue: DispatchQueue?) {
        let new = StreamCallbacks(
            of: self, owner.reference, to: queue == nil ? nil : delegate, filling: buffers)
        // Under the lock, so that the engine's socket and `callbacks` agree.
        let old = callbacks.withLock { callbacks in
            let old = callbacks
            callbacks = new
            socket.delegate = new
            socket.hearsOfWrites = true
            return old
        }
        withExtendedLifetime(old) {}
        socket.delegateQueue = queue
    }

    /// Stops notifying the delegate of writes, because it has no method for them. Has no effect if another delegate has
    /// been set.
    func noteNoUseOfWrites(_ delegate: any GCDAsyncSocketDelegate) {
        let present = callbacks.withLock { callbacks in
            let present = callbacks?.delegate.object
            if present === delegate { socket.hearsOfWrites = false }
            return Unchecked(present)
        }
        // This may be the delegate's last reference.
        withExtendedLifetime(present) {}
    }

    /// Queues a read whose bytes go to a buffer.
    func read(_ request: ReadRequest, into buffer: ReadBuffer) {
        buffers.add(buffer) { socket.read(request) }
    }
}
