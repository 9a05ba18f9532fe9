import SocketCore

/// Waiting for room in the write queue.
extension AsyncSocket {
    /// Waits until the bytes queued for writing fall to the low watermark if they have risen above the high one;
    /// otherwise returns at once. Earlier writes from the same thread count. Throws `badConfiguration` if the session
    /// has no watermarks (`SocketConfiguration.writeWatermarks`), `notConnected` without a session, `cancelled` if the
    /// task is cancelled, and why the session ended if it ends first. `didBecomeWritable` is still called.
    public func waitUntilWritable() async throws(SocketError) {
        let waiter = engine.names.nextOperation()
        let error: SocketError? = await waitForAnswer(orIfCancelled: .cancelled("write")) {
            waitForRoom(as: waiter, $0)
        } onCancel: { [self] in
            stopWaitingForRoom(waiter)
        }
        if let error { throw error }
    }

    /// The number of tasks that wait for room in the write queue.
    package var waitersForRoom: Int { state.withLock { $0.awaited.room.count } }

    /// The number of tasks that wait for TLS.
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
