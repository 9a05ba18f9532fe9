/// What can be seen of the queue from outside.
extension WriteQueue {
    /// Whether no write is in hand or queued.
    package var isEmpty: Bool { !hasCurrent && waiting.isEmpty }

    /// The write in hand, bytes written, bytes in all and when it was taken in hand; nil when there is none.
    package var currentOperation: (operation: OperationID, tag: Int, done: Int, total: Int, started: MonotonicTime)? {
        guard hasCurrent else { return nil }
        return (current.write.operation, current.write.tag, current.done, current.total, current.timer.started)
    }

    /// The queue as it is now, with at most `listing` of the writes that wait.
    package func snapshot(listing: Int) -> QueueSnapshot {
        QueueSnapshot(
            current: hasCurrent ? current.snapshot : nil,
            pending: (0..<max(0, min(listing, waiting.count))).map { waiting[$0].snapshot },
            pendingCount: waiting.count, pendingBytes: pendingBytes, completed: completed)
    }
}

extension WriteQueue {
    /// Bytes of the write in hand that the kernel has: those of a range.
    package func currentBytes(_ range: Range<Int>) -> [UInt8] {
        guard hasCurrent else { return [] }
        return current.write.contents.part(range.clamped(to: 0..<current.done))
    }
}
