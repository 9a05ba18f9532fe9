/// The reads of one connection: the one in hand, those behind it, and the bytes read ahead.
///
/// Reads complete in the order in which they were queued. The shell asks `wanted`, takes at most so many bytes from the
/// kernel, gives them to `receive`, and performs what `advance` says until it says `.none`; after `enqueue`, `answer`
/// and `failAsking` it calls `advance` as well. It wakes at `deadline`, calls `advance` and then `expire`.
///
/// A standing read is the filler: it is in hand only while no other read is queued. When one is queued, it gives back
/// the bytes it had gathered and waits; its time and its bytes then count anew.
package struct ReadQueue: ~Copyable, Sendable {
    /// The read in hand; vacated where nothing is queued, or a read overran its limit. It is used where it lies, since a
    /// copy counts its bytes. Whatever changes it, or its clock, says so by `currentChanged`.
    private(set) var current = CurrentRead()
    private(set) var preBuffer = PreBuffer()
    /// Reads completed so far; each item of a standing read counts.
    package private(set) var completed: UInt64 = 0
    /// In order; a standing read is the last.
    private(set) var waiting = OperationDeque<QueuedRead>()
    // Facts of the read in hand. Stored, since they are asked at every step, and a look into it costs more.
    /// Whether there is one; a standing one counts.
    package private(set) var hasCurrent = false
    /// Whether it lends its bytes.
    package private(set) var lendsBytes = false
    /// Whether it timed out and waits for a verdict.
    package private(set) var isAsking = false
    /// Whether it times out some time.
    package private(set) var hasDeadline = false
    /// Whether no more bytes shall be taken from the kernel. Bytes that are here already are still delivered, and
    /// timeouts go on counting.
    package var isPausedByHand = false
    /// Whether a delimiter read overran its limit: the connection has to close, so nothing is taken in hand any more.
    private var hasOverrun = false
    private let place = InPlace()

    /// An empty queue, which owns no memory.
    package init() {}

    /// Queues a read, and takes it in hand when no other is.
    ///
    /// A standing read replaces the one that stood before, which then failed: its failure is returned, and what it had
    /// gathered goes to the reads that follow. Traps on a request that could never complete: a length or limit below
    /// 1, an empty delimiter, or a limit shorter than the delimiter.
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

    /// Queues a read that is not standing and could complete, and takes it in hand when no other is.
    mutating func queue(_ request: ReadRequest, as operation: OperationID, now: MonotonicTime) {
        if !hasCurrent, !hasOverrun, waiting.isEmpty {
            hold(QueuedRead(request, as: operation), now: now)
        } else {
            enqueue(request, as: operation, now: now)
        }
    }

    /// Completes a read that could complete without taking it in hand, when nothing stands before it and the bytes that
    /// are here are enough: those reads that a delegate queues from within the last one's callback. nil, and nothing
    /// changes, otherwise; then `queue` has it.
    mutating func completeAtOnce(_ request: ReadRequest, from spares: inout ShortArrays) -> [UInt8]? {
        guard !hasCurrent, !hasOverrun, waiting.isEmpty, let count = preBuffer.length(for: request.kind) else {
            return nil
        }
        completed += 1
        return preBuffer.take(count, from: &spares)
    }

    /// Takes a read in hand, in place of one that is done.
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

    /// The most bytes to take from the kernel now: 0 while no read is in hand, or it is asking, or reading is paused by
    /// hand; `Int.max`: no bound. It holds once `advance` has said `.none`.
    package var wanted: Int {
        guard !isPausedByHand, hasCurrent, !isAsking else { return 0 }
        guard let missing = current.missing else { return .max }
        return max(0, missing - prebuffered)
    }

    /// Adds bytes that came behind all that are here. More than were wanted, and bytes that no read wanted, are kept
    /// for the reads that follow.
    package mutating func receive(
        _ bytes: UnsafeRawBufferPointer, now: MonotonicTime, from spares: inout ShortArrays
    ) {
        let taken = hasCurrent && preBuffer.isEmpty ? current.receive(bytes, now: now, from: &spares) : 0
        if taken < bytes.count { preBuffer.append(UnsafeRawBufferPointer(rebasing: bytes[taken...])) }
    }

    /// The same where no memory is kept.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) {
        var none = ShortArrays()
        receive(bytes, now: now, from: &none)
    }

    /// Whether there are bytes that no read has taken wholly.
    package var hasBytes: Bool { !preBuffer.isEmpty }

    /// How many bytes the current read can be given straight into the array that it will give away: what a long read lacks. 0:
    /// they go by `receive`.
    package var wantedDirectly: Int {
        guard hasCurrent, !isPausedByHand, !isAsking, preBuffer.isEmpty else { return 0 }
        return current.wantedDirectly
    }

    /// Whether no byte of the current read has come.
    package var isUntouched: Bool { current.done == 0 }

    /// Lends the room for those `wantedDirectly`; `fill` says how many of them it filled. Where the read is untouched, the array
    /// is `spare`, which is empty afterwards, if that is as long and bytes were filled in.
    package mutating func receiveDirectly(
        reusing spare: inout [UInt8], now: MonotonicTime, _ fill: (UnsafeMutableRawBufferPointer) -> Int
    ) {
        if hasCurrent { current.receiveDirectly(reusing: &spare, now: now, fill) }
    }

    /// Completes the read in hand with the first of these bytes, which stay where they are, if it lends its bytes, none
    /// lie before them and they are enough for it. nil, and nothing changes, otherwise; then they go to `receive`. For a
    /// read of whatever comes there must be no more of them than are wanted.
    package mutating func lend(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) -> Loan? {
        guard lendsBytes, preBuffer.isEmpty, let loan = current.lend(bytes, now: now) else { return nil }
        completed += 1
        return loan
    }

    /// How many of these bytes, which follow those that are here, complete the item that a lending read has the first
    /// bytes of; nil: none of them does, or none of it is here. What lies behind them can be lent.
    package func bytesCompletingItem(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard lendsBytes, !isAsking, !preBuffer.isEmpty else { return nil }
        return current.bytesCompletingItem(in: bytes, behind: preBuffer)
    }

    /// What the shell has to do next; call it until it says `.none`. It says so while the read in hand is asking, and
    /// for ever after `.exceeded`.
    package mutating func advance(now: MonotonicTime, from spares: inout ShortArrays) -> ReadAction {
        guard hasCurrent, !isAsking else { return .none }
        switch current.step(&preBuffer, now: now, from: &spares) {
        case .wait: return .none
        case .progress(let increment): return partial(increment)
        case .finish(let bytes): return finish(with: bytes, now: now)
        case .overrun: return overrun()
        }
    }

    /// The same where no memory is kept.
    package mutating func advance(now: MonotonicTime) -> ReadAction {
        var none = ShortArrays()
        return advance(now: now, from: &none)
    }

    /// The unread bytes of the prebuffer, taken out, for a connection that closes; those that belong to the read in
    /// hand stay, for `failNext`.
    package mutating func takeUnread() -> [UInt8] {
        let claimed = preBuffer.take(current.gathered)
        let unread = preBuffer.take(preBuffer.count)
        preBuffer.prepend(claimed)
        return unread
    }

    // MARK: Timeouts

    /// When the read in hand times out; nil: never, or it is asking.
    package var deadline: MonotonicTime? { hasCurrent ? current.deadline : nil }

    /// The caller's number of the read in hand.
    package var currentTag: Int? { hasCurrent ? current.read.tag : nil }

    /// Whether the current read's time is up although bytes that were read ahead complete it: `expire` leaves it alone.
    package func isDueAndComplete(_ now: MonotonicTime) -> Bool {
        hasCurrent && current.isDue(now) && current.isDecided(by: preBuffer)
    }

    /// Pauses the read in hand when its time is up, until `answer` or `failAsking`; nil when its time is not up, or
    /// when the bytes that are here complete it, which `advance` then does.
    package mutating func expire(now: MonotonicTime) -> TimedOutOperation? {
        guard hasCurrent, current.isDue(now), !current.isDecided(by: preBuffer) else { return nil }
        current.ask()
        currentChanged()
        return TimedOutOperation(
            operation: current.read.operation, kind: .read(current.read.kind), tag: current.read.tag,
            done: current.done, total: current.read.total, elapsed: current.limit.duration ?? .zero)
    }

    /// Lets the asking read go on for so much longer, counted from now. False, and nothing changes, when that operation
    /// is not asking or the extension is not more than zero.
    package mutating func answer(_ operation: OperationID, extendBy interval: Duration, now: MonotonicTime) -> Bool {
        guard isAsking(operation), interval > .zero else { return false }
        current.extend(by: interval, now: now)
        currentChanged()
        return true
    }

    /// Ends the asking read and takes the next in hand; nil, and nothing changes, when that operation is not asking. The
    /// failure has the bytes it had; `givesBack`: they go back to the stream instead, for the reads that follow. A standing
    /// read ends for good.
    package mutating func failAsking(
        _ operation: OperationID, error: SocketError, givesBack: Bool = false, now: MonotonicTime
    ) -> FailedOperation? {
        guard isAsking(operation) else { return nil }
        if givesBack { current.giveBack(to: &preBuffer) }
        let failed = failCurrent(error)
        holdNext(now: now)
        return failed
    }

    /// Ends every read, one a call, that in hand first and a standing one last; nil when none is left. For a connection
    /// that closes: the following ones are not taken in hand.
    package mutating func failNext(error: SocketError) -> FailedOperation? {
        isEmpty ? nil : failCurrent(error) ?? waiting.popFirst()?.failed(error)
    }

    /// The last read that is queued or in hand; nil: there is none.
    package var lastQueued: OperationID? { waiting.last?.operation ?? (hasCurrent ? current.read.operation : nil) }

    /// Ends one read, in hand or waiting. What it had goes back to the stream, for the reads that follow, or else is in its
    /// failure. nil, and nothing changes, when it is not here any more.
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

    /// Gives a read another limit; its tag, or nil when it is not here or asking.
    package mutating func setTimeout(_ timeout: Duration?, of operation: OperationID) -> Int? {
        if isCurrent(operation) {
            defer { currentChanged() }
            return current.timer.change(to: TimeLimit(timeout)) ? current.read.tag : nil
        }
        var tag: Int?
        _ = waiting.change {
            guard $0.operation == operation else { return false }
            $0.limit = TimeLimit(timeout)
            tag = $0.tag
            return true
        }
        return tag
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

    /// Takes the standing read out; what it had gathered goes back to the bytes read ahead. nil: there is none.
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
