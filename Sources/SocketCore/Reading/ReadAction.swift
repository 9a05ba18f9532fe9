/// The engine's next action for the read queue.
package enum ReadAction: Equatable {
    /// Nothing to do until bytes, a request or a deadline arrive.
    case none
    /// A read completed. Deliver it to its caller.
    case deliver(ReadDelivery)
    /// The current read received `increment` bytes in this pass but is not complete. It has `done` bytes in all.
    case partial(operation: OperationID, tag: Int, increment: Int, done: Int)
    /// A read reached its limit: no delimiter was found, or a frame's length is out of bounds. The connection must
    /// close with this error.
    indirect case exceeded(FailedOperation)
}

/// An item that a standing read lends: the first `count` of the received bytes.
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
    /// Whether its caller borrows the bytes in place instead of receiving an array.
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
