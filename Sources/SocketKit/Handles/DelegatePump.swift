import Dispatch
import SocketCore

/// Carries callbacks to a queue in batches, with at most one hop to it pending.
final class DelegatePump: Sendable {
    private enum Call: ~Copyable, Sendable {
        case socket(AsyncSocket, SocketNotice)
        case work(@Sendable () -> Void)

        consuming func run() {
            switch consume self {
            case .socket(let socket, let notice): socket.deliverHere(notice)
            case .work(let work): work()
            }
        }
    }

    private struct State: ~Copyable {
        var calls = MoveQueue<Call>()
        /// The memory of the previous batch, reused for the next.
        var emptied = MoveQueue<Call>()
        var isScheduled = false
        /// Whether the scheduled batch was left to the engine's thread.
        var isLed = false
        var trust = LeadTrust()
        /// When the oldest waiting call was added, or `nil` if none waits.
        var oldest: MonotonicTime?
        /// When the last batch began, and how long it had waited.
        var ran: MonotonicTime?
        var waited = Duration.zero
    }

    let queue: DispatchQueue
    private let engine: SocketEngine
    /// The threads that can run batches instead of Dispatch's, or `nil` for none.
    private let lead: Lead?
    private let state: Lock<State>

    private init(_ queue: DispatchQueue, engine: SocketEngine) {
        self.queue = queue
        self.engine = engine
        // The main queue and global queues have threads of their own.
        lead = queue.isMain || queue.isGlobal ? nil : engine.lead
        state = Lock(State(trust: LeadTrust(engine.trustLimits)))
    }

    /// Creates a pump to `queue` for what happens on `engine`, or on one that a socket moves to. Returns `nil` if there
    /// is no queue or it is the engine's own, which needs no pump.
    static func pump(to queue: DispatchQueue?, from engine: SocketEngine) -> DelegatePump? {
        guard let queue, !queue.isSame(as: engine.queue) else { return nil }
        return DelegatePump(queue, engine: engine)
    }

    /// Whether the pump was made to carry from this engine to this queue.
    func carries(from engine: SocketEngine, to queue: DispatchQueue?) -> Bool {
        engine === self.engine && queue?.isSame(as: self.queue) == true
    }

    /// Whether the engine's thread may ever run its batches.
    var mayBeLed: Bool { lead != nil }

    func append(_ work: @escaping @Sendable () -> Void) {
        append(.work(work))
    }

    func append(_ notice: SocketNotice, for socket: AsyncSocket) {
        append(.socket(socket, notice))
    }

    private func append(_ call: consuming Call) {
        // A closure may move out of an optional only.
        var call: Call? = consume call
        let (mustSchedule, isLed) = state.withLock { state in
            if state.calls.isEmpty { state.oldest = engine.clock.now }
            if let call = call.take() { state.calls.append(call) }
            guard !state.isScheduled else { return (false, state.isLed) }
            state.isScheduled = true
            state.isLed = lead != nil && state.trust.mayLead
            return (true, state.isLed)
        }
        if mustSchedule {
            if isLed, let lead, lead.isHere, lead.enqueue(self) { return }
            runByDispatch()
        } else if !isLed {
            engine.hasPumped()
        }
    }

    /// Schedules the waiting calls, on the engine's thread if it may run them.
    private func schedule() {
        let mayLead = state.withLock { state in
            state.isLed = lead != nil && state.trust.mayLead
            return state.isLed
        }
        guard mayLead, let lead, lead.enqueue(self) else { return runByDispatch() }
        if !lead.isHere { engine.requestTurn() }
    }

    /// Schedules the next batch on a Dispatch thread.
    func runByDispatch() {
        state.withLock { $0.isLed = false }
        engine.hasPumped()
        queue.async { self.run() }
    }

    /// Returns how long the oldest call has waited, or how long the last batch waited and when it began, or `nil` if
    /// there was no call yet.
    func lag(_ now: MonotonicTime) -> (lag: Duration, ran: MonotonicTime?)? {
        state.withLock { state in
            if let oldest = state.oldest { return (now - oldest, nil) }
            return state.ran.map { (state.waited, $0) }
        }
    }

    /// Runs a batch and the one that it causes, but no more, so that other work of the queue gets its turn. What a
    /// batch requests from the engine is carried out together after it, on this thread, which saves waking another one.
    private func run() {
        if !runGathering(), !runGathering() { schedule() }
    }

    /// Runs one batch on a Dispatch thread. Returns `true` if no other is waiting.
    private func runGathering() -> Bool {
        let isGathering = engine.beginGathering()
        var calls = beginBatch { $0.began(after: $1) }
        while let call = calls.popFirst() { call.run() }
        if isGathering { engine.endGathering() }
        return endBatch(&calls) { _ in }
    }

    /// Runs one batch on the engine's thread, outside a turn. Returns `false` if that thread no longer leads.
    func runBatch(leading lead: Lead) -> Bool {
        let start = engine.clock.now
        var number = lead.beginCalling()
        var isDone = true
        queue.sync {
            var calls = beginBatch { _, _ in }
            let count = calls.count
            while let call = calls.popFirst() {
                call.run()
                if !calls.isEmpty { lead.goOn(&number) }
            }
            let time = engine.clock.now.nanoseconds - start.nanoseconds
            isDone = endBatch(&calls) { $0.ran(count, in: time) }
        }
        let leads = lead.endCalling(number)
        if !leads { state.withLock { $0.trust.lostLead() } }
        if !isDone { schedule() }
        return leads
    }

    /// Takes the waiting calls and records how long they waited.
    private func beginBatch(_ judge: (inout LeadTrust, Int64) -> Void) -> MoveQueue<Call> {
        let now = engine.clock.now
        var calls = MoveQueue<Call>()
        state.withLock { state in
            if let oldest = state.oldest { state.waited = now - oldest }
            state.oldest = nil
            state.ran = now
            judge(&state.trust, state.waited.wholeNanoseconds)
            swap(&state.emptied, &calls)
            swap(&state.calls, &calls)
        }
        return calls
    }

    /// Keeps a batch's memory for reuse. Returns `true` if no other batch is waiting.
    private func endBatch(_ calls: inout MoveQueue<Call>, _ judge: (inout LeadTrust) -> Void) -> Bool {
        state.withLock { state in
            swap(&state.emptied, &calls)
            state.isScheduled = !state.calls.isEmpty
            judge(&state.trust)
            return state.calls.isEmpty
        }
    }
}
