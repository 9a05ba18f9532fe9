/// A queued read: a `ReadRequest` packed with its identifier.
struct QueuedRead: QueuedOperation {
    let operation: OperationID
    let tag: Int
    /// How long it may be the current read.
    var limit: TimeLimit
    let kind: ReadRequest.Kind
    // Last, so that they take no word of their own.
    /// Whether it stays after each completion.
    let isStanding: Bool
    /// Whether its bytes are lent in place.
    let lendsBytes: Bool

    /// Packs a request. Traps if it could never complete, so the caller must reject such a request first.
    init(_ request: __shared ReadRequest, as operation: OperationID) {
        precondition(request.kind.isValid, "read \(operation): \(request.kind) can never complete")
        kind = request.kind
        isStanding = request.isStanding
        lendsBytes = request.lendsBytes
        limit = TimeLimit(request.timeout)
        tag = request.tag
        self.operation = operation
    }

    /// Creates the placeholder for no read.
    init() {
        (kind, isStanding, lendsBytes) = (.available(limit: nil), false, false)
        (limit, tag, operation) = (TimeLimit(nil), 0, OperationID(0))
    }

    /// The total number of bytes, or `nil` if it is unknown.
    var total: Int? { kind.total }

    /// Returns the failure of this read, with the bytes it had received.
    func failed(_ error: SocketError, with bytes: [UInt8] = []) -> FailedOperation {
        FailedOperation(
            operation: operation, kind: .read(kind), tag: tag, done: bytes.count, total: total, bytes: bytes,
            isStanding: isStanding, error: error)
    }

    /// A snapshot of this read while it is queued.
    var snapshot: OperationSnapshot {
        OperationSnapshot(
            id: operation, kind: .read(kind), tag: tag, total: total, isStanding: isStanding, timeout: limit.duration)
    }
}
