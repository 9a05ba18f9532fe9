extension SocketSnapshot.Facts {
    /// See `SocketSnapshot.isUneventful`.
    var isUneventful: Bool {
        guard phase == .connected, linked == nil, hasNoRarities, !isReadingPaused, !isHeldBack,
            !isWriteShut, !isAboveHighMark, !isUnanswered, prebuffered == 0, unreadInKernel == 0,
            writing.current == nil, reading.pendingCount == 0,
            activity.unreadSince == nil, activity.peerClosed == nil, activity.operationRate ?? 0 <= 1_000,
            let read = reading.current, read.isStanding, read.timeout == nil, case .read(.available) = read.kind,
            let callbacks, callbacks.isHeard
        else { return false }
        return callbacks.lag == nil && callbacks.undelivered == 0
    }
}
