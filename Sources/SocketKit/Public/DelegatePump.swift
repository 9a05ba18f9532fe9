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

    private func run() {
        while true {
            let calls = state.withLock { state in
                defer { state.calls = [] }
                state.isScheduled = !state.calls.isEmpty
                return state.calls
            }
            guard !calls.isEmpty else { return }
            for call in calls { call() }
        }
    }
}
