/// The writes of one connection: the one in hand, and those behind it.
///
/// Their bytes go out in the order in which they were queued, and may go out together. The shell sends what
/// `withUnsent` lends while `wantsToSend`, tells `wrote` how many bytes the kernel took, and performs what `advance`
/// says until it says `.none`. It wakes at `deadline`, calls `advance` and then `expire`.
package struct WriteQueue: ~Copyable, Sendable {
    /// The write in hand; without bytes where there is none. It is used where it lies, since a copy counts its bytes.
    /// Whatever changes it, or its clock, says so by `currentChanged`.
    private(set) var current = CurrentWrite()
    /// Bytes written since the write in hand became full; they belong to those behind it, in order.
    private var excess = 0
    /// Bytes queued that the kernel has not taken, those of the write in hand included.
    package private(set) var pendingBytes = 0
    /// Bytes handed on (encrypted) that the kernel has not taken yet; they go out whatever becomes of their write.
    package private(set) var committed = 0
    /// Those of them, the first ones, whose write has ended meanwhile.
    private var orphaned = 0
    /// Writes completed so far.
    package private(set) var completed: UInt64 = 0
    private(set) var waiting = OperationDeque<QueuedWrite>()
    // Facts of the write in hand, stored as those of `ReadQueue`.
    /// Whether there is one.
    package private(set) var hasCurrent = false
    /// Whether it timed out and waits for a verdict.
    package private(set) var isAsking = false
    /// Whether it times out some time.
    package private(set) var hasDeadline = false
    private let place = InPlace()

    /// An empty queue, which owns no memory.
    package init() {}

    /// Queues a write, and takes it in hand when no other is. Traps on a request without bytes.
    package mutating func enqueue(_ request: WriteRequest, as operation: OperationID, now: MonotonicTime) {
        let write = QueuedWrite(request, as: operation)
        pendingBytes += write.contents.count
        if !hasCurrent, waiting.isEmpty {
            hold(write, now: now)
        } else {
            waiting.append(write)
        }
    }

    /// Counts bytes that were handed on but are not with the kernel yet: `withUnsent` goes on behind them, and `wrote`
    /// counts them once the kernel has them. Traps on more than are unsent.
    package mutating func commit(_ count: Int) {
        precondition(0...unsentBytes ~= count, "committed \(count) of \(unsentBytes) unsent bytes")
        committed += count
    }

    /// Counts bytes that the kernel took, which may fill several writes. Traps on more than are pending.
    package mutating func wrote(_ taken: Int, now: MonotonicTime) {
        committed -= min(committed, taken)
        let ownerless = min(orphaned, taken)
        orphaned -= ownerless
        let count = taken - ownerless
        precondition(0...pendingBytes ~= count, "wrote \(count) of \(pendingBytes) pending bytes")
        pendingBytes -= count
        excess += count - current.wrote(count, now: now)
    }

    /// What the shell has to do next: each write that is wholly with the kernel, in order, then what the one in hand
    /// got out since the last report. Call it until it says `.none`.
    package mutating func advance(now: MonotonicTime) -> WriteAction {
        guard hasCurrent else { return .none }
        if current.missing == 0 { return complete(now: now) }
        let increment = current.takeIncrement()
        guard increment > 0 else { return .none }
        return .partial(
            operation: current.write.operation, tag: current.write.tag, increment: increment, done: current.done)
    }

    /// Whether there are bytes to send now: not while the write in hand is asking, nor once `failNext` began.
    package var wantsToSend: Bool { unsentBytes > 0 && hasCurrent && !isAsking }

    /// Bytes queued that were not handed on yet.
    package var unsentBytes: Int { pendingBytes - (committed - orphaned) }

    // MARK: Timeouts

    /// When the write in hand times out; nil: never, or it is asking.
    package var deadline: MonotonicTime? { hasCurrent ? current.deadline : nil }

    /// The caller's number of the write in hand.
    package var currentTag: Int? { hasCurrent ? current.write.tag : nil }

    /// Pauses the write in hand when its time is up, until `answer` or `failAsking`; nil when its time is not up, or
    /// when it is wholly with the kernel, so that `advance` completes it.
    package mutating func expire(now: MonotonicTime) -> TimedOutOperation? {
        guard hasCurrent, current.isDue(now), current.missing > 0 else { return nil }
        current.ask()
        currentChanged()
        return TimedOutOperation(
            operation: current.write.operation, kind: .write, tag: current.write.tag, done: current.done,
            total: current.total, elapsed: current.limit.duration ?? .zero)
    }

    /// Lets the asking write go on for so much longer, counted from now. False, and nothing changes, when that
    /// operation is not asking or the extension is not more than zero.
    package mutating func answer(_ operation: OperationID, extendBy interval: Duration, now: MonotonicTime) -> Bool {
        guard isAsking(operation), interval > .zero else { return false }
        current.extend(by: interval, now: now)
        currentChanged()
        return true
    }

    /// Ends the asking write and takes the next in hand; nil, and nothing changes, when that operation is not asking.
    ///
    /// Its unsent bytes are dropped. When some were sent already, the peer sees the next write in the middle of this
    /// one: harmless only to a protocol that can tell. What was handed on still goes out, and counts as done.
    package mutating func failAsking(
        _ operation: OperationID, error: SocketError, now: MonotonicTime
    ) -> FailedOperation? {
        guard isAsking(operation) else { return nil }
        let handedOn = handedOn(of: operation)?.done
        var failed = failCurrent(error)
        if let handedOn { failed?.done = handedOn }
        holdNext(now: now)
        return failed
    }

    /// How many bytes of a write were handed on, of how many, and its tag; nil when it is not here any more.
    package func handedOn(of operation: OperationID) -> (done: Int, total: Int, tag: Int)? {
        guard hasCurrent else { return nil }
        guard
            let index = isCurrent(operation)
                ? 0
                : (0..<waiting.count).first(where: { waiting[$0].operation == operation })
                    .map({ $0 + 1 })
        else { return nil }
        let write = index == 0 ? current.write : waiting[index - 1]
        let first = firstUnsent
        let done = index < first.index ? write.contents.count : index == first.index ? first.offset : 0
        return (done, write.contents.count, write.tag)
    }

    /// Ends every write, one a call, that in hand first; nil when none is left. For a connection that closes: the
    /// following ones are not taken in hand.
    package mutating func failNext(error: SocketError) -> FailedOperation? {
        if let failed = failCurrent(error) { return failed }
        committed = 0
        orphaned = 0
        guard let write = waiting.popFirst() else { return nil }
        let done = min(excess, write.contents.count)
        excess -= done
        pendingBytes -= write.contents.count - done
        return write.failed(error, done: done)
    }

    /// Ends one write of which no byte was sent, in hand or waiting. nil, and nothing changes, when it is not here any
    /// more, or when its first bytes are sent: the rest of it must follow, or the peer would take the next for it.
    package mutating func cancel(_ operation: OperationID, error: SocketError, now: MonotonicTime) -> FailedOperation? {
        guard excess == 0, committed == orphaned || isBehindCommitted(operation) else { return nil }
        if isCurrent(operation) {
            guard current.done == 0 else { return nil }
            let failed = failCurrent(error)
            holdNext(now: now)
            return failed
        }
        guard let write = waiting.removeOnly(where: { $0.operation == operation }) else { return nil }
        pendingBytes -= write.contents.count
        return write.failed(error, done: 0)
    }

    /// Lets a write go on to its end: without a limit, and without a verdict if it waits for one.
    package mutating func goOn(_ operation: OperationID, now: MonotonicTime) {
        _ = answer(operation, extendBy: .seconds(1), now: now)
        _ = setTimeout(nil, of: operation)
    }

    /// Gives a write another limit; its tag, or nil when it is not here or asking.
    package mutating func setTimeout(_ timeout: Duration?, of operation: OperationID) -> Int? {
        if isCurrent(operation) {
            defer { currentChanged() }
            return current.timer.change(to: TimeLimit(timeout)) ? current.write.tag : nil
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

    /// The last write of which no byte was sent; nil: there is none.
    package var lastUnsent: OperationID? {
        guard
            let last = waiting.last?.operation ?? (hasCurrent && current.done == 0 ? current.write.operation : nil),
            committed == orphaned || isBehindCommitted(last)
        else { return nil }
        return last
    }

    /// Whether no byte of this write was handed on yet, while some of others were.
    private func isBehindCommitted(_ operation: OperationID) -> Bool {
        let (index, offset) = firstUnsent
        // The first ones, of which some bytes were handed on; they are few.
        let touched = offset == 0 ? index : index + 1
        guard !isCurrent(operation) else { return touched == 0 }
        return !(0..<max(0, touched - 1)).contains { waiting[$0].operation == operation }
    }

    private func isAsking(_ operation: OperationID) -> Bool { isAsking && isCurrent(operation) }

    private func isCurrent(_ operation: OperationID) -> Bool { hasCurrent && current.write.operation == operation }

    private mutating func failCurrent(_ error: SocketError) -> FailedOperation? {
        guard hasCurrent else { return nil }
        var ended = CurrentWrite()
        swap(&ended, &current)
        nothingIsCurrent()
        pendingBytes -= ended.missing
        orphaned += min(committed - orphaned, ended.missing)
        return ended.write.failed(error, done: ended.done)
    }

    private mutating func complete(now: MonotonicTime) -> WriteAction {
        completed += 1
        let completion = WriteCompletion(
            operation: current.write.operation, tag: current.write.tag, contents: current.takeContents(),
            started: current.timer.started)
        holdNext(now: now)
        return .complete(completion)
    }

    /// Takes a write in hand, in place of one that is done.
    private mutating func hold(_ write: consuming QueuedWrite, now: MonotonicTime) {
        current = CurrentWrite(write, now: now)
        (hasCurrent, isAsking, hasDeadline) = (true, false, current.hasDeadline)
    }

    private mutating func holdNext(now: MonotonicTime) {
        guard !waiting.isEmpty, let next = waiting.popFirst() else {
            // What it has left, such as its number, is not looked at any more.
            return nothingIsCurrent()
        }
        hold(next, now: now)
        if excess > 0 { excess -= current.wrote(excess, now: now) }
    }

    private mutating func currentChanged() {
        (isAsking, hasDeadline) = (current.timer.isAsking, current.hasDeadline)
    }

    private mutating func nothingIsCurrent() { (hasCurrent, isAsking, hasDeadline) = (false, false, false) }
}

/// The bytes to be sent, where they lie.
extension WriteQueue {
    /// Lends the unsent parts of the first writes, in order, at most `most` of them, for the length of the call; none
    /// when there is nothing to send, also while the write in hand is asking.
    ///
    /// Each buffer of the list takes a frame of the stack, so `most` should stay in the hundreds. No memory is
    /// allocated for one buffer, nor for up to 64.
    package func withUnsent(buffers most: Int, _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Void) {
        guard wantsToSend, most > 0 else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
        let (index, offset) = firstUnsent
        if waiting.isEmpty { return lend(current.write.contents, offset: offset, body) }
        let writes = waiting.count + 1 - index
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: min(most, writes)) {
            lend($0, filled: 0, from: index, offset: offset, body)
        }
    }

    /// Gives the first so many unsent bytes, each part with how many bytes it keeps in memory: those of its write, or its
    /// own where it is a copy of what somebody else owns. Traps on more than there are.
    package func forEachUnsent(first count: Int, _ body: (ArraySlice<UInt8>, _ whole: Int) -> Void) {
        guard count > 0, hasCurrent else { return }
        var (left, (index, offset)) = (count, firstUnsent)
        while left > 0 {
            let contents = index == 0 ? current.write.contents : waiting[index - 1].contents
            let (part, whole) = contents.kept(offset..<offset + left)
            body(part, whole)
            (left, index, offset) = (left - part.count, index + 1, 0)
        }
    }

    /// The writes whose bytes `withUnsent` lends, in the same order.
    package func unsentOperations(most: Int) -> [OperationID] {
        guard wantsToSend else { return [] }
        return (firstUnsent.index...waiting.count).prefix(most).map { index in
            index == 0 ? current.write.operation : waiting[index - 1].operation
        }
    }

    /// The first write that has unsent bytes (0: that in hand), and how many of its bytes are written. Traps when there
    /// is none.
    private var firstUnsent: (index: Int, offset: Int) {
        precondition(hasCurrent, "\(pendingBytes) bytes pending without a write in hand")
        let ahead = excess + committed - orphaned
        guard ahead >= current.missing else { return (0, current.done + ahead) }
        var index = 1
        var offset = ahead - current.missing
        while index <= waiting.count, offset >= waiting[index - 1].contents.count {
            offset -= waiting[index - 1].contents.count
            index += 1
        }
        return (index, offset)
    }

    /// Lends the bytes of the only write.
    private func lend(
        _ contents: WriteContents, offset: Int, _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Void
    ) {
        contents.withBytes { bytes in
            withUnsafePointer(to: UnsafeRawBufferPointer(rebasing: bytes[offset...])) {
                body(UnsafeBufferPointer(start: $0, count: 1))
            }
        }
    }

    /// Pins the bytes of the write at `index`, those before `offset` left out, while it goes on to the next.
    private func lend(
        _ list: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>, filled: Int, from index: Int, offset: Int,
        _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Void
    ) {
        guard filled < list.count else { return body(UnsafeBufferPointer(list)) }
        let contents = index == 0 ? current.write.contents : waiting[index - 1].contents
        contents.withBytes {
            list.initializeElement(at: filled, to: UnsafeRawBufferPointer(rebasing: $0[offset...]))
            lend(list, filled: filled + 1, from: index + 1, offset: 0, body)
        }
    }
}
