internal import SocketKit

/// Sending. Messages are sent in the order of the calls. Unlike SocketRocket's, the queue has a limit. A message that
/// would make it longer than 64 MiB is rejected with 2134, because a peer that doesn't read would fill the memory.
extension SRWebSocket {
    /// Sends a `String` or a `Data`, or an empty text for `nil`. Does not send anything else, or anything before the
    /// WebSocket is open.
    @available(*, deprecated, message: "send(string:) and send(data:) report failures.")
    public func send(_ message: Any?) {
        switch message {
        case nil: try? send(data: nil)
        case let text as String: try? send(string: text)
        case let data as Data: try? send(data: data)
        default: assertionFailure("send(_:) takes a String or Data, not \(type(of: message))")
        }
    }

    /// Sends a text. Throws 2134 of `SRWebSocketErrorDomain` unless the WebSocket is open and the queue has room.
    public func send(string: String) throws {
        let message = WebSocketMessage.text(string)
        try check(message.bytes.count, "send(string:)")
        webSocket.write(message)
    }

    /// Sends a binary message, or like SocketRocket an empty text for `nil`. Throws 2134 of `SRWebSocketErrorDomain`
    /// unless the WebSocket is open and the queue has room.
    public func send(data: Data?) throws {
        try check(data?.count ?? 0, "send(data:)")
        webSocket.write(data.map { .binary([UInt8]($0)) } ?? .text(""))
    }

    /// Does the same as `send(data:)`, which copies the bytes once.
    public func send(dataNoCopy data: Data?) throws { try send(data: data) }

    /// Sends a ping. Throws 2134 unless the WebSocket is open, and for more than 125 bytes, which no ping can carry
    /// (RFC 6455, 5.5).
    public func sendPing(_ data: Data?) throws {
        guard data?.count ?? 0 <= 125 else { throw refusal("sendPing(_:): at most 125 bytes, not \(data?.count ?? 0)") }
        try check(0, "sendPing(_:)")
        webSocket.writePing([UInt8](data ?? Data()))
    }

    private func check(_ count: Int, _ call: String) throws {
        guard readyState == .OPEN else { throw refusal("\(call) before it is open, or after it was closed") }
        let limit = webSocket.configuration.settings.limits.sendQueueBytes
        let waiting = webSocket.bufferedAmount
        guard waiting + count <= limit else {
            throw refusal("\(call): \(count) bytes; \(waiting) of at most \(limit) are already queued")
        }
    }

    private func refusal(_ sentence: String) -> NSError {
        NSError(domain: SRWebSocketErrorDomain, code: 2134, userInfo: [NSLocalizedDescriptionKey: sentence])
    }
}
