import Dispatch

/// Runs tasks on a queue of its own, so that no test which blocks a thread keeps them waiting.
package final class TaskQueue: TaskExecutor {
    private let queue = DispatchQueue(label: "tasks")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
