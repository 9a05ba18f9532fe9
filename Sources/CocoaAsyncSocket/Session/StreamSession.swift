import Foundation
import SocketKit

/// One connection of a GCDAsyncSocket.
///
/// A connection that was disconnected keeps the delegate that it had then, and the GCDAsyncSocket goes on without it: what
/// is set there later concerns the next one.
final class StreamSession: Sendable {
    /// The engine's socket.
    let socket: AsyncSocket
    private let owner: UnretainedReference<GCDAsyncSocket>
    private let buffers = ReadBuffers()
    /// What is called now. The engine's socket does not retain it.
    private let callbacks = Lock<StreamCallbacks?>(nil)

    init(_ socket: AsyncSocket, owner: GCDAsyncSocket) {
        self.socket = socket
        self.owner = UnretainedReference(owner)
    }

    /// Sets whom its callbacks go to, and where. Nobody is called without a queue.
    func setDelegate(_ delegate: (any GCDAsyncSocketDelegate)?, on queue: DispatchQueue?) {
        let new = StreamCallbacks(
            of: self, owner.reference, to: queue == nil ? nil : delegate, filling: buffers)
        // Under the lock, since the engine's socket must have the one that stays.
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

    /// Spares a delegate the writes that it has no method for. Has no effect if another delegate has taken its place.
    func noteNoUseOfWrites(_ delegate: any GCDAsyncSocketDelegate) {
        let present = callbacks.withLock { callbacks in
            let present = callbacks?.delegate.object
            if present === delegate { socket.hearsOfWrites = false }
            return Unchecked(present)
        }
        // This may be its last reference.
        withExtendedLifetime(present) {}
    }

    /// Queues a read whose bytes go to a buffer.
    func read(_ request: ReadRequest, into buffer: ReadBuffer) {
        buffers.add(buffer) { socket.read(request) }
    }
}
