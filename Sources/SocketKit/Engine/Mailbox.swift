import Glibc
import SocketCore
import Synchronization

/// What other threads ask of the engine, in the order in which they asked. A job is moved, never copied.
enum EngineJob: ~Copyable, Sendable {
    case command(SocketCommand)
    /// A command by a handle, which hears of it when the session is over already; and the name of what it queues.
    case ask(AsyncSocket, SocketCommand, OperationID)
    /// A connect to addresses that are known begins, so that it never fails before the caller knows its session.
    case begin(SocketID, [SocketAddress])
    /// A name was resolved, or could not be.
    case resolved(SocketID, Result<[SocketAddress], SocketError>)
    /// The delegate queue of this session has caught up.
    case caughtUp(SocketID)
    /// A connection comes from another engine.
    case take(Shared<MovedConnection>, AsyncSocket)
    /// Something for a WebSocket by its handle, which hears of it when the session is over already.
    case webSocket(WebSocket, SocketID?, WebSocketCommand, OperationID)
    /// The user of this WebSocket has taken all that came before the end of its input.
    case acknowledgeEnd(SocketID)
    /// What waits in this handle goes to its delegate, which it has now.
    case deliverInbox(WebSocket)
    /// Something for a datagram socket.
    case datagram(DatagramJob)
    /// The handle of this session is gone: close it without telling anybody.
    case released(SocketID)
    /// Something for a leg of a relay.
    case leg(SocketID, LegCommand)
    /// Accept no connection, since the task that iterates them cannot keep up (true), or accept again (false).
    case holdAccepts(SocketID, Bool)
    case stopPublishing
    /// Work of the program's own, which runs among the callbacks.
    case work(@Sendable () -> Void)
    /// What a viewer asks for; the answer, called at once on the queue, says why it was not done. It is no user code.
    case viewer(SocketCommand, @Sendable (String?) -> Void)
    /// Was taken back: its connection has moved, and it went along.
    case nothing
    /// The answer to a request of changes is called at once, on the queue, and is no user code.
    case snapshot(SnapshotRequest, @Sendable (EngineSnapshot) -> Void)
}

/// Holds jobs until the engine's next turn. Posting costs one lock, and at most one wake-up for all jobs that
/// are posted before the engine gets to them.
final class Mailbox: Sendable {
    /// What a thread that posted has to do, once it holds no lock.
    enum Need {
        case nothing
        /// Ask for a turn.
        case turn
        /// Wait a moment, because so many jobs wait that the engine does not keep up.
        case patience
    }

    /// Jobs that may wait before those who post more are slowed down. Everybody who waits for the engine waits for
    /// what was posted before, so this bounds their wait, and the memory that jobs take.
    static let crowd = 8_192

    private struct State: ~Copyable {
        var jobs = MoveQueue<EngineJob>()
        /// How many jobs were ever posted.
        var posted = 0
        /// A turn is under way or was asked for; it empties the box before it ends, so nobody has to wake it.
        var isAwake = false
        /// The thread whose jobs wake nobody, since it has them carried out itself soon; 0: none.
        var gatherer: UInt = 0
        /// The engine's timer will come soon, whatever becomes of the gatherer.
        var isWatched = false
    }

    private let state = Lock(State())
    /// How many jobs were ever posted, for a look without the lock. Whoever posts one during a turn can rely on
    /// `sleep`, which takes the lock; a job that the caller itself posted, or knows of, is always counted.
    private let postedCount = Atomic<Int>(0)
    /// The thread on which user code runs within a turn; 0: none.
    private let host = Atomic<UInt>(0)
    private let hasPumped = Atomic<Bool>(false)
    private let allowsGathering: Bool

    init(allowsGathering: Bool) {
        self.allowsGathering = allowsGathering
    }

    /// Whether the caller is user code that runs within a turn.
    var isWithinTurn: Bool { host.load(ordering: .relaxed) == pthread_self() }

    /// Notes that user code runs on this thread from now on, within a turn. The answer is for `endHosting`, since user
    /// code may run within user code.
    func beginHosting() -> UInt {
        let former = host.load(ordering: .relaxed)
        host.store(pthread_self(), ordering: .relaxed)
        return former
    }

    /// Notes that it has ended.
    func endHosting(_ former: UInt) { host.store(former, ordering: .relaxed) }

    /// Notes both where no user code runs otherwise.
    func setRunsUserCode(_ isHosting: Bool) { host.store(isHosting ? pthread_self() : 0, ordering: .relaxed) }

    /// How many jobs were ever posted: the place of the last one.
    var posted: Int { postedCount.load(ordering: .relaxed) }

    /// Adds a job. May be called under the lock of a handle.
    func post(_ job: consuming EngineJob) -> Need {
        // A closure may move out of an optional only.
        var job: EngineJob? = consume job
        return state.withLock { state in
            if let job = job.take() { state.jobs.append(job) }
            state.posted += 1
            postedCount.store(state.posted, ordering: .relaxed)
            // Who gathers has the jobs carried out itself.
            if state.gatherer != 0, state.gatherer == pthread_self() { return .nothing }
            guard state.isAwake else {
                state.isAwake = true
                return .turn
            }
            return state.jobs.count > Self.crowd ? .patience : .nothing
        }
    }

    /// Lets the engine catch up, where it does not keep up with those who post: a twentieth of a millisecond, whatever it
    /// does meanwhile, so that nothing can stand still here.
    static func waitAMoment() { usleep(50) }

    /// Takes back what one handle has posted and nobody has taken yet, in its order. The other jobs keep their places.
    func withdraw(_ handle: AsyncSocket) -> [(SocketCommand, OperationID)] {
        state.withLock { $0.jobs.withdraw(handle) }
    }

    // MARK: Gathering

    /// Notes that callbacks went to another queue.
    func pumped() {
        if allowsGathering { hasPumped.store(true, ordering: .relaxed) }
    }

    /// Whether that happened since the last time.
    func takePumped() -> Bool {
        guard hasPumped.load(ordering: .relaxed) else { return false }
        hasPumped.store(false, ordering: .relaxed)
        return true
    }

    /// Notes whether the engine's timer comes soon; without it, nobody gathers any more.
    func watch(_ isWatched: Bool) {
        state.withLock { state in
            state.isWatched = isWatched
            if !isWatched { state.gatherer = 0 }
        }
    }

    /// Lets jobs of this thread wake nobody; false where another one gathers, or nobody may.
    func beginGathering() -> Bool {
        guard allowsGathering else { return false }
        return state.withLock { state in
            guard state.isWatched, state.gatherer == 0 else { return false }
            state.gatherer = pthread_self()
            return true
        }
    }

    /// Ends that; true when the caller has to enter the engine with what there is.
    func endGathering() -> Bool {
        state.withLock { state in
            guard state.gatherer == pthread_self() else { return false }
            state.gatherer = 0
            guard !state.isAwake, !state.jobs.isEmpty else { return false }
            state.isAwake = true
            return true
        }
    }

    // MARK: Turns

    /// Marks that a turn is under way.
    func wake() {
        state.withLock { $0.isAwake = true }
    }

    /// Takes all jobs, in place of none.
    func take(into jobs: inout MoveQueue<EngineJob>) {
        assert(jobs.isEmpty)
        state.withLock { swap(&$0.jobs, &jobs) }
    }

    /// Marks the end of a turn; false when jobs came meanwhile, so that the turn must go on.
    func sleep() -> Bool {
        state.withLock { state in
            state.isAwake = !state.jobs.isEmpty
            return state.jobs.isEmpty
        }
    }
}

extension MoveQueue<EngineJob> {
    /// Takes back what one handle has asked for, in its order, and leaves its places empty.
    mutating func withdraw(_ handle: AsyncSocket) -> [(SocketCommand, OperationID)] {
        var asked: [(SocketCommand, OperationID)] = []
        forEach { job in
            guard let (command, operation) = job.asked(by: handle) else { return }
            asked.append((command, operation))
            job = .nothing
        }
        return asked
    }
}

extension EngineJob {
    /// What this handle asks for by it; nil: it is of another kind, or of somebody else.
    fileprivate func asked(by handle: AsyncSocket) -> (SocketCommand, OperationID)? {
        switch self {
        case .ask(let owner, let command, let operation): owner === handle ? (command, operation) : nil
        default: nil
        }
    }
}
