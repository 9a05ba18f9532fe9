import SocketKit

/// The bytes that the sockets of a run without a screen receive, on their way from the engine's queue to the run.
package final class ReceivedBytes: Sendable {
    private struct State {
        var chunks: [(id: SocketID, bytes: [UInt8])] = []
        var count = 0
        /// The connections that don't read until the run has taken these bytes.
        var paused: Set<SocketID> = []
        var wake: @Sendable () -> Void = {}
        var pause: @Sendable (SocketID) -> Void = { _ in }
    }

    private let state = Lock(State())

    package init() {}

    /// The number of bytes queued here at which reading stops.
    private static let limit = 1 << 20

    /// Sets the callbacks. `wake` is called when bytes have arrived, and `pause` when a connection must stop reading
    /// for now. Neither may wait.
    package func connect(wake: @escaping @Sendable () -> Void, pause: @escaping @Sendable (SocketID) -> Void) {
        state.withLock { ($0.wake, $0.pause) = (wake, pause) }
    }

    /// Adds the bytes received on a connection.
    package func add(_ bytes: [UInt8], from id: SocketID) {
        let wake = state.withLock { state in
            let wake = state.chunks.isEmpty ? state.wake : nil
            state.chunks.append((id, bytes))
            state.count += bytes.count
            // Pause while holding the lock, so that the matching resume comes after it.
            if state.count > Self.limit, state.paused.insert(id).inserted { state.pause(id) }
            return wake
        }
        wake?()
    }

    /// Takes all bytes, and the connections that must resume reading.
    package func take() -> (chunks: [(id: SocketID, bytes: [UInt8])], paused: Set<SocketID>) {
        state.withLock { state in
            defer { (state.chunks, state.count, state.paused) = ([], 0, []) }
            return (state.chunks, state.paused)
        }
    }
}
