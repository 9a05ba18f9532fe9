/// What the shell has to do next for the read queue.
package enum ReadAction: Equatable {
    /// Nothing, until bytes, a request or the time come.
    case none
    /// A read completed: hand it to its caller.
    case deliver(ReadDelivery)
    /// The read in hand got bytes in this pass but is not done: `increment` of them, `done` so far.
    case partial(operation: OperationID, tag: Int, increment: Int, done: Int)
    /// A delimiter read reached its limit without its delimiter; the connection must close with this error.
    indirect case exceeded(FailedOperation)
}

/// An item that a standing read lends: the first `count` bytes of those that are here.
package struct Loan: Equatable {
    package var operation: OperationID
    package var tag: Int
    package var count: Int
    package var started: MonotonicTime
}

/// A completed read.
package struct ReadDelivery: Equatable {
    package var operation: OperationID
    package var tag: Int
    package var kind: ReadRequest.Kind
    package var bytes: [UInt8]
    package var started: MonotonicTime
    package var isStanding: Bool
    /// Whether its caller wants to be shown the bytes, and no array of them.
    package var lendsBytes: Bool

    package init(
        operation: OperationID, tag: Int, kind: ReadRequest.Kind, bytes: [UInt8], started: MonotonicTime,
        isStanding: Bool, lendsBytes: Bool = false
    ) {
        self.operation = operation
        self.tag = tag
        self.kind = kind
        self.bytes = bytes
        self.started = started
        self.isStanding = isStanding
        self.lendsBytes = lendsBytes
    }
}
