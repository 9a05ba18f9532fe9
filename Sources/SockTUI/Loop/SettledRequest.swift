import SocketCore

/// Skips requests whose answer is known, because nothing that is shown can change any more.
struct SettledRequest {
    private var answered: SnapshotRequest?

    /// Returns whether to make a request. `isStill` says that its answer is final.
    mutating func isNeeded(_ request: SnapshotRequest, isStill: Bool) -> Bool {
        defer { answered = isStill ? request : nil }
        return !isStill || request != answered
    }
}
