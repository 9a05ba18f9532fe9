/// What the shell has to do next for the write queue.
package enum WriteAction: Equatable {
    /// Nothing to report.
    case none
    /// A write is wholly with the kernel: tell its caller.
    case complete(WriteCompletion)
    /// The write in hand got some bytes out in this pass but is not done.
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
