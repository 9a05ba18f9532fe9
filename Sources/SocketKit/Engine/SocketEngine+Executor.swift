/// Tasks that run on the engine.
///
/// `Task(executorPreference: engine) { … }` runs on the engine's queue, among the callbacks of its turns. What it requests
/// of the engine's sockets is carried out at once, and it continues in the same turn, so an `await` costs neither a
/// system call nor a change of threads. An actor without an executor of its own runs there, too, when such a task calls it
/// (SE-0417); the main actor does not.
///
/// Every socket of the engine waits while such a task computes or blocks, as it does for a delegate on the engine's queue.
extension SocketEngine: TaskExecutor {
    /// Runs a part of a task among the callbacks, in the order of these calls.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isQueued = atOnce { engine in
            guard !engine.hasJobs else { return false }
            engine.outbox.append(.task(job, self))
            return true
        }
        if !isQueued { meet(mailbox.post(.task(job, self))) }
    }
}
