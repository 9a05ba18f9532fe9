import SocketCore

/// The delegate of a `WebSocket`.
///
/// All methods are optional. They are called on the delegate queue or, without one, on the engine's queue at the end of
/// its turn, where they must not block. `didOpen` comes first, and messages come in the order received. `didClose`
/// comes exactly once and last, when the descriptor is closed, even if the WebSocket never opened. The engine answers
/// pings before it calls any of these methods.
public protocol WebSocketDelegate: AnyObject, Sendable {
    /// Called when the opening handshake is done (RFC 6455, 4). Not called for accepted WebSockets. SocketRocket:
    /// `webSocketDidOpen:`.
    func webSocket(_ webSocket: WebSocket, didOpen agreement: WebSocketAgreement)
    /// Called when a whole message has arrived. SocketRocket: `webSocket:didReceiveMessage:`.
    func webSocket(_ webSocket: WebSocket, didReceive message: WebSocketMessage)
    /// Called when a part of a message has arrived, instead of whole messages, if `WebSocketSettings.delivery` is
    /// `chunks`.
    func webSocket(_ webSocket: WebSocket, didReceive chunk: WebSocketChunk)
    /// Called when a ping has arrived. It was already answered, unless `WebSocketSettings.answersPings` is off.
    /// SocketRocket: `webSocket:didReceivePingWithData:`.
    func webSocket(_ webSocket: WebSocket, didReceivePing payload: [UInt8])
    /// Called when a pong has arrived. `roundTrip` is how long it took, or `nil` if no local ping had these bytes.
    /// SocketRocket: `webSocket:didReceivePong:`.
    func webSocket(_ webSocket: WebSocket, didReceivePong payload: [UInt8], roundTrip: Duration?)
    /// Called when the kernel has accepted all of a message. The peer may not have received it yet. Not called for an
    /// awaited message.
    func webSocket(_ webSocket: WebSocket, didSend operation: OperationID)
    /// Called when something wasn't queued or was lost with the connection, with the reason. Not called for what is
    /// awaited.
    func webSocket(_ webSocket: WebSocket, didFail operation: OperationID, error: SocketError)
    /// Called when the bytes queued for sending have fallen to the low watermark after being above the high one
    /// (`WebSocketSettings.watermarks`).
    func webSocketDidBecomeWritable(_ webSocket: WebSocket)
    /// Called when the peer has sent Close. It is answered once this returns, after what is sent in the meantime.
    func webSocket(_ webSocket: WebSocket, didReceiveClose frame: WebSocketCloseFrame)
    /// Called when the server's certificate must be evaluated, as in `AsyncSocketDelegate`. To answer later, return
    /// `later` and call `WebSocket.answerTrust(of:_:)`.
    func webSocket(_ webSocket: WebSocket, didReceive trust: TLSTrust) -> TrustVerdict
    /// Called when the WebSocket has ended. `report` says what each side sent, or is `nil` if it was never open.
    /// `error` is `nil` for an orderly end and if the local side gave up; otherwise it is why the WebSocket didn't
    /// open, or broke. SocketRocket: `webSocket:didCloseWithCode:reason:wasClean:` and `webSocket:didFailWithError:`.
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
    /// Returns `unhandled`, which closes the connection.
    public func webSocket(_ webSocket: WebSocket, didReceive trust: TLSTrust) -> TrustVerdict { .unhandled }
    /// Does nothing.
    public func webSocket(_ webSocket: WebSocket, didClose report: WebSocketCloseReport?, error: SocketError?) {}
}

/// The delegate of a `WebSocketListener`. Its methods are called on the same queues as those of `WebSocketDelegate`.
public protocol WebSocketListenerDelegate: AnyObject, Sendable {
    /// Called when a client has opened a WebSocket. `agreement` holds its request. The WebSocket closes at once unless
    /// you retain it. It has no delegate yet and uses the listener's delegate queue. Set its delegate here, and it
    /// misses no message.
    func listener(_ listener: WebSocketListener, didAccept webSocket: WebSocket, agreement: WebSocketAgreement)
    /// Called when a connection's handshake broke a rule or took too long, or was answered with HTTP.
    func listener(_ listener: WebSocketListener, didRefuse address: SocketAddress?, error: SocketError?)
    /// Called when the listener has closed. `error` is `nil` if the local side closed it. WebSockets that were opened
    /// stay open.
    func listener(_ listener: WebSocketListener, didStop error: SocketError?)
}

extension WebSocketListenerDelegate {
    /// Does nothing.
    public func listener(_ listener: WebSocketListener, didRefuse address: SocketAddress?, error: SocketError?) {}
    /// Does nothing.
    public func listener(_ listener: WebSocketListener, didStop error: SocketError?) {}
}
