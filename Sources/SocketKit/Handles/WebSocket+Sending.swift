import SocketCore

/// Sending. What is asked for is queued at once and leaves in the order in which it was asked for; control frames go
/// between two frames of what is queued.
extension WebSocket {
    /// Queues a message and names it; `didSend` or `didFail` tells how it went. It fails where the queue would hold more
    /// than `WebSocketLimits.sendQueueBytes`, and when the WebSocket is closing or closed. SocketRocket: `sendData:error:`.
    @discardableResult
    public func write(_ message: WebSocketMessage) -> OperationID { ask(.message(message)) }

    /// Queues a message of text, as above. SocketRocket: `sendString:error:`.
    @discardableResult
    public func write(_ text: String) -> OperationID { ask(.message(.text(text))) }

    /// Queues a message of bytes, as above.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> OperationID { ask(.message(.binary(bytes))) }

    /// Begins a message whose parts follow, for one whose end is not known yet or that is too long to be held. Messages
    /// queued later wait until it is finished; `didSend` names its first operation.
    public func stream(_ type: WebSocketMessageType) -> WebSocketStream {
        WebSocketStream(webSocket: self, operation: ask(.begin(type)))
    }

    /// Sends a ping of at most 125 bytes before what is queued; `didReceivePong` tells how long its pong took.
    /// SocketRocket: `sendPing:error:`.
    @discardableResult
    public func writePing(_ payload: [UInt8] = []) -> OperationID { ask(.ping(payload)) }

    /// Sends a pong that nobody asked for, a sign of life (RFC 6455, 5.5.3); at most 125 bytes.
    @discardableResult
    public func writePong(_ payload: [UInt8] = []) -> OperationID { ask(.pong(payload)) }

    /// Says Close behind all that is queued, waits for the peer's, and ends the connection (RFC 6455, 7.1.2); `didClose`
    /// tells the end, at the latest when each step has taken `WebSocketSettings.closeTimeout`. Without effect when anybody
    /// closes already; before it is open, the connection ends at once.
    ///
    /// `didFail` tells of a code that must not be sent, and of a reason of more than 123 bytes of UTF-8. SocketRocket:
    /// `closeWithCode:reason:`.
    @discardableResult
    public func close(_ code: WebSocketCloseCode? = .normal, reason: String = "") -> OperationID {
        ask(.close(code, reason: reason))
    }

    /// Ends the connection at once, without a Close; the peer sees code 1006.
    public func abort() {
        state.withLock { $0.isAborted = true }
        socket.ask(.close(.now))
    }
}

/// A message that is sent part by part.
public struct WebSocketStream: Sendable {
    let webSocket: WebSocket
    /// The name under which `didSend` or `didFail` tells of the message.
    public let operation: OperationID

    /// Queues a part, which goes out as one frame; text may be cut within a character. The name is that of the part: it
    /// fails alone, if it does not fit.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> OperationID {
        webSocket.ask(.append(operation, bytes, isLast: false))
    }

    /// Queues the last part, which may be empty.
    @discardableResult
    public func finish(_ bytes: [UInt8] = []) -> OperationID {
        webSocket.ask(.append(operation, bytes, isLast: true))
    }

    /// Queues a part and waits until there is room for the next. Throws what `WebSocket.waitUntilWritable()` throws; the
    /// part stays queued, also when the task is cancelled.
    public func send(_ bytes: [UInt8]) async throws(SocketError) {
        write(bytes)
        try await webSocket.waitUntilWritable()
    }
}

extension WebSocketURL {
    /// Reads a URL for a call that throws `SocketError`.
    static func checked(_ text: String) throws(SocketError) -> WebSocketURL {
        do throws(EndpointError) {
            return try parse(text)
        } catch {
            throw .refused("connect", error.description)
        }
    }
}
