/// The reads of one connection: the current read, the queued reads, and the bytes read ahead.
///
/// Reads complete in the order in which they were queued. The engine takes at most `wanted` bytes from the kernel,
/// passes them to `receive`, and performs what `advance` returns until that is `.none`. It also calls `advance` after
/// `enqueue`, `answer` and `failAsking`. At `deadline` it calls `advance` and then `expire`.
///
/// A standing read yields to all others: it is current only while no other read is queued. When one is queued, the
/// standing read gives back the bytes it had gathered and waits; its timeout and its bytes then start from zero.
package struct ReadQueue: ~Copyable, Sendable {
    /// The current read, vacated when nothing is queued or a read overran its limit. It is used in place, because a
    /// copy retains its bytes. Code that changes it or its timer must call `currentChanged`.
    private(set) var current = CurrentRead()
    private(set) var preBuffer = PreBuffer()
    /// The number of reads completed. Each item of a standing read counts.
    package private(set) var completed: UInt64 = 0
    /// The queued reads in order. A standing read is the last.
    private(set) var waiting = OperationDeque<QueuedRead>()
    // Facts about the current read. They are stored because every step needs them, and reading them from `current`
    // costs more.
    /// Whether there is a current read. A standing read counts.
    package private(set) var hasCurrent = false
    /// Whether the current read lends its bytes.
    package private(set) var lendsBytes = false
    /// Whether the current read timed out and waits for a verdict.
    package private(set) var isAsking = false
    /// Whether the current read has a deadline.
    package private(set) var hasDeadline = false
    /// Whether the user or the caller has paused reading from the kernel. Bytes that have already been received are
    /// still delivered, and timeouts keep running.
    package var isPausedByHand = false
    /// Whether a read overran its limit. The connection must close, so no read becomes current again.
    private var hasOverrun = false
    private let place = InPlace()

    /// Creates an empty queue, which owns no memory.
    package init() {}

    /// Queues a read. It becomes the current read if there is none.
    ///
    /// A standing read replaces the previous standing read: returns the failure of the one that it replaces, whose
    /// gathered bytes go to the reads that follow. Traps on a request that could never complete: a length or limit
    /// below 1, an empty delimiter, or a limit shorter than the delimiter.
    @discardableResult
    package mutating func enqueue(
        _ request: ReadRequest, as operation: OperationID, now: MonotonicTime
    ) -> FailedOperation? {
        let read = QueuedRead(request, as: operation)
        let replaced = read.isStanding ? removeStanding() : nil
        if !read.isStanding { setStandingAside() }
        if !hasCurrent, !hasOverrun {
            hold(read, now: now)
        } else if !read.isStanding, waiting.last?.isStanding == true {
            waiting.insertBeforeLast(read)
        } else {
            waiting.append(read)
        }
        return replaced?.failed(
            SocketError(.disconnected, operation: "read", detail: "replaced by a newer standing read"))
    }

    /// Queues a valid read that is not standing. It becomes the current read if there is none.
    mutating func queue(_ request: ReadRequest, as operation: OperationID, now: MonotonicTime) {
        if !hasCurrent, !hasOverrun, waiting.isEmpty {
            hold(QueuedRead(request, as: operation), now: now)
        } else {
            enqueue(request, as: operation, now: now)
        }
    }

    /// Completes a valid read at once if no read is ahead of it and enough bytes are buffered. A delegate that queues
    /// its next read from `didRead` usually takes this path. Returns `nil` and changes nothing otherwise; call `queue`
    /// then.
    mutating func completeAtOnce(_ request: ReadRequest, from spares: inout ShortArrayPool) -> [UInt8]? {
        guard !hasCurrent, !hasOverrun, waiting.isEmpty, let count = preBuffer.length(for: request.kind) else {
            return nil
        }
        completed += 1
        return preBuffer.take(count, from: &spares)
    }

    /// Makes a read current, in place of one that has ended.
    private mutating func hold(_ read: consuming QueuedRead, now: MonotonicTime) {
        (hasCurrent, lendsBytes, isAsking) = (true, read.lendsBytes, false)
        current = CurrentRead(read, now: now)
        hasDeadline = current.hasDeadline
    }

    private mutating func holdNext(now: MonotonicTime) {
        guard !waiting.isEmpty, let next = waiting.popFirst() else { return nothingIsCurrent() }
        hold(next, now: now)
    }

    private mutating func takeCurrent() -> CurrentRead? {
        guard hasCurrent else { return nil }
        var taken = CurrentRead()
        swap(&taken, &current)
        nothingIsCurrent()
        return taken
    }

    private mutating func currentChanged() {
        (isAsking, hasDeadline) = (current.timer.isAsking, current.hasDeadline)
    }

    private mutating func nothingIsCurrent() {
        (hasCurrent, lendsBytes, isAsking, hasDeadline) = (false, false, false, false)
        current.vacate()
    }

    private func isCurrent(_ operation: OperationID) -> Bool { hasCurrent && current.read.operation == operation }

    /// The most bytes to take from the kernel now, or `Int.max` for no bound. It is 0 if there is no current read, if
    /// that read waits for a verdict, or if reading is paused. Valid once `advance` has returned `.none`.
    package var wanted: Int {
        guard !isPausedByHand, hasCurrent, !isAsking else { return 0 }
        guard let missing = current.missing else { return .max }
        return max(0, missing - prebuffered)
    }

    /// Adds bytes that follow all those already received. Bytes that the current read does not want are kept for the
    /// reads that follow.
    package mutating func receive(
        _ bytes: UnsafeRawBufferPointer, now: MonotonicTime, from spares: inout ShortArrayPool
    ) {
        let taken = hasCurrent && preBuffer.isEmpty ? current.receive(bytes, now: now, from: &spares) : 0
        if taken < bytes.count { preBuffer.append(UnsafeRawBufferPointer(rebasing: bytes[taken...])) }
    }

    /// Adds bytes, as `receive(_:now:from:)` does, without a pool of spare arrays.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) {
        var none = ShortArrayPool()
        receive(bytes, now: now, from: &none)
    }

    /// Whether the prebuffer holds bytes. Those that the current delimiter read has gathered count.
    package var hasBytes: Bool { !preBuffer.isEmpty }

    /// How many bytes can be received straight into the array that the current read delivers: what a long read is
    /// missing, or 0 if its bytes must go through `receive`.
    package var wantedDirectly: Int {
        guard hasCurrent, !isPausedByHand, !isAsking, preBuffer.isEmpty else { return 0 }
        return current.wantedDirectly
    }

    /// Whether the current read has received no bytes.
    package var isUntouched: Bool { current.done == 0 }

    /// Lends the room for `wantedDirectly` bytes to `fill`, which returns how many it filled. If the read is untouched
    /// and `spare` has the length that it needs, `spare` becomes its array, and is empty afterwards if any bytes were
    /// filled.
    package mutating func receiveDirectly(
        reusing spare: inout [UInt8], now: MonotonicTime, _ fill: (UnsafeMutableRawBufferPointer) -> Int
    ) {
        if hasCurrent { current.receiveDirectly(reusing: &spare, now: now, fill) }
    }

    /// Completes the current read with the first of these bytes, in place, if it lends its bytes, none are buffered
    /// ahead of them and they suffice. Returns `nil` and changes nothing otherwise; pass them to `receive` then. For a
    /// read of available bytes, `bytes` must not exceed `wanted`.
    package mutating func lend(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) -> Loan? {
        guard lendsBytes, preBuffer.isEmpty, let loan = current.lend(bytes, now: now) else { return nil }
        completed += 1
        return loan
    }

    /// Returns how many of these bytes complete the item that a lending read has begun, or `nil` if none of them do or
    /// the item has no bytes yet. `bytes` follow those already received. The bytes after that item can be lent.
    package func bytesCompletingItem(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard lendsBytes, !isAsking, !preBuffer.isEmpty else { return nil }
        return current.bytesCompletingItem(in: bytes, behind: preBuffer)
    }

    /// Returns the engine's next action. Call it until it returns `.none`. It always returns `.none` while the current
    /// read waits for a verdict, and after `.exceeded`.
    package mutating func advance(now: MonotonicTime, from spares: inout ShortArrayPool) -> ReadAction {
        guard hasCurrent, !isAsking else { return .none }
        switch current.step(&preBuffer, now: now, from: &spares) {
        case .wait: return .none
        case .progress(let increment): return partial(increment)
        case .finish(let bytes): return finish(with: bytes, now: now)
        case .overrun: return overrun()
        }
    }

    /// Returns the next action, as `advance(now:from:)` does, without a pool of spare arrays.
    package mutating func advance(now: MonotonicTime) -> ReadAction {
        var none = ShortArrayPool()
        return advance(now: now, from: &none)
    }

    /// Takes the unread bytes out of the prebuffer when the connection closes. Bytes that belong to the current read
    /// stay for `failNext`.
    package mutating func takeUnread() -> [UInt8] {
        let claimed = preBuffer.take(current.gathered)
        let unread = preBuffer.take(preBuffer.count)
        preBuffer.prepend(claimed)
        return unread
    }

    // MARK: Pieces taken ahead

    /// Takes the pieces that `terminator` ends out of the bytes read ahead, and the offsets at which they end. Each has
    /// at most `limit` bytes, all together have at most `most`. The last byte always stays, so that the stream has bytes
    /// that no read has taken. Returns `nil` and changes nothing if a read is queued or there is no such piece.
    package mutating func takePieces(
        endingWith terminator: [UInt8], limit: Int?, most: Int
    ) -> (bytes: [UInt8], ends: [Int])? {
        guard isEmpty, !hasOverrun else { return nil }
        let ends = preBuffer.ends(of: terminator, limit: limit, within: min(most, preBuffer.count - 1))
        return ends.last.map { (preBuffer.take($0), ends) }
    }

    /// Takes all bytes read ahead, and the offsets at which pieces of at most `limit` of them end. Returns `nil` and
    /// changes nothing if a read is queued or there are no bytes.
    package mutating func takeChunks(limit: Int) -> (bytes: [UInt8], ends: [Int])? {
        guard isEmpty, !hasOverrun, !preBuffer.isEmpty else { return nil }
        let bytes = preBuffer.take(preBuffer.count)
        return (bytes, stride(from: 0, to: bytes.count, by: limit).map { min($0 + limit, bytes.count) })
    }

    /// Puts back the bytes of pieces that were taken ahead. No read may have taken bytes since.
    package mutating func putBack(_ bytes: [UInt8]) {
        if !bytes.isEmpty { preBuffer.prepend(bytes) }
    }

    /// Counts pieces that were taken ahead and fetched as completed reads.
    package mutating func countFetched(_ count: Int) { completed += UInt64(count) }

    // MARK: Timeouts

    /// The deadline of the current read, or `nil` if it has none or is waiting for a verdict.
    package var deadline: MonotonicTime? { hasCurrent ? current.deadline : nil }

    /// The caller's tag for the current read.
    package var currentTag: Int? { hasCurrent ? current.read.tag : nil }

    /// Whether the current read has timed out although bytes that were read ahead complete it. `expire` leaves it
    /// alone.
    package func isDueAndComplete(_ now: MonotonicTime) -> Bool {
        hasCurrent && current.isDue(now) && current.isDecided(by: preBuffer)
    }

    /// Pauses the current read if it has timed out, until `answer` or `failAsking`. Returns `nil` if it has not timed
    /// out, or if buffered bytes complete it, as `advance` will.
    package mutating func expire(now: MonotonicTime) -> TimedOutOperation? {
        guard hasCurrent, current.isDue(now), !current.isDecided(by: preBuffer) else { return nil }
        current.ask()
        currentChanged()
        return TimedOutOperation(
            operation: current.read.operation, kind: .read(current.read.kind), tag: current.read.tag,
            done: current.done, total: current.read.total, elapsed: current.limit.duration ?? .zero)
    }

    /// Extends the timed-out read by `interval`, counted from now. Returns `false` and changes nothing if that
    /// operation does not wait for a verdict or `interval` is not positive.
    package mutating func answer(_ operation: OperationID, extendBy interval: Duration, now: MonotonicTime) -> Bool {
        guard isAsking(operation), interval > .zero else { return false }
        current.extend(by: interval, now: now)
        currentChanged()
        return true
    }

    /// Ends the timed-out read and makes the next one current. Returns `nil` and changes nothing if that operation does
    /// not wait for a verdict. The failure has the bytes the read had; if `givesBack` is set, they go to the reads that
    /// follow instead. A standing read ends for good.
    package mutating func failAsking(
        _ operation: OperationID, error: SocketError, givesBack: Bool = false, now: MonotonicTime
    ) -> FailedOperation? {
        guard isAsking(operation) else { return nil }
        if givesBack { current.giveBack(to: &preBuffer) }
        let failed = failCurrent(error)
        holdNext(now: now)
        return failed
    }

    /// Ends one read for each call, the current one first and a standing one last. Returns `nil` if none is left. For a
    /// connection that closes: the next read does not become current.
    package mutating func failNext(error: SocketError) -> FailedOperation? {
        isEmpty ? nil : failCurrent(error) ?? waiting.popFirst()?.failed(error)
    }

    /// The last queued read or else the current one, or `nil` if there is none.
    package var lastQueued: OperationID? { waiting.last?.operation ?? (hasCurrent ? current.read.operation : nil) }

    /// Ends one read, current or queued. Its bytes go to the reads that follow, or are in its failure if `givesBack` is
    /// `false`. Returns `nil` and changes nothing if the read has already ended.
    package mutating func cancel(
        _ operation: OperationID, error: SocketError, givesBack: Bool = true, now: MonotonicTime
    ) -> FailedOperation? {
        guard isCurrent(operation) else {
            return waiting.removeOnly { $0.operation == operation }?.failed(error)
        }
        if givesBack { current.giveBack(to: &preBuffer) }
        let failed = failCurrent(error)
        holdNext(now: now)
        return failed
    }

    /// Changes the timeout of a read. Returns its tag, or `nil` if it has ended or waits for a verdict.
    package mutating func setTimeout(_ timeout: Duration?, of operation: OperationID) -> Int? {
        if isCurrent(operation) {
            defer { currentChanged() }
            return current.timer.change(to: TimeLimit(timeout)) ? current.read.tag : nil
        }
        return waiting.setLimit(TimeLimit(timeout), of: operation)
    }

    private func isAsking(_ operation: OperationID) -> Bool { isAsking && isCurrent(operation) }

    // MARK: Actions

    private func partial(_ increment: Int) -> ReadAction {
        .partial(operation: current.read.operation, tag: current.read.tag, increment: increment, done: current.done)
    }

    private mutating func finish(with bytes: consuming [UInt8], now: MonotonicTime) -> ReadAction {
        let (read, started) = (current.read, current.timer.started)
        completed += 1
        if read.isStanding { hold(read, now: now) } else { holdNext(now: now) }
        return .deliver(
            ReadDelivery(
                operation: read.operation, tag: read.tag, kind: read.kind, bytes: bytes, started: started,
                isStanding: read.isStanding, lendsBytes: read.lendsBytes))
    }

    private mutating func overrun() -> ReadAction {
        hasOverrun = true
        let error = SocketError(.readMaxedOut, operation: "read", detail: current.read.kind.overrunDetail)
        return failCurrent(error).map { .exceeded($0) } ?? .none
    }

    private mutating func failCurrent(_ error: SocketError) -> FailedOperation? {
        guard var ended = takeCurrent() else { return nil }
        return ended.read.failed(error, with: ended.takeBytes(&preBuffer))
    }

    // MARK: The standing read

    /// Takes out the standing read, or returns `nil` if there is none. Its gathered bytes count as read ahead again.
    mutating func takeStanding() -> (ReadRequest, OperationID)? {
        removeStanding().map { read in
            let request = ReadRequest(
                read.kind, timeout: read.limit.duration, tag: read.tag, isStanding: true, lendsBytes: read.lendsBytes)
            return (request, read.operation)
        }
    }

    private mutating func setStandingAside() {
        guard hasCurrent, current.read.isStanding, var standing = takeCurrent() else { return }
        standing.giveBack(to: &preBuffer)
        waiting.append(standing.read)
    }

    private mutating func removeStanding() -> QueuedRead? {
        setStandingAside()
        return waiting.last?.isStanding == true ? waiting.popLast() : nil
    }
}
