import Dispatch

/// Runs tasks on its own serial queue. They neither wait for code that blocks the threads shared by all tasks, nor
/// block those threads themselves.
package final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "socktui.sending")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
