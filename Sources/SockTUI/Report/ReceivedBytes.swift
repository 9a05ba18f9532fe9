import SocketKit

/// What the sockets of a run without a screen receive, on its way from the engine's queue to the run.
final class ReceivedBytes: Sendable {
    private struct State {
        var chunks: [(id: SocketID, bytes: [UInt8])] = []
        var count = 0
        /// Connections that do not read until the run has taken what is here.
        var paused: Set<SocketID> = []
        var wake: @Sendable () -> Void = {}
        var pause: @Sendable (SocketID) -> Void = { _ in }
    }

    private let state = Lock(State())

    /// Bytes that wait here before reading stops.
    private static let limit = 1 << 20

    /// From now on `wake` is called when something has come, and `pause` when a connection shall not read for now. Neither
    /// may wait.
    func connect(wake: @escaping @Sendable () -> Void, pause: @escaping @Sendable (SocketID) -> Void) {
        state.withLock { ($0.wake, $0.pause) = (wake, pause) }
    }

    /// Adds what a connection received.
    func add(_ bytes: [UInt8], from id: SocketID) {
        let wake = state.withLock { state in
            let wake = state.chunks.isEmpty ? state.wake : nil
            state.chunks.append((id, bytes))
            state.count += bytes.count
            // Within the lock, so that the taker of what is here resumes after it.
            if state.count > Self.limit, state.paused.insert(id).inserted { state.pause(id) }
            return wake
        }
        wake?()
    }

    /// Takes all of it, and the connections that shall read again.
    func take() -> (chunks: [(id: SocketID, bytes: [UInt8])], paused: Set<SocketID>) {
        state.withLock { state in
            defer { (state.chunks, state.count, state.paused) = ([], 0, []) }
            return (state.chunks, state.paused)
        }
    }
}
