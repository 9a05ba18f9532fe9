/// The state of the queue that other code can see.
extension WriteQueue {
    /// Whether there is no current or queued write.
    package var isEmpty: Bool { !hasCurrent && waiting.isEmpty }

    /// The number of writes queued after the current one.
    package var waitingCount: Int { waiting.count }

    /// The current write, the bytes written, its total and when it became current, or `nil` if there is none.
    package var currentOperation: (operation: OperationID, tag: Int, done: Int, total: Int, started: MonotonicTime)? {
        guard hasCurrent else { return nil }
        return (current.write.operation, current.write.tag, current.done, current.total, current.timer.started)
    }

    /// Returns a snapshot of the queue that lists at most `listing` queued writes.
    package func snapshot(listing: Int) -> QueueSnapshot {
        QueueSnapshot(
            current: hasCurrent ? current.snapshot : nil,
            pending: (0..<max(0, min(listing, waiting.count))).map { waiting[$0].snapshot },
            pendingCount: waiting.count, pendingBytes: pendingBytes, completed: completed)
    }
}

extension WriteQueue {
    /// Returns the bytes in `range` of the current write that the kernel has accepted.
    package func currentBytes(_ range: Range<Int>) -> [UInt8] {
        guard hasCurrent else { return [] }
        return current.write.contents.part(range.clamped(to: 0..<current.done))
    }
}
