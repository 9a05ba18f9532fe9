/// A write that was asked for, in the form in which it waits: `WriteRequest` with its name, packed.
struct QueuedWrite {
    /// The bytes to be written.
    private(set) var contents: WriteContents
    /// How long it may be the one in hand.
    var limit: TimeLimit
    /// The caller's number.
    let tag: Int
    /// Its name within the engine.
    let operation: OperationID

    /// Packs a request. Traps on one without bytes: whoever queues it has to refuse it before.
    init(_ request: __shared WriteRequest, as operation: OperationID) {
        precondition(request.contents.count > 0, "write \(operation): no bytes")
        contents = request.contents
        limit = TimeLimit(request.timeout)
        tag = request.tag
        self.operation = operation
    }

    /// No write: it has no bytes.
    init() {
        contents = WriteContents([])
        (limit, tag, operation) = (TimeLimit(nil), 0, OperationID(0))
    }

    /// Takes the bytes out.
    mutating func takeContents() -> WriteContents {
        var taken = WriteContents([])
        swap(&taken, &contents)
        return taken
    }

    /// The failure of this write, of which so many bytes were written.
    func failed(_ error: SocketError, done: Int) -> FailedOperation {
        FailedOperation(
            operation: operation, kind: .write, tag: tag, done: done, total: contents.count, bytes: [], error: error)
    }

    /// This write as it is shown while it waits.
    var snapshot: OperationSnapshot {
        OperationSnapshot(
            id: operation, kind: .write, tag: tag, total: contents.count, timeout: limit.duration,
            preview: contents.part(0..<32))
    }
}

/// The write in hand, and how far it has come.
struct CurrentWrite: TimedOperation {
    /// What was asked for.
    private(set) var write: QueuedWrite
    /// Its clock.
    var timer: OperationTimer
    var ownLimit: TimeLimit { write.limit }
    /// Bytes in all.
    let total: Int
    /// Bytes written.
    private(set) var done = 0
    private var reported = 0
    /// Means something only while `done` is more than 0.
    private var lastProgress: MonotonicTime

    /// Takes a write in hand: its time counts from now on.
    init(_ write: consuming QueuedWrite, now: MonotonicTime) {
        timer = OperationTimer(now: now)
        total = write.contents.count
        self.write = write
        lastProgress = now
    }

    /// Stands where no write is in hand: it has no bytes.
    init() {
        let never = MonotonicTime(nanoseconds: 0)
        timer = OperationTimer(now: never)
        (write, total, lastProgress) = (QueuedWrite(), 0, never)
    }

    /// Bytes not written yet.
    var missing: Int { total - done }

    /// Counts what is its own of so many bytes written, and says how many that were.
    mutating func wrote(_ count: Int, now: MonotonicTime) -> Int {
        let own = min(count, missing)
        guard own > 0 else { return 0 }
        done += own
        lastProgress = now
        return own
    }

    /// The bytes written since the last report.
    mutating func takeIncrement() -> Int {
        defer { reported = done }
        return done - reported
    }

    /// Takes the bytes out.
    mutating func takeContents() -> WriteContents { write.takeContents() }

    /// This write as it is shown.
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
