import SocketCore

/// Awaiting instead of being called back.
///
/// What is awaited goes to the one who awaits it, never to the delegate. From the first `next()` of `messages` or
/// `chunks` on, messages go to that task alone.
extension WebSocket {
    /// Opens a WebSocket and waits until it is open. Throws what `connect(to:)` throws, or why it did not open: for an
    /// answer other than 101 with `SocketError.Reason.webSocket`, which holds its status, fields and how its body begins;
    /// `cancelled` when the task was cancelled, and then nothing is left of the attempt.
    public static func connect(
        to url: String, on engine: SocketEngine, configuration: WebSocketConfiguration = WebSocketConfiguration()
    ) async throws(SocketError) -> WebSocket {
        let webSocket = WebSocket(engine: engine, configuration: configuration)
        try await webSocket.open(try WebSocketURL.checked(url))
        return webSocket
    }

    /// Opens this one, as the call above does.
    public func open(_ url: WebSocketURL) async throws(SocketError) {
        let error: SocketError? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.awaited.openings.append { continuation.resume(returning: $0) } }
                do throws(SocketError) {
                    try connect(to: url)
                } catch {
                    let refused = state.withLock { state in
                        defer { state.awaited.openings = [] }
                        return state.awaited.openings
                    }
                    for answer in refused { answer(error) }
                }
                // Cancelled before it began: the handler below found nothing to end then.
                if Task.isCancelled { abort() }
            }
        } onCancel: {
            abort()
        }
        if Task.isCancelled {
            abort()
            throw SocketError(.cancelled, operation: "connect", detail: "cancelled")
        }
        if let error { throw error }
    }

    // MARK: Sending

    /// Queues a message and waits until the kernel has all of it. Throws why it could not be sent. A cancelled task does
    /// not take it back: half a message cannot be.
    public func send(_ message: WebSocketMessage) async throws(SocketError) {
        let error: SocketError? = await withCheckedContinuation { continuation in
            let operation = engine.names.nextOperation()
            state.withLock { $0.awaited.operations[operation] = { continuation.resume(returning: $0) } }
            engine.post(.webSocket(self, socket.session, .message(message), operation))
        }
        if let error { throw error }
    }

    /// Sends text, as above.
    public func send(_ text: String) async throws(SocketError) { try await send(.text(text)) }

    /// Sends bytes, as above.
    public func send(_ bytes: [UInt8]) async throws(SocketError) { try await send(.binary(bytes)) }

    /// Sends a ping and waits for its pong; the answer is how long that took. `payload` is at most 125 bytes; nil: eight
    /// that no other ping has. Throws why it was not sent, and why the WebSocket ended when that comes first.
    public func ping(_ payload: [UInt8]? = nil) async throws(SocketError) -> Duration {
        let operation = engine.names.nextOperation()
        let payload = payload ?? withUnsafeBytes(of: operation.number.bigEndian) { Array($0) }
        let result: Result<Duration, SocketError> = await withCheckedContinuation { continuation in
            state.withLock { $0.awaited.pings.append((operation, payload, { continuation.resume(returning: $0) })) }
            engine.post(.webSocket(self, socket.session, .ping(payload), operation))
        }
        return try result.get()
    }

    /// Waits until no more is queued for sending than the low watermark allows, if more than the high one allowed is
    /// queued now; else returns at once. Throws `notConnected` without a session, `cancelled` when the task is cancelled,
    /// and why the WebSocket ended when that comes first.
    public func waitUntilWritable() async throws(SocketError) {
        try await wait { state, name, answer in
            state.awaited.room[name] = answer
        } unless: { layer in
            layer.machine?.isWritable ?? true
        } giveUp: { state, name in
            state.awaited.room.removeValue(forKey: name)
        }
    }

    /// Says Close, as `close(_:reason:)` does, and waits until it is over. The answer is how it ended; nil: it never was
    /// open.
    @discardableResult
    public func finish(_ code: WebSocketCloseCode? = .normal, reason: String = "") async -> WebSocketCloseReport? {
        close(code, reason: reason)
        // Without a session it is over already.
        try? await wait { state, name, answer in
            state.awaited.ends[name] = answer
        } unless: { _ in
            false
        } giveUp: { state, name in
            state.awaited.ends.removeValue(forKey: name)
        }
        return closeReport
    }

    private func wait(
        _ enter:
            @escaping @Sendable (inout WebSocketHandleState, OperationID, @escaping WebSocketAnswers.Answer) -> Void,
        unless isOver: @escaping @Sendable (WebSocketLayer) -> Bool,
        giveUp: @escaping @Sendable (inout WebSocketHandleState, OperationID) -> WebSocketAnswers.Answer?
    ) async throws(SocketError) {
        let name = engine.names.nextOperation()
        let cancelled = SocketError(.cancelled, operation: "send", detail: "cancelled")
        let error: SocketError? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: WebSocketAnswers.Answer = { continuation.resume(returning: $0) }
                let early: SocketError?? = layer { layer, _ in
                    guard let layer else { return .some(WebSocketLayer.notOpen) }
                    if isOver(layer) { return .some(nil) }
                    state.withLock { enter(&$0, name, answer) }
                    return nil
                }
                if let early { return answer(early) }
                if Task.isCancelled { state.withLock { giveUp(&$0, name) }?(cancelled) }
            }
        } onCancel: {
            state.withLock { giveUp(&$0, name) }?(cancelled)
        }
        if let error { throw error }
    }

    // MARK: Receiving

    /// Whole messages, for one task at a time to iterate. They end when the peer closes with 1000, 1001 or no code, and
    /// when this side closes; any other end is thrown. A cancelled task closes the WebSocket with 1001. While nobody
    /// fetches them, they stay with the kernel. Where `WebSocketSettings.delivery` is `chunks`, iterate `chunks`.
    public var messages: WebSocketMessages { WebSocketMessages(webSocket: self) }

    /// Parts of messages as they come, likewise, where `WebSocketSettings.delivery` is `chunks`.
    public var chunks: WebSocketChunks { WebSocketChunks(webSocket: self) }

    func next(_ delivery: WebSocketSettings.Delivery) async throws(SocketError) -> WebSocketInbox.Item? {
        guard configuration.settings.delivery == delivery else {
            throw SocketError(
                .badConfiguration, operation: "receive",
                detail: "settings.delivery: is not \(delivery.rawValue), so iterate the other sequence")
        }
        let result: Result<WebSocketInbox.Item?, SocketError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                fetch { continuation.resume(returning: $0) }
                if Task.isCancelled { giveUpFetching() }
            }
        } onCancel: {
            giveUpFetching()
        }
        return try result.get()
    }
}

/// The messages of a WebSocket; see `WebSocket.messages`.
public struct WebSocketMessages: AsyncSequence, Sendable {
    let webSocket: WebSocket

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(webSocket: webSocket) }

    /// Waits for message after message.
    public struct Iterator: AsyncIteratorProtocol {
        let webSocket: WebSocket

        /// The next message; nil behind an orderly end. Throws why it ended otherwise.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SocketError) -> WebSocketMessage? {
            guard case .message(let message) = try await webSocket.next(.whole) else { return nil }
            return message
        }

        /// The next message, for callers on no actor.
        public mutating func next() async throws(SocketError) -> WebSocketMessage? { try await next(isolation: nil) }
    }
}

/// The parts of a WebSocket's messages; see `WebSocket.chunks`.
public struct WebSocketChunks: AsyncSequence, Sendable {
    let webSocket: WebSocket

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(webSocket: webSocket) }

    /// Waits for part after part.
    public struct Iterator: AsyncIteratorProtocol {
        let webSocket: WebSocket

        /// The next part; nil behind an orderly end. Throws why it ended otherwise.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SocketError) -> WebSocketChunk? {
            guard case .chunk(let chunk) = try await webSocket.next(.chunks) else { return nil }
            return chunk
        }

        /// The next part, for callers on no actor.
        public mutating func next() async throws(SocketError) -> WebSocketChunk? { try await next(isolation: nil) }
    }
}
