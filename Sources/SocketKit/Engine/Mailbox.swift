import Glibc
import SocketCore
import Synchronization

/// A request to the engine. Jobs are carried out in the order of posting. A job is moved, never copied.
enum EngineJob: ~Copyable, Sendable {
    case command(SocketCommand)
    /// A command from a handle, which is notified if the session has already ended, and the identifier for the
    /// operation it queues.
    case ask(AsyncSocket, SocketCommand, OperationID)
    /// Starts a connect to known addresses. It is a job so that a connect never fails before the caller knows its
    /// session.
    case begin(SocketID, [SocketAddress])
    case resolved(SocketID, Result<[SocketAddress], SocketError>)
    case caughtUp(SocketID)
    /// A connection that moves here from another engine.
    case absorb(Shared<MovedConnection>, AsyncSocket)
    /// A command from a WebSocket's handle, which is notified if the session has already ended.
    case webSocket(WebSocket, SocketID?, WebSocketCommand, OperationID)
    /// The user of this WebSocket has received everything before the end of its input.
    case acknowledgeEnd(SocketID)
    /// The handle has a delegate now, which gets the pending notices.
    case deliverInbox(WebSocket)
    case datagram(DatagramJob)
    /// The handle of this session was released. Closes the session without a notice.
    case released(SocketID)
    case leg(SocketID, LegCommand)
    /// Stops accepting connections because the task that iterates them cannot keep up (true), or resumes (false).
    case holdAccepts(SocketID, Bool)
    case stopPublishing
    /// Work of the program's own, which runs among the callbacks.
    case work(@Sendable () -> Void)
    /// A part of a task that runs on the engine, which is retained until then.
    case task(UnownedJob, SocketEngine)
    /// A viewer's command. The answer is called at once on the queue, with the reason if the command was not carried
    /// out. It is not user code.
    case viewer(SocketCommand, @Sendable (String?) -> Void)
    /// A withdrawn job. Its connection has moved and took the command along.
    case nothing
    /// A snapshot. The answer to a request for changes is called at once on the queue and is not user code.
    case snapshot(SnapshotRequest, @Sendable (EngineSnapshot) -> Void)
}

/// Holds jobs until the engine's next turn. A post takes one lock, and all jobs posted before that turn share one
/// wake-up.
final class Mailbox: Sendable {
    /// What a posting thread must do once it holds no lock.
    enum Need {
        case nothing
        /// Request a turn.
        case turn
        /// Wait a moment, because so many jobs are waiting that the engine can't keep up.
        case patience
    }

    /// The number of waiting jobs above which posting threads are slowed down. A call that waits for the engine waits
    /// for all jobs posted before it, so this bounds that wait, and the memory that jobs take.
    static let crowd = 8_192

    private struct State: ~Copyable {
        var jobs = MoveQueue<EngineJob>()
        /// The number of jobs ever posted.
        var posted = 0
        /// Set while a turn is running or requested. It empties the mailbox before it ends, so no wake-up is needed.
        var isAwake = false
        /// The thread whose jobs need no wake-up because it will soon have them carried out itself, or 0 if there is
        /// none.
        var gatherer: UInt = 0
        /// Whether the engine's timer fires soon, whatever the gatherer does.
        var isWatched = false
    }

    private let state = Lock(State())
    /// The number of jobs ever posted, readable without the lock. It may miss a job that another thread is posting;
    /// `sleep()` takes the lock and catches it. It always counts jobs that the caller posted or knows of.
    private let postedCount = Atomic<Int>(0)
    /// The thread that runs user code within a turn, or 0 if there is none.
    private let host = Atomic<UInt>(0)
    private let hasPumped = Atomic<Bool>(false)
    private let allowsGathering: Bool

    init(allowsGathering: Bool) {
        self.allowsGathering = allowsGathering
    }

    /// Whether the caller is user code that runs within a turn.
    var isWithinTurn: Bool { host.load(ordering: .relaxed) == pthread_self() }

    /// Marks this thread as running user code within a turn. Pass the result to `endHosting`, because user code can run
    /// within user code.
    func beginHosting() -> UInt {
        let former = host.load(ordering: .relaxed)
        host.store(pthread_self(), ordering: .relaxed)
        return former
    }

    /// Restores what `beginHosting` returned.
    func endHosting(_ former: UInt) { host.store(former, ordering: .relaxed) }

    /// Marks the start or the end of user code that does not run within other user code.
    func setRunsUserCode(_ isHosting: Bool) { host.store(isHosting ? pthread_self() : 0, ordering: .relaxed) }

    /// The number of jobs ever posted, which is the place of the last one.
    var posted: Int { postedCount.load(ordering: .relaxed) }

    /// Adds a job. May be called under the lock of a handle.
    func post(_ job: consuming EngineJob) -> Need {
        // A closure may move out of an optional only.
        var job: EngineJob? = consume job
        return state.withLock { state in
            if let job = job.take() { state.jobs.append(job) }
            state.posted += 1
            postedCount.store(state.posted, ordering: .relaxed)
            // A gathering thread has its jobs carried out itself.
            if state.gatherer != 0, state.gatherer == pthread_self() { return .nothing }
            guard state.isAwake else {
                state.isAwake = true
                return .turn
            }
            return state.jobs.count > Self.crowd ? .patience : .nothing
        }
    }

    /// Slows down a posting thread so that the engine can catch up. Waits a twentieth of a millisecond whatever the
    /// engine does, so that this cannot deadlock.
    static func waitAMoment() { usleep(50) }

    /// Withdraws the jobs of one handle that the engine has not taken yet, in their order. The other jobs keep their
    /// places.
    func withdraw(_ handle: AsyncSocket) -> [(SocketCommand, OperationID)] {
        state.withLock { $0.jobs.withdraw(handle) }
    }

    // MARK: Gathering

    /// Notes that callbacks were sent to another queue.
    func pumped() {
        if allowsGathering { hasPumped.store(true, ordering: .relaxed) }
    }

    /// Returns whether callbacks were sent to another queue since the last call.
    func takePumped() -> Bool {
        guard hasPumped.load(ordering: .relaxed) else { return false }
        hasPumped.store(false, ordering: .relaxed)
        return true
    }

    /// Sets whether the engine's timer fires soon. Without the timer, gathering ends.
    func watch(_ isWatched: Bool) {
        state.withLock { state in
            state.isWatched = isWatched
            if !isWatched { state.gatherer = 0 }
        }
    }

    /// Lets this thread post without wake-ups. Returns `false` if another thread is gathering, or gathering is not
    /// allowed.
    func beginGathering() -> Bool {
        guard allowsGathering else { return false }
        return state.withLock { state in
            guard state.isWatched, state.gatherer == 0 else { return false }
            state.gatherer = pthread_self()
            return true
        }
    }

    /// Ends gathering. Returns `true` if the caller must enter the engine to carry out the waiting jobs.
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

    /// Marks that a turn is running.
    func wake() {
        state.withLock { $0.isAwake = true }
    }

    /// Takes all jobs. `jobs` must be empty.
    func take(into jobs: inout MoveQueue<EngineJob>) {
        assert(jobs.isEmpty)
        state.withLock { swap(&$0.jobs, &jobs) }
    }

    /// Marks the end of a turn. Returns `false` if jobs were posted meanwhile, so that the turn must continue.
    func sleep() -> Bool {
        state.withLock { state in
            state.isAwake = !state.jobs.isEmpty
            return state.jobs.isEmpty
        }
    }
}

extension MoveQueue<EngineJob> {
    /// Withdraws the commands of one handle, in their order, and leaves their places empty.
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
    /// Returns the handle's command, or `nil` if the job is of another kind or from another handle.
    fileprivate func asked(by handle: AsyncSocket) -> (SocketCommand, OperationID)? {
        switch self {
        case .ask(let owner, let command, let operation): owner === handle ? (command, operation) : nil
        default: nil
        }
    }
}
