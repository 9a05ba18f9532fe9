import Dispatch
import SocketCore

/// Carries callbacks to a queue in batches: however many there are, at most one hop is under way.
final class DelegatePump: Sendable {
    /// What is carried.
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
        /// The memory of the batch before, for the one after this.
        var emptied = MoveQueue<Call>()
        var isScheduled = false
        /// Whether that was left to the engine's thread.
        var isLed = false
        var trust = LeadTrust()
        /// When the oldest of the calls came; nil: there are none.
        var oldest: MonotonicTime?
        /// When the last batch began, and how long it had waited.
        var ran: MonotonicTime?
        var waited = Duration.zero
    }

    let queue: DispatchQueue
    private let engine: SocketEngine
    /// The threads that may run batches instead of those of Dispatch; nil: none.
    private let lead: Lead?
    private let state: Lock<State>

    private init(_ queue: DispatchQueue, engine: SocketEngine) {
        self.queue = queue
        self.engine = engine
        // These have threads of their own.
        lead = queue.isMain || queue.isGlobal ? nil : engine.lead
        state = Lock(State(trust: LeadTrust(engine.trustLimits)))
    }

    /// Makes one that carries to `queue` what happens on `engine`, or on another one that a socket moves to. nil: no queue
    /// is given, or it is the engine's own, where callbacks need not be carried to.
    static func pump(to queue: DispatchQueue?, from engine: SocketEngine) -> DelegatePump? {
        guard let queue, !queue.isSame(as: engine.queue) else { return nil }
        return DelegatePump(queue, engine: engine)
    }

    /// Whether it was made to carry from this engine to this queue.
    func carries(from engine: SocketEngine, to queue: DispatchQueue?) -> Bool {
        engine === self.engine && queue?.isSame(as: self.queue) == true
    }

    /// Whether the engine's thread may ever run its batches.
    var mayBeLed: Bool { lead != nil }

    /// Adds a call behind all that were added before it.
    func append(_ work: @escaping @Sendable () -> Void) {
        append(.work(work))
    }

    /// Adds what a socket has to tell, likewise.
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
            if isLed, let lead, lead.isHere, lead.take(self) { return }
            runByDispatch()
        } else if !isLed {
            engine.hasPumped()
        }
    }

    /// Has what waits still run, by the engine's thread if that may.
    private func schedule() {
        let mayLead = state.withLock { state in
            state.isLed = lead != nil && state.trust.mayLead
            return state.isLed
        }
        guard mayLead, let lead, lead.take(self) else { return runByDispatch() }
        if !lead.isHere { engine.requestTurn() }
    }

    /// Has the next batch run by a thread of Dispatch.
    func runByDispatch() {
        state.withLock { $0.isLed = false }
        engine.hasPumped()
        queue.async { self.run() }
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
        if !runGathering(), !runGathering() { schedule() }
    }

    /// One batch, on a thread of Dispatch; true when no other waits.
    private func runGathering() -> Bool {
        let isGathering = engine.beginGathering()
        var calls = beginBatch { $0.began(after: $1) }
        while let call = calls.popFirst() { call.run() }
        if isGathering { engine.endGathering() }
        return endBatch(&calls) { _ in }
    }

    /// One batch, by the engine's thread, which is not in a turn; false if it leads no more.
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

    /// Takes the calls that wait.
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

    /// Keeps the memory of a batch; true when no other waits.
    private func endBatch(_ calls: inout MoveQueue<Call>, _ judge: (inout LeadTrust) -> Void) -> Bool {
        state.withLock { state in
            swap(&state.emptied, &calls)
            state.isScheduled = !state.calls.isEmpty
            judge(&state.trust)
            return state.calls.isEmpty
        }
    }
}
