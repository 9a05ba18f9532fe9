import Dispatch

/// What can be told of a queue. Each use of `.main` and `.global()` makes an object of its own, so those are known by the
/// labels that Dispatch gives them.
extension DispatchQueue {
    /// Whether it is the queue of the main thread.
    var isMain: Bool { label == "com.apple.main-thread" }

    /// Whether it is one of the process's concurrent queues.
    var isGlobal: Bool { label.hasPrefix("com.apple.root.") }

    /// Whether both are one queue.
    func isSame(as other: DispatchQueue) -> Bool {
        self === other || (isMain || isGlobal) && label == other.label
    }
}
