import Dispatch

/// Runs tasks on a serial queue of its own, so that they wait for nobody who blocks the threads that all tasks share,
/// and block none of those themselves.
final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "socktui.sending")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
