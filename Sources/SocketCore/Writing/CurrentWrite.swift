/// A queued write: a `WriteRequest` packed with its identifier.
struct QueuedWrite: QueuedOperation {
    private(set) var contents: WriteContents
    /// How long it may be the current write.
    var limit: TimeLimit
    let tag: Int
    let operation: OperationID

    /// Packs a request. Traps if it has no bytes, so the caller must reject such a request first.
    init(_ request: __shared WriteRequest, as operation: OperationID) {
        precondition(request.contents.count > 0, "write \(operation): no bytes")
        contents = request.contents
        limit = TimeLimit(request.timeout)
        tag = request.tag
        self.operation = operation
    }

    /// Creates the placeholder for no write, which has no bytes.
    init() {
        contents = WriteContents([])
        (limit, tag, operation) = (TimeLimit(nil), 0, OperationID(0))
    }

    /// Moves the bytes out.
    mutating func takeContents() -> WriteContents {
        var taken = WriteContents([])
        swap(&taken, &contents)
        return taken
    }

    /// Returns the failure of this write, of which `done` bytes were written.
    func failed(_ error: SocketError, done: Int) -> FailedOperation {
        FailedOperation(
            operation: operation, kind: .write, tag: tag, done: done, total: contents.count, bytes: [], error: error)
    }

    /// A snapshot of this write while it is queued.
    var snapshot: OperationSnapshot {
        OperationSnapshot(
            id: operation, kind: .write, tag: tag, total: contents.count, timeout: limit.duration,
            preview: contents.part(0..<32))
    }
}

/// The current write and its progress.
struct CurrentWrite: TimedOperation {
    private(set) var write: QueuedWrite
    var timer: OperationTimer
    var ownLimit: TimeLimit { write.limit }
    let total: Int
    private(set) var done = 0
    private var reported = 0
    /// Valid only while `done` is more than 0.
    private var lastProgress: MonotonicTime

    /// Makes a write current. Its timeout starts now.
    init(_ write: consuming QueuedWrite, now: MonotonicTime) {
        timer = OperationTimer(now: now)
        total = write.contents.count
        self.write = write
        lastProgress = now
    }

    /// Creates the placeholder for no current write, which has no bytes.
    init() {
        let never = MonotonicTime(nanoseconds: 0)
        timer = OperationTimer(now: never)
        (write, total, lastProgress) = (QueuedWrite(), 0, never)
    }

    var missing: Int { total - done }

    /// Counts those of `count` written bytes that belong to this write, and returns their number.
    mutating func wrote(_ count: Int, now: MonotonicTime) -> Int {
        let own = min(count, missing)
        guard own > 0 else { return 0 }
        done += own
        lastProgress = now
        return own
    }

    /// Returns the number of bytes written since the last report.
    mutating func takeIncrement() -> Int {
        defer { reported = done }
        return done - reported
    }

    /// Moves the bytes out.
    mutating func takeContents() -> WriteContents { write.takeContents() }

    /// A snapshot of this write.
    var snapshot: OperationSnapshot {
        var shown = write.snapshot
        shown.done = done
        shown.isAsking = timer.isAsking
        shown.timeout = limit.duration
        shown.started = timer.started
        shown.deadline = deadline
        shown.lastProgress = done > 0 ? lastProgress : nil
        return shown
    }
}
