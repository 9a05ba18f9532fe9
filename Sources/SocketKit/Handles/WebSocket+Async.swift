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
        try await webSocket.connect(to: try WebSocketURL.checked(url))
        return webSocket
    }

    /// Opens this one, as the call above does.
    public func connect(to url: WebSocketURL) async throws(SocketError) {
        let waiter = engine.names.nextOperation()
        let cancelled = SocketError.cancelled("connect")
        let error: SocketError? = await waitForAnswer(orIfCancelled: cancelled) { answer in
            state.withLock { $0.awaited.openings.add(waiter, of: nil, answer) }
            do throws(SocketError) {
                try connect(to: url)
            } catch {
                let refused = state.withLock { $0.awaited.openings.remove(waiter) }
                refused?(error)
            }
        } onCancel: { [self] in
            if state.withLock({ $0.awaited.openings.settle(waiter, on: cancelled) }) { abort() }
        }
        if let error { throw error }
    }

    // MARK: Sending

    /// Queues a message and waits until the kernel has all of it. Throws why it could not be sent, and `cancelled` at once
    /// when the task is cancelled; a message that was queued by then still goes out, since half a message cannot.
    public func send(_ message: WebSocketMessage) async throws(SocketError) {
        let operation = engine.names.nextOperation()
        let error: SocketError? = await waitForAnswer(orIfCancelled: .cancelled("send")) { answer in
            state.withLock { $0.awaited.operations[operation] = .init(session: $0.session, answer: answer) }
            engine.post(.webSocket(self, socket.session, .message(message), operation))
        } onCancel: { [self] in
            let answer = state.withLock { $0.awaited.giveUp(operation) }
            answer?(.cancelled("send"))
        }
        if let error { throw error }
    }

    /// Sends text, as above.
    public func send(_ text: String) async throws(SocketError) { try await send(.text(text)) }

    /// Sends bytes, as above.
    public func send(_ bytes: [UInt8]) async throws(SocketError) { try await send(.binary(bytes)) }

    /// Sends a ping and waits for its pong; the answer is how long that took. `payload` is at most 125 bytes; nil: eight
    /// that no other ping has. Throws why it was not sent, why the WebSocket ended when that comes first, and `cancelled`
    /// at once when the task is cancelled; the delegate still hears of a pong that comes later.
    public func ping(_ payload: [UInt8]? = nil) async throws(SocketError) -> Duration {
        let operation = engine.names.nextOperation()
        let payload = payload ?? withUnsafeBytes(of: operation.number.bigEndian) { Array($0) }
        return try await waitForAnswer(orIfCancelled: .failure(.cancelled("ping"))) { answer in
            state.withLock { state in
                let ping = WebSocketAnswers.Pinging(
                    session: state.session, operation: operation, payload: payload, answer: answer)
                state.awaited.pings.append(ping)
            }
            engine.post(.webSocket(self, socket.session, .ping(payload), operation))
        } onCancel: { [self] in
            let answer = state.withLock { $0.awaited.takePing(operation) }
            answer?(.failure(.cancelled("ping")))
        }.get()
    }

    /// Waits until no more is queued for sending than the low watermark allows, if more than the high one allowed is
    /// queued now; else returns at once. Throws `notConnected` without a session, `cancelled` when the task is cancelled,
    /// and why the WebSocket ended when that comes first.
    public func waitUntilWritable() async throws(SocketError) {
        let waiter = engine.names.nextOperation()
        let error: SocketError? = await waitForAnswer(orIfCancelled: .cancelled("send")) { answer in
            let early: SocketError?? = layer { layer, _ in
                guard let layer else { return .some(WebSocketLayer.notOpen) }
                if layer.machine?.isWritable ?? true { return .some(nil) }
                state.withLock { $0.awaited.room.add(waiter, of: $0.session, answer) }
                return nil
            }
            if let early { answer(early) }
        } onCancel: { [self] in
            let answer = state.withLock { $0.awaited.room.remove(waiter) }
            answer?(.cancelled("send"))
        }
        if let error { throw error }
    }

    /// Says Close, as `close(_:reason:)` does, and waits until it is over. The answer is how it ended; `nil` if it never was
    /// open, and if the task was cancelled before the end: the Close stays queued.
    @discardableResult
    public func close(_ code: WebSocketCloseCode? = .normal, reason: String = "") async -> WebSocketCloseReport? {
        ask(.close(code, reason: reason))
        let waiter = engine.names.nextOperation()
        return await waitForAnswer(orIfCancelled: closeReport) { answer in
            let report: WebSocketCloseReport?? = state.withLock { state in
                // Without a session it is over already.
                guard let session = state.session else { return .some(state.report) }
                state.awaited.ends.add(waiter, of: session, answer)
                return nil
            }
            if let report { answer(report) }
        } onCancel: { [self] in
            let answer = state.withLock { $0.awaited.ends.remove(waiter) }
            answer?(closeReport)
        }
    }

    // MARK: Receiving

    /// Whole messages, for one task at a time to iterate. They end when the peer closes with 1000, 1001 or no code, and
    /// when this side closes; any other end is thrown. A cancelled task closes the WebSocket with 1001. While nobody
    /// fetches them, they stay with the kernel. Where `WebSocketSettings.delivery` is `chunks`, iterate `chunks`.
    public var messages: WebSocketMessages { WebSocketMessages(webSocket: self) }

    /// Parts of messages as they come, likewise, where `WebSocketSettings.delivery` is `chunks`.
    public var chunks: WebSocketChunks { WebSocketChunks(webSocket: self) }

    /// How many tasks wait for a message.
    package var readers: Int { fetcherCount }

    func next(_ delivery: WebSocketSettings.Delivery) async throws(SocketError) -> WebSocketInbox.Item? {
        guard configuration.settings.delivery == delivery else {
            throw SocketError(
                .badConfiguration, operation: "receive",
                detail: "settings.delivery: is not \(delivery.rawValue), so iterate the other sequence")
        }
        if Task.isCancelled { ask(.close(.goingAway, reason: "")) }
        return try await next(orIfCancelled: .failure(.cancelled("receive"))).get()
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
