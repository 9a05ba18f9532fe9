import SocketCore

/// Sending. Requests are queued at once and sent in the order made. Control frames are sent between two queued frames.
extension WebSocket {
    /// Queues a message and returns its identifier. `didSend` or `didFail` reports the result. The message fails if the
    /// queue would exceed `WebSocketLimits.sendQueueBytes`, or if the WebSocket is closing or closed. SocketRocket:
    /// `sendData:error:`.
    @discardableResult
    public func write(_ message: WebSocketMessage) -> OperationID { ask(.message(message)) }

    /// Queues a text message and returns its identifier. SocketRocket: `sendString:error:`.
    @discardableResult
    public func write(_ text: String) -> OperationID { ask(.message(.text(text))) }

    /// Queues a binary message and returns its identifier.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> OperationID { ask(.message(.binary(bytes))) }

    /// Starts a message that is sent in parts, because its end isn't known yet or it is too long to hold. Messages
    /// queued later wait until it is finished. `didSend` reports the stream's `operation`.
    public func stream(_ type: WebSocketMessageType) -> WebSocketStream {
        WebSocketStream(webSocket: self, operation: ask(.begin(type)))
    }

    /// Sends a ping of at most 125 bytes ahead of what is queued. `didReceivePong` reports how long its pong took.
    /// SocketRocket: `sendPing:error:`.
    @discardableResult
    public func writePing(_ payload: [UInt8] = []) -> OperationID { ask(.ping(payload)) }

    /// Sends an unsolicited pong as a sign of life (RFC 6455, 5.5.3), of at most 125 bytes.
    @discardableResult
    public func writePong(_ payload: [UInt8] = []) -> OperationID { ask(.pong(payload)) }

    /// Sends Close after all that is queued, waits for the peer's, and ends the connection (RFC 6455, 7.1.2).
    /// `didClose` reports the end, at the latest when each step has taken `WebSocketSettings.closeTimeout`. Has no
    /// effect if either side is already closing. Before the WebSocket is open, the connection ends at once.
    ///
    /// `didFail` reports a code that must not be sent, or a reason of more than 123 bytes of UTF-8. SocketRocket:
    /// `closeWithCode:reason:`.
    @discardableResult
    public func close(_ code: WebSocketCloseCode? = .normal, reason: String = "") -> OperationID {
        ask(.close(code, reason: reason))
    }

    /// Ends the connection at once, without a Close. The peer sees code 1006.
    public func abort() {
        state.withLock { $0.isAborted = true }
        socket.ask(.close(.now))
    }
}

/// A message that is sent in parts.
public struct WebSocketStream: Sendable {
    let webSocket: WebSocket
    /// The identifier of the message in `didSend` and `didFail`.
    public let operation: OperationID

    /// Queues a part, which is sent as one frame, and returns its identifier. Text can be cut within a character. A
    /// part that doesn't fit fails alone.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> OperationID {
        webSocket.ask(.append(operation, bytes, isLast: false))
    }

    /// Queues the last part, which may be empty.
    @discardableResult
    public func finish(_ bytes: [UInt8] = []) -> OperationID {
        webSocket.ask(.append(operation, bytes, isLast: true))
    }

    /// Queues a part and waits until there is room for the next. Throws what `WebSocket.waitUntilWritable()` throws.
    /// The part stays queued, even if the task is cancelled.
    public func send(_ bytes: [UInt8]) async throws(SocketError) {
        write(bytes)
        try await webSocket.waitUntilWritable()
    }
}

extension WebSocketURL {
    /// Parses a URL for a call that throws `SocketError`.
    static func checked(_ text: String) throws(SocketError) -> WebSocketURL {
        do throws(EndpointError) {
            return try parse(text)
        } catch {
            throw .refused("connect", error.description)
        }
    }
}
