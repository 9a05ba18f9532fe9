import Dispatch

/// Carries callbacks to a queue in batches: however many there are, at most one hop is under way.
final class DelegatePump: Sendable {
    let queue: DispatchQueue
    private struct State {
        var calls: [@Sendable () -> Void] = []
        var isScheduled = false
    }

    private let state = Lock(State())

    init(_ queue: DispatchQueue) {
        self.queue = queue
    }

    /// Adds a call behind all that were added before it.
    func append(_ call: @escaping @Sendable () -> Void) {
        let mustSchedule = state.withLock { state in
            state.calls.append(call)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { queue.async { self.run() } }
    }

    /// One batch at a time, so that other work of the queue gets its turn between them.
    private func run() {
        let calls = state.withLock { state in
            defer { state.calls = [] }
            return state.calls
        }
        for call in calls { call() }
        let isDone = state.withLock { state in
            state.isScheduled = !state.calls.isEmpty
            return state.calls.isEmpty
        }
        if !isDone { queue.async { self.run() } }
    }
}
