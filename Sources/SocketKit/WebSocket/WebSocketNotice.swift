import SocketCore

/// One call of a `WebSocketDelegate`.
enum WebSocketNotice: Sendable {
    indirect case opened(WebSocketAgreement)
    case message(WebSocketMessage)
    case chunk(WebSocketChunk)
    case ping([UInt8])
    case pong([UInt8], roundTrip: Duration?)
    case sent(OperationID)
    indirect case failed(OperationID, SocketError)
    case writable
    /// Input is over: by the peer's Close, or (nil) since it broke the protocol.
    indirect case inputEnded(WebSocketCloseFrame?)
    indirect case trust(TLSTrust)
    indirect case closed(WebSocketCloseReport?, SocketError?)

    /// Bytes that it carries, for back-pressure; those without payload count a little too, since they take up memory.
    var cost: Int {
        switch self {
        case .message(let message): message.bytes.count + 64
        case .chunk(let chunk): chunk.bytes.count + 64
        case .ping(let payload), .pong(let payload, _): payload.count + 64
        case .opened, .sent, .failed, .writable, .inputEnded, .trust, .closed: 0
        }
    }
}

/// One call of a `WebSocketListenerDelegate`.
enum WebSocketListenerNotice: Sendable {
    indirect case accepted(WebSocket, WebSocketAgreement)
    indirect case refused(SocketAddress?, SocketError?)
    indirect case stopped(SocketError?)
}
