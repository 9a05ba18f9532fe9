import SocketCore

/// Awaiting the end of a connection, and connections that end with a scope.
extension AsyncSocket {
    /// Waits until either side has closed the connection and everything before that has been delivered. Returns at once
    /// if there is no session. `closeRecord` says how it ended. Doesn't close anything.
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

    /// Closes as `mode` says, and waits until that is done. A peer that doesn't read can delay `afterWriting` until a
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

    /// Connects, runs `body` with the connection, and closes it: once all writes are sent if `body` returns, at once if
    /// it throws. Returns when it is closed. `timeout` covers resolving and connecting (`nil` for the system's timeouts
    /// only). `tls` secures the connection before `body` runs (`nil` for no TLS).
    /// - Throws: what connecting or `body` throws, and `CancellationError` if the task's cancellation ended either.
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
    /// `CancellationError` if the reason is `cancelled`, otherwise this error. A function that throws any error
    /// rethrows it, so that its callers find a task's cancellation where they look for it.
    public var orCancellationError: any Error { reason == .cancelled ? CancellationError() : self }
}
