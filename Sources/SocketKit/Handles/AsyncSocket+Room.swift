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
        let error: SocketError? = await waitForAnswer(orIfCancelled: .cancelled("write")) {
            waitForRoom(as: waiter, $0)
        } onCancel: { [self] in
            stopWaitingForRoom(waiter)
        }
        if let error { throw error }
    }

    /// How many wait for room now.
    package var waitersForRoom: Int { state.withLock { $0.awaited.room.count } }

    /// How many wait for TLS now.
    package var waitersForTLS: Int { state.withLock { $0.awaited.securings.count } }

    private func waitForRoom(as waiter: OperationID, _ answer: @escaping @Sendable (SocketError?) -> Void) {
        let refusal: SocketError?? = enter { engineState, session in
            guard let connection = session.flatMap({ engineState.connection($0) }) else {
                return SocketError(.notConnected, operation: "write", detail: "no session")
            }
            guard connection.watermarks != nil else {
                return SocketError(
                    .badConfiguration, operation: "write",
                    detail: "writeWatermarks: none are set, so there is nothing to wait for")
            }
            guard connection.isAboveHighMark else { return .some(nil) }
            let id = connection.id
            state.withLock { $0.changeAwaited { $0.room.add(waiter, of: id, answer) } }
            return nil
        }
        if let refusal { answer(refusal) }
    }

    private func stopWaitingForRoom(_ waiter: OperationID) {
        let answer = state.withLock { $0.isAwaited ? $0.changeAwaited { $0.room.remove(waiter) } : nil }
        answer?(.cancelled("write"))
    }
}
