/// The writes of one connection: the current write and the queued writes.
///
/// Their bytes are sent in the order in which they were queued, and can be sent together. While `wantsToSend`, the
/// engine sends what `withUnsent` lends and passes the number of bytes that the kernel accepted to `wrote`. It then
/// performs what `advance` returns until that is `.none`. At `deadline` it calls `advance` and then `expire`.
package struct WriteQueue: ~Copyable, Sendable {
    /// The current write, which has no bytes if there is none. It is used in place, because a copy retains its bytes.
    /// Code that changes it or its timer must call `currentChanged`.
    private(set) var current = CurrentWrite()
    /// The number of bytes written after those of the current write. They belong to the queued writes, in order.
    private var excess = 0
    /// The number of queued bytes that the kernel has not accepted, including those of the current write.
    package private(set) var pendingBytes = 0
    /// The number of bytes that were handed on (encrypted) but that the kernel has not accepted. They are sent even if
    /// their write ends.
    package private(set) var committed = 0
    /// The number of committed bytes, the first ones, whose write has ended.
    private var orphaned = 0
    /// The number of writes completed.
    package private(set) var completed: UInt64 = 0
    private(set) var waiting = OperationDeque<QueuedWrite>()
    // Facts about the current write, stored for the same reason as those of `ReadQueue`.
    /// Whether there is a current write.
    package private(set) var hasCurrent = false
    /// Whether the current write timed out and waits for a verdict.
    package private(set) var isAsking = false
    /// Whether the current write has a deadline.
    package private(set) var hasDeadline = false
    private let place = InPlace()

    /// Creates an empty queue, which owns no memory.
    package init() {}

    /// Queues a write. It becomes the current write if there is none. Traps if the request has no bytes.
    package mutating func enqueue(_ request: WriteRequest, as operation: OperationID, now: MonotonicTime) {
        let write = QueuedWrite(request, as: operation)
        pendingBytes += write.contents.count
        if !hasCurrent, waiting.isEmpty {
            hold(write, now: now)
        } else {
            waiting.append(write)
        }
    }

    /// Counts bytes that were handed on but that the kernel has not accepted. `withUnsent` continues after them, and
    /// `wrote` counts them once the kernel has them. Traps if `count` exceeds the unsent bytes.
    package mutating func commit(_ count: Int) {
        precondition(0...unsentBytes ~= count, "committed \(count) of \(unsentBytes) unsent bytes")
        committed += count
    }

    /// Counts bytes that the kernel accepted, which may complete several writes. Traps if there are more than the
    /// pending bytes.
    package mutating func wrote(_ taken: Int, now: MonotonicTime) {
        committed -= min(committed, taken)
        let ownerless = min(orphaned, taken)
        orphaned -= ownerless
        let count = taken - ownerless
        precondition(0...pendingBytes ~= count, "wrote \(count) of \(pendingBytes) pending bytes")
        pendingBytes -= count
        excess += count - current.wrote(count, now: now)
    }

    /// Returns the engine's next action: each write that the kernel has accepted completely, in order, then the bytes
    /// of the current write accepted since the last report. Call it until it returns `.none`.
    package mutating func advance(now: MonotonicTime) -> WriteAction {
        guard hasCurrent else { return .none }
        if current.missing == 0 { return complete(now: now) }
        let increment = current.takeIncrement()
        guard increment > 0 else { return .none }
        return .partial(
            operation: current.write.operation, tag: current.write.tag, increment: increment, done: current.done)
    }

    /// Whether there are bytes to send now. It is `false` while the current write waits for a verdict, and after the
    /// first `failNext`.
    package var wantsToSend: Bool { unsentBytes > 0 && hasCurrent && !isAsking }

    /// The number of queued bytes that have not been handed on.
    package var unsentBytes: Int { pendingBytes - (committed - orphaned) }

    // MARK: Timeouts

    /// The deadline of the current write, or `nil` if it has none or is waiting for a verdict.
    package var deadline: MonotonicTime? { hasCurrent ? current.deadline : nil }

    /// The caller's tag for the current write.
    package var currentTag: Int? { hasCurrent ? current.write.tag : nil }

    /// Pauses the current write if it has timed out, until `answer` or `failAsking`. Returns `nil` if it has not timed
    /// out, or if the kernel has accepted all of it, in which case `advance` completes it.
    package mutating func expire(now: MonotonicTime) -> TimedOutOperation? {
        guard hasCurrent, current.isDue(now), current.missing > 0 else { return nil }
        current.ask()
        currentChanged()
        return TimedOutOperation(
            operation: current.write.operation, kind: .write, tag: current.write.tag, done: current.done,
            total: current.total, elapsed: current.limit.duration ?? .zero)
    }

    /// Extends the timed-out write by `interval`, counted from now. Returns `false` and changes nothing if that
    /// operation does not wait for a verdict or `interval` is not positive.
    package mutating func answer(_ operation: OperationID, extendBy interval: Duration, now: MonotonicTime) -> Bool {
        guard isAsking(operation), interval > .zero else { return false }
        current.extend(by: interval, now: now)
        currentChanged()
        return true
    }

    /// Ends the timed-out write and makes the next one current. Returns `nil` and changes nothing if that operation
    /// does not wait for a verdict.
    ///
    /// Its unsent bytes are dropped. If some were already sent, the peer receives the next write in the middle of this
    /// one, which is harmless only if the protocol can detect it. Bytes that were handed on are still sent, and count
    /// as done.
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

    /// Returns how many bytes of a write were handed on, its total and its tag, or `nil` if it has ended.
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

    /// Ends one write for each call, the current one first. Returns `nil` if none is left. For a connection that
    /// closes: the next write does not become current.
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

    /// Ends one write of which no byte was sent, current or queued. Returns `nil` and changes nothing if it has ended
    /// or its first bytes were sent: the rest must follow, or the peer would take the next write for it.
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

    /// Lets a write finish: removes its timeout, and extends it if it waits for a verdict.
    package mutating func goOn(_ operation: OperationID, now: MonotonicTime) {
        _ = answer(operation, extendBy: .seconds(1), now: now)
        _ = setTimeout(nil, of: operation)
    }

    /// Changes the timeout of a write. Returns its tag, or `nil` if it has ended or waits for a verdict.
    package mutating func setTimeout(_ timeout: Duration?, of operation: OperationID) -> Int? {
        if isCurrent(operation) {
            defer { currentChanged() }
            return current.timer.change(to: TimeLimit(timeout)) ? current.write.tag : nil
        }
        return waiting.setLimit(TimeLimit(timeout), of: operation)
    }

    /// The last write of which no byte was sent, or `nil` if there is none.
    package var lastUnsent: OperationID? {
        guard
            let last = waiting.last?.operation ?? (hasCurrent && current.done == 0 ? current.write.operation : nil),
            committed == orphaned || isBehindCommitted(last)
        else { return nil }
        return last
    }

    /// Whether no byte of this write was handed on, while bytes of others were.
    private func isBehindCommitted(_ operation: OperationID) -> Bool {
        let (index, offset) = firstUnsent
        // The number of first writes of which bytes were handed on; they are few.
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

    /// Makes a write current, in place of one that has ended.
    private mutating func hold(_ write: consuming QueuedWrite, now: MonotonicTime) {
        current = CurrentWrite(write, now: now)
        (hasCurrent, isAsking, hasDeadline) = (true, false, current.hasDeadline)
    }

    private mutating func holdNext(now: MonotonicTime) {
        guard !waiting.isEmpty, let next = waiting.popFirst() else {
            // Its remaining fields, such as its tag, are not read again.
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

/// The bytes to send, in place.
extension WriteQueue {
    /// Lends the unsent parts of the first writes, in order, at most `most` of them, during the call. Lends none if
    /// there is nothing to send or the current write waits for a verdict.
    ///
    /// Each buffer takes one stack frame, so `most` should stay in the hundreds. Up to 64 buffers are lent without
    /// allocating memory.
    package func withUnsent(buffers most: Int, _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Void) {
        guard wantsToSend, most > 0 else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
        let (index, offset) = firstUnsent
        if waiting.isEmpty { return lend(current.write.contents, offset: offset, body) }
        let writes = waiting.count + 1 - index
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: min(most, writes)) {
            lend($0, filled: 0, from: index, offset: offset, body)
        }
    }

    /// Calls `body` with each part of the first `count` unsent bytes, and with how many bytes of memory it retains:
    /// those of its whole write, or its own if it is a copy of a caller's buffer. Traps if there are fewer unsent
    /// bytes.
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

    /// The index of the first write that has unsent bytes (0 is the current write), and how many of its bytes are
    /// written or handed on. Traps if there is none.
    private var firstUnsent: (index: Int, offset: Int) {
        precondition(hasCurrent, "\(pendingBytes) bytes pending without a current write")
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

    private func lend(
        _ contents: WriteContents, offset: Int, _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Void
    ) {
        contents.withBytes { bytes in
            withUnsafePointer(to: UnsafeRawBufferPointer(rebasing: bytes[offset...])) {
                body(UnsafeBufferPointer(start: $0, count: 1))
            }
        }
    }

    /// Pins the unsent bytes of the write at `index`, from `offset` on, while it recurses into the next write.
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
