import SocketCore

/// What a WebSocket tells.
///
/// All methods are optional. They are called on the delegate queue, or, when there is none, on the engine's queue at the
/// end of its turn; then they must not block. The order: `didOpen` first; messages in the order in which they came;
/// `didClose` exactly once and last, when the descriptor is closed, also when it never opened. Pings are answered by the
/// engine before any of this is called.
public protocol WebSocketDelegate: AnyObject, Sendable {
    /// The opening handshake is done (RFC 6455, 4). Not called for accepted ones. SocketRocket: `webSocketDidOpen:`.
    func webSocket(_ webSocket: WebSocket, didOpen agreement: WebSocketAgreement)
    /// A whole message came. SocketRocket: `webSocket:didReceiveMessage:`.
    func webSocket(_ webSocket: WebSocket, didReceive message: WebSocketMessage)
    /// A part of a message came. Instead of the one above where `WebSocketSettings.delivery` is `chunks`.
    func webSocket(_ webSocket: WebSocket, didReceive chunk: WebSocketChunk)
    /// A ping came; it was answered already, unless `WebSocketSettings.answersPings` is off. SocketRocket:
    /// `webSocket:didReceivePingWithData:`.
    func webSocket(_ webSocket: WebSocket, didReceivePing payload: [UInt8])
    /// A pong came; `roundTrip` is how long it took, nil when no ping of ours had these bytes. SocketRocket:
    /// `webSocket:didReceivePong:`.
    func webSocket(_ webSocket: WebSocket, didReceivePong payload: [UInt8], roundTrip: Duration?)
    /// A message is wholly with the kernel, which does not mean that the peer has it. Not for one that is awaited.
    func webSocket(_ webSocket: WebSocket, didSend operation: OperationID)
    /// Something was not queued, or was lost with the connection; `error` says why. Not for what is awaited.
    func webSocket(_ webSocket: WebSocket, didFail operation: OperationID, error: SocketError)
    /// The bytes queued for sending fell to the low watermark, having been above the high one
    /// (`WebSocketSettings.watermarks`).
    func webSocketDidBecomeWritable(_ webSocket: WebSocket)
    /// The peer said Close. It is answered once this returns, behind what is sent meanwhile.
    func webSocket(_ webSocket: WebSocket, didReceiveClose frame: WebSocketCloseFrame)
    /// The server's certificate is to be judged, as for `AsyncSocketDelegate`; `WebSocket.answerTrust(of:_:)` answers
    /// later.
    func webSocket(_ webSocket: WebSocket, didReceive trust: TLSTrust) -> TrustVerdict
    /// It is over. `report` says who said what; nil: it never was open. `error` is nil for an orderly end and when this
    /// side gave up; else why it did not open, or broke. SocketRocket: `webSocket:didCloseWithCode:reason:wasClean:` and
    /// `webSocket:didFailWithError:`.
    func webSocket(_ webSocket: WebSocket, didClose report: WebSocketCloseReport?, error: SocketError?)
}

extension WebSocketDelegate {
    /// Does nothing.
    public func webSocket(_ webSocket: WebSocket, didOpen agreement: WebSocketAgreement) {}
    /// Does nothing.
    public func webSocket(_ webSocket: WebSocket, didReceive message: WebSocketMessage) {}
    /// Does nothing.
    public func webSocket(_ webSocket: WebSocket, didReceive chunk: WebSocketChunk) {}
    /// Does nothing.
    public func webSocket(_ webSocket: WebSocket, didReceivePing payload: [UInt8]) {}
    /// Does nothing.
    public func webSocket(_ webSocket: WebSocket, didReceivePong payload: [UInt8], roundTrip: Duration?) {}
    /// Does nothing.
    public func webSocket(_ webSocket: WebSocket, didSend operation: OperationID) {}
    /// Does nothing.
    public func webSocket(_ webSocket: WebSocket, didFail operation: OperationID, error: SocketError) {}
    /// Does nothing.
    public func webSocketDidBecomeWritable(_ webSocket: WebSocket) {}
    /// Does nothing.
    public func webSocket(_ webSocket: WebSocket, didReceiveClose frame: WebSocketCloseFrame) {}
    /// Says that nobody judges, which closes the connection.
    public func webSocket(_ webSocket: WebSocket, didReceive trust: TLSTrust) -> TrustVerdict { .unhandled }
    /// Does nothing.
    public func webSocket(_ webSocket: WebSocket, didClose report: WebSocketCloseReport?, error: SocketError?) {}
}

/// What a WebSocket listener tells, on the queues that `WebSocketDelegate` names.
public protocol WebSocketListenerDelegate: AnyObject, Sendable {
    /// A WebSocket was opened by a client; `agreement` holds its request. It closes at once when nobody keeps it. It has
    /// no delegate yet, and the listener's delegate queue; set its delegate here, and no message of it is missed.
    func listener(_ listener: WebSocketListener, didAccept webSocket: WebSocket, agreement: WebSocketAgreement)
    /// A connection came to nothing: its handshake broke a rule or took too long, or HTTP was answered.
    func listener(_ listener: WebSocketListener, didRefuse address: SocketAddress?, error: SocketError?)
    /// The listener is closed. `error` is nil when this side asked for it. WebSockets that were opened go on.
    func listener(_ listener: WebSocketListener, didStop error: SocketError?)
}

extension WebSocketListenerDelegate {
    /// Does nothing.
    public func listener(_ listener: WebSocketListener, didRefuse address: SocketAddress?, error: SocketError?) {}
    /// Does nothing.
    public func listener(_ listener: WebSocketListener, didStop error: SocketError?) {}
}
