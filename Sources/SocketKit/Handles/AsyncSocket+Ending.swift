import SocketCore

/// Awaiting the end of a connection, and connections that end with a scope.
extension AsyncSocket {
    /// Waits until the connection is closed and everything that came before has been delivered, whoever closes it. Returns
    /// at once where there is no session; `closeRecord` says how it ended. Does not close anything.
    /// - Throws: `cancelled` if the task is cancelled; the connection stays as it is.
    public func waitUntilClosed() async throws(SocketError) {
        let waiter = engine.names.nextOperation()
        let error: SocketError? = await waitForAnswer(orIfCancelled: .cancelled("close")) { answer in
            let isOver = state.withLock { state in
                guard let session = state.session else { return true }
                state.changeAwaited { $0.endings.add(waiter, of: session, answer) }
                return false
            }
            if isOver { answer(nil) }
        } onCancel: { [self] in
            let answer = state.withLock { $0.isAwaited ? $0.changeAwaited { $0.endings.remove(waiter) } : nil }
            answer?(.cancelled("close"))
        }
        if let error { throw error }
    }

    /// Closes as `mode` says, and waits until that is done. A peer that does not read can hold up `afterWriting` until a
    /// write times out.
    /// - Throws: `cancelled` if the task is cancelled; then the connection closes at once.
    public func disconnectAndWait(_ mode: CloseMode = .now) async throws(SocketError) {
        ask(.close(mode))
        do throws(SocketError) {
            try await waitUntilClosed()
        } catch {
            ask(.close(.now))
            throw error
        }
    }

    /// Connects, runs `body` with the connection, and closes it: once all writes are out if `body` returns, at once if it
    /// throws. Returns when it is closed. `timeout` is that of resolving and connecting (`nil`: none but the system's); `tls`
    /// secures the connection before `body` runs (`nil`: no TLS).
    /// - Throws: what connecting or `body` throws, and `CancellationError` where either was ended by the cancellation of the
    ///   task.
    public static func withConnection<R>(
        to endpoint: Endpoint, on engine: SocketEngine, timeout: Duration? = nil, tls: TLSSettings? = nil,
        configuration: SocketConfiguration = SocketConfiguration(), isolation: isolated (any Actor)? = #isolation,
        _ body: (AsyncSocket) async throws -> R
    ) async throws -> R {
        do {
            let socket =
                if let tls {
                    try await connect(
                        to: endpoint, on: engine, timeout: timeout, configuration: configuration, tls: tls)
                } else {
                    try await connect(to: endpoint, on: engine, timeout: timeout, configuration: configuration)
                }
            let result: R
            do {
                result = try await body(socket)
            } catch {
                socket.ask(.close(.now))
                throw error
            }
            try await socket.disconnectAndWait(.afterWriting)
            return result
        } catch let error as SocketError {
            throw error.orCancellationError
        }
    }
}

extension SocketError {
    /// `CancellationError` if the reason is `cancelled`, or else this error: what a function that throws any error rethrows,
    /// so that its callers find the cancellation of a task where they look for it.
    public var orCancellationError: any Error { reason == .cancelled ? CancellationError() : self }
}
