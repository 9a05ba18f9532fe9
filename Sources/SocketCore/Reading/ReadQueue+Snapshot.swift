/// The state of the queue that other code can see.
extension ReadQueue {
    /// Whether there is no current or queued read. A standing read counts.
    package var isEmpty: Bool { !hasCurrent && waiting.isEmpty }

    /// Whether there is no current or queued read. A standing read counts only while there are bytes for it.
    package var isDrained: Bool {
        guard waiting.isEmpty else { return false }
        return !hasCurrent || current.read.isStanding && current.done == 0 && preBuffer.isEmpty
    }

    /// The number of bytes read ahead that no read has taken. Those that the current delimiter read has gathered do not
    /// count.
    package var prebuffered: Int { preBuffer.count - current.gathered }

    /// The current read, the bytes it has received and when it became current, or `nil` if there is none.
    package var currentOperation:
        (operation: OperationID, tag: Int, kind: ReadRequest.Kind, done: Int, started: MonotonicTime)?
    {
        guard hasCurrent else { return nil }
        return (current.read.operation, current.read.tag, current.read.kind, current.done, current.timer.started)
    }

    /// Returns the bytes in `range` that the current read has received so far.
    package func currentBytes(_ range: Range<Int>) -> [UInt8] {
        hasCurrent ? current.bytes(range, preBuffer) : []
    }

    /// Returns a snapshot of the queue that lists at most `listing` queued reads.
    package func snapshot(listing: Int) -> QueueSnapshot {
        QueueSnapshot(
            current: hasCurrent ? current.snapshot(preBuffer) : nil,
            pending: (0..<max(0, min(listing, waiting.count))).map { waiting[$0].snapshot },
            pendingCount: waiting.count, completed: completed)
    }
}
