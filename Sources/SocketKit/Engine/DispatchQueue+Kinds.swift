import Dispatch

/// What can be found out about a queue. Each use of `.main` and `.global()` creates an object of its own, so those are
/// recognized by the labels that Dispatch gives them.
extension DispatchQueue {
    /// Whether this is the queue of the main thread.
    var isMain: Bool { label == "com.apple.main-thread" }

    /// Whether this is one of the process's concurrent queues.
    var isGlobal: Bool { label.hasPrefix("com.apple.root.") }

    /// Whether both are the same queue.
    func isSame(as other: DispatchQueue) -> Bool {
        self === other || (isMain || isGlobal) && label == other.label
    }
}
