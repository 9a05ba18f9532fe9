import SocketCore

/// Awaiting instead of callbacks.
///
/// An awaited result goes to the awaiting task, never to the delegate. From the first `next()` of `messages` or
/// `chunks` on, messages go to that task only.
extension WebSocket {
    /// Opens a WebSocket and waits until it is open. Throws what `connect(to:)` throws, or why it didn't open. If the
    /// response isn't 101, the error is `SocketError.Reason.webSocket` with the status, the fields and the start of the
    /// body. Throws `cancelled` if the task was cancelled, which leaves nothing of the attempt.
    public static func connect(
        to url: String, on engine: SocketEngine, configuration: WebSocketConfiguration = WebSocketConfiguration()
    ) async throws(SocketError) -> WebSocket {
        let webSocket = WebSocket(engine: engine, configuration: configuration)
        try await webSocket.connect(to: try WebSocketURL.checked(url))
        return webSocket
    }

    /// Opens this WebSocket, as `connect(to:on:configuration:)` does a new one.
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

    /// Queues a message and waits until the kernel has accepted all of it. Throws why it couldn't be sent, or
    /// `cancelled` at once if the task is cancelled. A message already queued is still sent, because half a message
    /// can't be.
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

    /// Queues a text message and waits until the kernel has accepted all of it.
    public func send(_ text: String) async throws(SocketError) { try await send(.text(text)) }

    /// Queues a binary message and waits until the kernel has accepted all of it.
    public func send(_ bytes: [UInt8]) async throws(SocketError) { try await send(.binary(bytes)) }

    /// Sends a ping, waits for its pong, and returns how long that took. `payload` is at most 125 bytes, or `nil` for
    /// eight bytes that no other ping has. Throws why the ping wasn't sent, why the WebSocket ended if it ends first,
    /// or `cancelled` at once if the task is cancelled. The delegate still receives a later pong.
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

    /// Waits until the bytes queued for sending fall to the low watermark if they have risen above the high one;
    /// otherwise returns at once. Throws `notConnected` without a session, `cancelled` if the task is cancelled, and
    /// why the WebSocket ended if it ends first.
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

    /// Queues a Close, as `close(_:reason:)` does, and waits until the WebSocket has ended. Returns how it ended, or
    /// `nil` if it was never open or the task was cancelled before the end. The Close stays queued.
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

    /// The whole messages, for one task at a time to iterate. They end when the peer closes with 1000, 1001 or no code,
    /// and when the local side closes. Any other end is thrown. A cancelled task closes the WebSocket with 1001.
    /// Messages that no task fetches stay in the kernel. If `WebSocketSettings.delivery` is `chunks`, iterate `chunks`.
    public var messages: WebSocketMessages { WebSocketMessages(webSocket: self) }

    /// The parts of messages as they arrive, for one task at a time to iterate, if `WebSocketSettings.delivery` is
    /// `chunks`. They end as `messages` do.
    public var chunks: WebSocketChunks { WebSocketChunks(webSocket: self) }

    /// The number of tasks that wait for a message.
    package var readers: Int { fetcherCount }

    /// Waits for the next item. `takeReady(_:)` comes first.
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

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(webSocket: webSocket) }

    /// Takes one message after another. It waits only if none has arrived.
    public struct Iterator: AsyncIteratorProtocol {
        let webSocket: WebSocket

        /// Returns the next message, or `nil` after an orderly end. Otherwise throws why the WebSocket ended.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SocketError) -> WebSocketMessage? {
            if !Task.isCancelled, case .message(let message) = webSocket.takeReady(.whole) { return message }
            guard case .message(let message) = try await webSocket.next(.whole) else { return nil }
            return message
        }

        /// Returns the next message, for callers without an actor.
        public mutating func next() async throws(SocketError) -> WebSocketMessage? { try await next(isolation: nil) }
    }
}

/// The parts of a WebSocket's messages; see `WebSocket.chunks`.
public struct WebSocketChunks: AsyncSequence, Sendable {
    let webSocket: WebSocket

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(webSocket: webSocket) }

    /// Takes one part after another. It waits only if none has arrived.
    public struct Iterator: AsyncIteratorProtocol {
        let webSocket: WebSocket

        /// Returns the next part, or `nil` after an orderly end. Otherwise throws why the WebSocket ended.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SocketError) -> WebSocketChunk? {
            if !Task.isCancelled, case .chunk(let chunk) = webSocket.takeReady(.chunks) { return chunk }
            guard case .chunk(let chunk) = try await webSocket.next(.chunks) else { return nil }
            return chunk
        }

        /// Returns the next part, for callers without an actor.
        public mutating func next() async throws(SocketError) -> WebSocketChunk? { try await next(isolation: nil) }
    }
}
