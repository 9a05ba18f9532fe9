import SocketKit

/// Runs the tasks of a run on the run's own thread, one job at a time and in the order that the seed says, so that real
/// `async` code is part of a replay.
package final class TaskRunner: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// A task is being made, so that the next job is its first.
        var isStarting = false
    }

    private let mutation: Mutation
    private let state = Lock(State())

    init(mutation: Mutation) {
        self.mutation = mutation
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isStarting = state.withLock { $0.isStarting }
        if !isStarting, mutation.strikes(.losesAResumption) { return }
        state.withLock { $0.jobs.append(job) }
    }

    /// Whether no task can go on.
    var isEmpty: Bool { state.withLock { $0.jobs.isEmpty } }

    /// Makes a task that runs here; its first job waits.
    func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        state.withLock { $0.isStarting = true }
        defer { state.withLock { $0.isStarting = false } }
        return Task(executorPreference: self) { await body() }
    }

    /// Lets one task go on until it waits again or ends.
    func runOne(_ chance: Chance) {
        let count = state.withLock { $0.jobs.count }
        guard count > 0 else { return }
        let index = chance.below(count)
        let job = state.withLock { $0.jobs.remove(at: index) }
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
