/// What can be seen of the queue from outside.
extension ReadQueue {
    /// Whether no read is in hand or queued, not even a standing one.
    package var isEmpty: Bool { !hasCurrent && waiting.isEmpty }

    /// Whether no read is in hand or queued; a standing read counts only while there are bytes for it.
    package var isDrained: Bool {
        guard waiting.isEmpty else { return false }
        return !hasCurrent || current.read.isStanding && current.done == 0 && preBuffer.isEmpty
    }

    /// Bytes read ahead that no read has taken; those gathered by a delimiter read in hand are not counted.
    package var prebuffered: Int { preBuffer.count - current.gathered }

    /// The read in hand, bytes so far and when it was taken in hand; nil when there is none.
    package var currentOperation:
        (operation: OperationID, tag: Int, kind: ReadRequest.Kind, done: Int, started: MonotonicTime)?
    {
        guard hasCurrent else { return nil }
        return (current.read.operation, current.read.tag, current.read.kind, current.done, current.timer.started)
    }

    /// Bytes that the read in hand has so far: those of a range, as far as they have come.
    package func currentBytes(_ range: Range<Int>) -> [UInt8] {
        hasCurrent ? current.bytes(range, preBuffer) : []
    }

    /// The queue as it is now, with at most `listing` of the reads that wait.
    package func snapshot(listing: Int) -> QueueSnapshot {
        QueueSnapshot(
            current: hasCurrent ? current.snapshot(preBuffer) : nil,
            pending: (0..<max(0, min(listing, waiting.count))).map { waiting[$0].snapshot },
            pendingCount: waiting.count, completed: completed)
    }
}
