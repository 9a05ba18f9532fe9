internal import SocketKit

/// Sending. What is sent leaves in the order of the calls. Unlike SocketRocket's, the queue has a limit: what would make it
/// longer than 64 MiB is refused with 2134, since a peer that does not read would fill the memory.
extension SRWebSocket {
    /// Sends a `String`, a `Data`, or with `nil` an empty text. Anything else, and anything before it is open, is not sent.
    @available(*, deprecated, message: "send(string:) and send(data:) say what became of it.")
    public func send(_ message: Any?) {
        switch message {
        case nil: try? send(data: nil)
        case let text as String: try? send(string: text)
        case let data as Data: try? send(data: data)
        default: assertionFailure("send(_:) takes a String or Data, not \(type(of: message))")
        }
    }

    /// Sends a text. Throws 2134 of `SRWebSocketErrorDomain` unless it is open.
    public func send(string: String) throws {
        let message = WebSocketMessage.text(string)
        try check(message.bytes.count, "send(string:)")
        webSocket.write(message)
    }

    /// Sends a binary message, or with `nil` an empty text, as SocketRocket does. Throws as above.
    public func send(data: Data?) throws {
        try check(data?.count ?? 0, "send(data:)")
        webSocket.write(data.map { .binary([UInt8]($0)) } ?? .text(""))
    }

    /// The same as `send(data:)`: the bytes are copied once.
    public func send(dataNoCopy data: Data?) throws { try send(data: data) }

    /// Sends a ping. Throws 2134 unless it is open, and for more than 125 bytes, which no ping can carry (RFC 6455, 5.5).
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
            throw refusal("\(call): \(count) bytes; \(waiting) of \(limit) that may wait are waiting")
        }
    }

    private func refusal(_ sentence: String) -> NSError {
        NSError(domain: SRWebSocketErrorDomain, code: 2134, userInfo: [NSLocalizedDescriptionKey: sentence])
    }
}
