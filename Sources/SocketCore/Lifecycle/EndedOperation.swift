/// A queued operation that ended without completing. Every operation ends in exactly one completion: done, or this.
public struct FailedOperation: Error, Hashable, Sendable {
    /// Its name within the engine.
    public var operation: OperationID
    /// What it was.
    public var kind: OperationSnapshot.Kind
    /// The caller's number.
    public var tag: Int
    /// Bytes it had got or given.
    public var done: Int
    /// Bytes in all; nil where that is not known.
    public var total: Int?
    /// Of a read: the bytes it had got. Of a write: empty.
    public var bytes: [UInt8]
    /// Whether it was a standing read, which always ends so, since it never completes for good.
    public var isStanding: Bool
    /// Why.
    public var error: SocketError

    /// Describes a failed operation.
    public init(
        operation: OperationID, kind: OperationSnapshot.Kind, tag: Int, done: Int, total: Int?, bytes: [UInt8],
        isStanding: Bool = false, error: SocketError
    ) {
        self.operation = operation
        self.kind = kind
        self.tag = tag
        self.done = done
        self.total = total
        self.bytes = bytes
        self.isStanding = isStanding
        self.error = error
    }
}

/// An operation whose time is up and that waits for a verdict.
public struct TimedOutOperation: Hashable, Sendable {
    /// Its name within the engine, for `SocketCommand.answerTimeout`.
    public var operation: OperationID
    /// What it is.
    public var kind: OperationSnapshot.Kind
    /// The caller's number.
    public var tag: Int
    /// Bytes so far.
    public var done: Int
    /// Bytes in all; nil where that is not known.
    public var total: Int?
    /// Its timeout and all extensions so far.
    public var elapsed: Duration

    /// Describes a timed-out operation.
    public init(
        operation: OperationID, kind: OperationSnapshot.Kind, tag: Int, done: Int, total: Int?, elapsed: Duration
    ) {
        self.operation = operation
        self.kind = kind
        self.tag = tag
        self.done = done
        self.total = total
        self.elapsed = elapsed
    }
}
