/// A queued operation that ended without completing. Every operation ends in exactly one way: it completes, or it fails
/// with this.
public struct FailedOperation: Error, Hashable, Sendable {
    /// Its identifier within the engine.
    public var operation: OperationID
    /// The kind of operation.
    public var kind: OperationSnapshot.Kind
    /// The caller's tag.
    public var tag: Int
    /// The number of bytes it had received or sent.
    public var done: Int
    /// The total number of bytes, or `nil` if it is unknown.
    public var total: Int?
    /// For a read, the bytes it had received. Empty for a write.
    public var bytes: [UInt8]
    /// Whether it was a standing read. These always end this way, because they never complete for good.
    public var isStanding: Bool
    /// The reason.
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

/// An operation that timed out and waits for a verdict.
public struct TimedOutOperation: Hashable, Sendable {
    /// Its identifier within the engine, for `SocketCommand.answerTimeout`.
    public var operation: OperationID
    /// The kind of operation.
    public var kind: OperationSnapshot.Kind
    /// The caller's tag.
    public var tag: Int
    /// The number of bytes so far.
    public var done: Int
    /// The total number of bytes, or `nil` if it is unknown.
    public var total: Int?
    /// Its timeout, including all extensions so far.
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
