import Dispatch
import SocketCore

/// Carries callbacks to a queue in batches: however many there are, at most one hop is under way.
final class DelegatePump: Sendable {
    let queue: DispatchQueue
    private struct State {
        var calls: [@Sendable () -> Void] = []
        var isScheduled = false
        /// When the oldest of the calls came; nil: there are none.
        var oldest: MonotonicTime?
        /// When the last batch began, and how long it had waited.
        var ran: MonotonicTime?
        var waited = Duration.zero
    }

    private let clock: any EngineClock

    private let state = Lock(State())

    init(_ queue: DispatchQueue, clock: any EngineClock) {
        self.queue = queue
        self.clock = clock
    }

    /// Adds a call behind all that were added before it.
    func append(_ call: @escaping @Sendable () -> Void) {
        let mustSchedule = state.withLock { state in
            if state.calls.isEmpty { state.oldest = clock.now }
            state.calls.append(call)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { queue.async { self.run() } }
    }

    /// How long the oldest call has waited, or the last batch had to, and when that began; nil: nothing came yet.
    func lag(_ now: MonotonicTime) -> (lag: Duration, ran: MonotonicTime?)? {
        state.withLock { state in
            if let oldest = state.oldest { return (now - oldest, nil) }
            return state.ran.map { (state.waited, $0) }
        }
    }

    /// One batch at a time, so that other work of the queue gets its turn between them.
    private func run() {
        let now = clock.now
        let calls = state.withLock { state in
            if let oldest = state.oldest { state.waited = now - oldest }
            state.oldest = nil
            state.ran = now
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
