/// Operations that wait for the connection or for TLS, and the ways in which any operation can end early.
extension ConnectionMachine {
    /// Cancels one of the named operations. Call it until it returns `nil`, which means that none is left that can be
    /// cancelled.
    package mutating func cancelNext(_ target: SocketCommand.CancelTarget, now: MonotonicTime) -> FailedOperation? {
        let read = SocketError(.cancelled, operation: "read", detail: "cancelled")
        let write = SocketError(.cancelled, operation: "write", detail: "cancelled")
        if let cancelled = cancelEarly(target, read: read, write: write) { return cancelled }
        switch target {
        case .operation(let id):
            return reading.cancel(id, error: read, now: now) ?? writing.cancel(id, error: write, now: now)
        case .reads:
            return reading.lastQueued.flatMap { reading.cancel($0, error: read, now: now) }
        case .writes:
            return writing.lastUnsent.flatMap { writing.cancel($0, error: write, now: now) }
        }
    }

    private mutating func cancelEarly(
        _ target: SocketCommand.CancelTarget, read: SocketError, write: SocketError
    ) -> FailedOperation? {
        let cancelled =
            switch target {
            case .operation(let wanted): early.removeOnly { $0.operation == wanted }
            case .reads: early.remove { if case .read = $0 { true } else { false } }
            case .writes: early.remove { if case .write = $0 { true } else { false } }
            }
        guard let cancelled else { return nil }
        return if case .read = cancelled {
            Self.failure(of: cancelled, error: read)
        } else {
            Self.failure(of: cancelled, error: write)
        }
    }
}

// MARK: - Rejecting and holding

extension ConnectionMachine {
    /// The error for operations that were waiting when the peer's stream ended.
    package static let endOfStream = SocketError(
        .closedByPeer, operation: "read", detail: "the peer closed its side (FIN)")

    func refusal(of operation: String) -> SocketError? {
        if state == .closed || state == .lingering {
            return SocketError(.notConnected, operation: operation, detail: "the connection is closed")
        }
        guard !drain.isEmpty else { return nil }
        return SocketError(.disconnected, operation: operation, detail: "refused: the connection is closing")
    }

    var shutRefusal: SocketError? {
        guard isWriteShut || isShuttingWrite else { return nil }
        return SocketError(.disconnected, operation: "write", detail: "refused: this side was half-closed")
    }

    var isDrainedWhileConnecting: Bool {
        guard !drain.isEmpty, !upgrade.isPending else { return false }
        return !(0..<early.count).contains { index in
            switch early[index] {
            case .read(let request, _): drain.contains(.reads) && !request.isStanding
            case .write: drain.contains(.writes)
            case .barrier: true
            }
        }
    }

    mutating func replaceEarlyStanding() -> FailedOperation? {
        let error = SocketError(.disconnected, operation: "read", detail: "replaced by a newer standing read")
        return takeEarlyStanding().flatMap { Self.failure(of: $0, error: error) }
    }

    mutating func takeEarlyStanding() -> Early? {
        early.remove { operation in
            if case .read(let request, _) = operation { request.isStanding } else { false }
        }
    }

    /// Whether new operations are early, because there is no connection yet or TLS must come first.
    var isTooEarly: Bool { state == .connecting || upgrade.isPending }

    /// Moves the first early operation into its queue.
    mutating func releaseFirstEarly(now: MonotonicTime) {
        switch early.popFirst() {
        // A replaced standing read was already taken out of `early`.
        case .read(let request, let id): _ = reading.enqueue(request, as: id, now: now)
        case .write(let request, let id): writing.enqueue(request, as: id, now: now)
        case .barrier, nil: return
        }
    }

    /// Returns the operation's failure, or `nil` for the barrier, which has no caller.
    static func failure(of operation: Early, error: SocketError) -> FailedOperation? {
        switch operation {
        case .barrier: nil
        case .read(let request, let id):
            FailedOperation(
                operation: id, kind: .read(request.kind), tag: request.tag, done: 0, total: request.total, bytes: [],
                isStanding: request.isStanding, error: error)
        case .write(let request, let id):
            FailedOperation(
                operation: id, kind: .write, tag: request.tag, done: 0, total: request.contents.count, bytes: [],
                error: error)
        }
    }

    /// A snapshot of the read queue. Early reads count as pending, and the TLS barrier is at its place among them.
    package func readingSnapshot(listing: Int = QueueSnapshot.listingLimit) -> QueueSnapshot {
        with(earlySnapshots(reads: true), in: reading.snapshot(listing: listing), listing: listing)
    }

    /// A snapshot of the write queue. Early writes count as pending, and the TLS barrier is at its place among them.
    package func writingSnapshot(listing: Int = QueueSnapshot.listingLimit) -> QueueSnapshot {
        var queue = with(earlySnapshots(reads: false), in: writing.snapshot(listing: listing), listing: listing)
        queue.pendingBytes = pendingWriteBytes
        return queue
    }

    /// The number of queued bytes that the kernel has not accepted, including those of early writes.
    package var pendingWriteBytes: Int { writing.pendingBytes + early.writeBytes }

    private func with(
        _ early: (ahead: [OperationSnapshot], behind: [OperationSnapshot]), in queue: QueueSnapshot, listing: Int
    ) -> QueueSnapshot {
        var queue = queue
        if upgrade.isPending {
            queue.barrier = (queue.current == nil ? 0 : 1) + queue.pendingCount + early.ahead.count
        }
        queue.pendingCount += early.ahead.count + early.behind.count
        queue.pending = Array((queue.pending + early.ahead + early.behind).prefix(listing))
        return queue
    }

    /// Snapshots of the early operations of one direction, before and after the barrier. Without a barrier, all come
    /// before it.
    private func earlySnapshots(reads: Bool) -> (ahead: [OperationSnapshot], behind: [OperationSnapshot]) {
        var lists: (ahead: [OperationSnapshot], behind: [OperationSnapshot]) = ([], [])
        var isBehind = false
        for index in 0..<early.count {
            let shown: OperationSnapshot
            switch early[index] {
            case .barrier:
                isBehind = true
                continue
            case .read(let request, let id):
                guard reads else { continue }
                shown = OperationSnapshot(
                    id: id, kind: .read(request.kind), tag: request.tag, total: request.total,
                    isStanding: request.isStanding, timeout: request.timeout)
            case .write(let request, let id):
                guard !reads else { continue }
                shown = OperationSnapshot(
                    id: id, kind: .write, tag: request.tag, total: request.contents.count, timeout: request.timeout,
                    preview: request.contents.part(0..<32))
            }
            if isBehind { lists.behind.append(shown) } else { lists.ahead.append(shown) }
        }
        return lists
    }
}

// MARK: - Changing a timeout

extension ConnectionMachine {
    /// Changes the timeout of an operation. Returns its tag, or `nil` if it has ended or waits for a verdict.
    package mutating func setTimeout(_ timeout: Duration?, of operation: OperationID) -> Int? {
        let tag = reading.setTimeout(timeout, of: operation) ?? writing.setTimeout(timeout, of: operation)
        return tag ?? setEarlyTimeout(timeout, of: operation)
    }

    private mutating func setEarlyTimeout(_ timeout: Duration?, of operation: OperationID) -> Int? {
        var tag: Int?
        _ = early.change { waiting in
            switch waiting {
            case .read(var request, operation):
                request.timeout = timeout
                (waiting, tag) = (.read(request, operation), request.tag)
            case .write(var request, operation):
                request.timeout = timeout
                (waiting, tag) = (.write(request, operation), request.tag)
            case .read, .write, .barrier: return false
            }
            return true
        }
        return tag
    }
}
