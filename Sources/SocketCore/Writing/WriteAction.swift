/// The engine's next action for the write queue.
package enum WriteAction: Equatable {
    /// Nothing to report.
    case none
    /// The kernel has accepted every byte of a write. Notify its caller.
    case complete(WriteCompletion)
    /// The kernel accepted `increment` bytes of the current write in this pass, but not all of it.
    case partial(operation: OperationID, tag: Int, increment: Int, done: Int)
}

/// A completed write.
package struct WriteCompletion: Equatable {
    package var operation: OperationID
    package var tag: Int
    package var contents: WriteContents
    package var started: MonotonicTime

    package init(operation: OperationID, tag: Int, contents: WriteContents, started: MonotonicTime) {
        self.operation = operation
        self.tag = tag
        self.contents = contents
        self.started = started
    }
}
