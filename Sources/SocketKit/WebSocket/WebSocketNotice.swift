import SocketCore

/// One call of a `WebSocketDelegate`.
enum WebSocketNotice: WeighedNotice {
    indirect case opened(WebSocketAgreement)
    case message(WebSocketMessage)
    case chunk(WebSocketChunk)
    case ping([UInt8])
    indirect case pong([UInt8], roundTrip: Duration?)
    case sent(OperationID)
    indirect case failed(OperationID, SocketError)
    case writable
    /// Input has ended, with the peer's Close, or `nil` because the peer broke the protocol.
    indirect case inputEnded(WebSocketCloseFrame?)
    indirect case trust(TLSTrust)
    indirect case closed(WebSocketCloseReport?, SocketError?)

    /// The memory it takes up in the inbox. The end of input, which arrives only once, counts as 0.
    var weight: Int {
        switch self {
        case .message(let message): message.bytes.count + BackPressure.noticeWeight
        case .chunk(let chunk): chunk.bytes.count + BackPressure.noticeWeight
        case .ping(let payload), .pong(let payload, _): payload.count + BackPressure.noticeWeight
        case .sent, .writable: BackPressure.noticeWeight
        case .opened, .failed, .trust, .closed: BackPressure.boxedWeight
        case .inputEnded: 0
        }
    }
}

/// A notice with the session that it belongs to.
struct WebSocketCall: WeighedNotice {
    let notice: WebSocketNotice
    let session: SocketID

    var weight: Int { notice.weight }
}

/// One call of a `WebSocketListenerDelegate`.
enum WebSocketListenerNotice: WeighedNotice {
    indirect case accepted(WebSocket, WebSocketAgreement)
    indirect case refused(SocketAddress?, SocketError?)
    indirect case stopped(SocketError?, of: SocketID)

    var weight: Int {
        switch self {
        case .accepted: BackPressure.connectionWeight
        case .refused, .stopped: BackPressure.boxedWeight
        }
    }
}
