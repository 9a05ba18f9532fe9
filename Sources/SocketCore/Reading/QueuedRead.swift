/// A read that was asked for, in the form in which it waits: `ReadRequest` with its name, packed.
struct QueuedRead {
    /// Its name within the engine.
    let operation: OperationID
    /// The caller's number.
    let tag: Int
    /// How long it may be the one in hand.
    var limit: TimeLimit
    /// What it waits for.
    let kind: ReadRequest.Kind
    // Last, so that they take no word of their own.
    /// Whether it stays after it completed.
    let isStanding: Bool
    /// Whether its bytes are shown where they are, not handed over.
    let lendsBytes: Bool

    /// Packs a request. Traps on one that could never complete: whoever queues it has to refuse it before.
    init(_ request: __shared ReadRequest, as operation: OperationID) {
        precondition(request.kind.isValid, "read \(operation): \(request.kind) can never complete")
        kind = request.kind
        isStanding = request.isStanding
        lendsBytes = request.lendsBytes
        limit = TimeLimit(request.timeout)
        tag = request.tag
        self.operation = operation
    }

    /// No read, in the place of one.
    init() {
        (kind, isStanding, lendsBytes) = (.available(limit: nil), false, false)
        (limit, tag, operation) = (TimeLimit(nil), 0, OperationID(0))
    }

    /// Bytes in all; nil where that is not known.
    var total: Int? { kind.total }

    /// The failure of this read, which had got these bytes.
    func failed(_ error: SocketError, with bytes: [UInt8] = []) -> FailedOperation {
        FailedOperation(
            operation: operation, kind: .read(kind), tag: tag, done: bytes.count, total: total, bytes: bytes,
            isStanding: isStanding, error: error)
    }

    /// This read as it is shown while it waits.
    var snapshot: OperationSnapshot {
        OperationSnapshot(
            id: operation, kind: .read(kind), tag: tag, total: total, isStanding: isStanding, timeout: limit.duration)
    }
}
