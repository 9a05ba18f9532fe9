import SocketCore

/// Waiting for room in the write queue.
extension AsyncSocket {
    /// Waits until no more is queued for writing than the low watermark allows, if more than the high one allows is
    /// queued now; else returns at once. What was written before this from the same thread counts. Throws
    /// `badConfiguration` when the session has no watermarks (`SocketConfiguration.writeWatermarks`), `notConnected`
    /// without a session, `cancelled` when the task is cancelled, and why the session ended when it ends first.
    /// `didBecomeWritable` is called all the same.
    public func waitUntilWritable() async throws(SocketError) {
        let waiter = engine.names.nextOperation()
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waitForRoom(as: waiter) { continuation.resume(returning: $0) }
                // Cancelled before it waited: the handler below found nobody then.
                if Task.isCancelled { stopWaitingForRoom(waiter) }
            }
        } onCancel: {
            stopWaitingForRoom(waiter)
        }
        if let error { throw error }
    }

    /// How many wait for room now.
    package var waitersForRoom: Int { state.withLock { $0.awaited.room.count } }

    private func waitForRoom(as waiter: OperationID, _ answer: @escaping @Sendable (SocketError?) -> Void) {
        let refusal: SocketError?? = enter { engineState, session in
            guard let connection = session.flatMap({ engineState.connections[$0] }) else {
                return SocketError(.notConnected, operation: "write", detail: "no session")
            }
            guard connection.watermarks != nil else {
                return SocketError(
                    .badConfiguration, operation: "write",
                    detail: "writeWatermarks: none are set, so there is nothing to wait for")
            }
            guard connection.isAboveHighMark else { return .some(nil) }
            state.withLock { $0.changeAwaited { $0.room[waiter] = answer } }
            return nil
        }
        if let refusal { answer(refusal) }
    }

    private func stopWaitingForRoom(_ waiter: OperationID) {
        let answer = state.withLock { $0.changeAwaited { $0.room.removeValue(forKey: waiter) } }
        answer?(SocketError(.cancelled, operation: "write", detail: "cancelled"))
    }
}
