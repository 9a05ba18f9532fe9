import Dispatch
import SocketCore

/// Carries callbacks to a queue in batches: however many there are, at most one hop is under way.
final class DelegatePump: Sendable {
    /// What is carried.
    private enum Call: Sendable {
        case socket(AsyncSocket, SocketNotice)
        case work(@Sendable () -> Void)

        func run() {
            switch self {
            case .socket(let socket, let notice): socket.deliverHere(notice)
            case .work(let work): work()
            }
        }
    }

    private struct State {
        var calls: [Call] = []
        /// The memory of the batch before, for the one after this.
        var emptied: [Call] = []
        var isScheduled = false
        /// When the oldest of the calls came; nil: there are none.
        var oldest: MonotonicTime?
        /// When the last batch began, and how long it had waited.
        var ran: MonotonicTime?
        var waited = Duration.zero
    }

    let queue: DispatchQueue
    private let engine: SocketEngine
    private let state = Lock(State())
    /// A batch beyond this gives its memory back.
    private static let keptCapacity = 1_024

    private init(_ queue: DispatchQueue, engine: SocketEngine) {
        self.queue = queue
        self.engine = engine
    }

    /// Makes one that carries to `queue` what happens on `engine`, or on another one that a socket moves to. nil: no queue
    /// is given, or it is the engine's own, where callbacks need not be carried to.
    static func pump(to queue: DispatchQueue?, from engine: SocketEngine) -> DelegatePump? {
        guard let queue, queue !== engine.queue else { return nil }
        return DelegatePump(queue, engine: engine)
    }

    /// Whether it was made to carry from this engine to this queue.
    func carries(from engine: SocketEngine, to queue: DispatchQueue?) -> Bool {
        engine === self.engine && queue === self.queue
    }

    /// Adds a call behind all that were added before it.
    func append(_ work: @escaping @Sendable () -> Void) {
        append(.work(work))
    }

    /// Adds what a socket has to tell, likewise.
    func append(_ notice: SocketNotice, for socket: AsyncSocket) {
        append(.socket(socket, notice))
    }

    private func append(_ call: Call) {
        let mustSchedule = state.withLock { state in
            if state.calls.isEmpty { state.oldest = engine.clock.now }
            state.calls.append(call)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        engine.hasPumped()
        if mustSchedule { queue.async { self.run() } }
    }

    /// How long the oldest call has waited, or the last batch had to, and when that began; nil: nothing came yet.
    func lag(_ now: MonotonicTime) -> (lag: Duration, ran: MonotonicTime?)? {
        state.withLock { state in
            if let oldest = state.oldest { return (now - oldest, nil) }
            return state.ran.map { (state.waited, $0) }
        }
    }

    /// A batch and what came of it, and no more at a time, so that other work of the queue gets its turn. What a batch
    /// asks of the engine is carried out together behind it, on this thread, which saves waking another one.
    private func run() {
        if !runBatch(), !runBatch() { queue.async { self.run() } }
    }

    /// One batch; true when no other waits.
    private func runBatch() -> Bool {
        let now = engine.clock.now
        var calls = state.withLock { state in
            if let oldest = state.oldest { state.waited = now - oldest }
            state.oldest = nil
            state.ran = now
            let calls = state.calls
            state.calls = state.emptied
            state.emptied = []
            return calls
        }
        let isGathering = engine.beginGathering()
        for index in calls.indices { calls[index].run() }
        calls.removeAll(keepingCapacity: calls.capacity <= Self.keptCapacity)
        if isGathering { engine.endGathering() }
        return state.withLock { state in
            state.emptied = calls
            state.isScheduled = !state.calls.isEmpty
            return state.calls.isEmpty
        }
    }
}
