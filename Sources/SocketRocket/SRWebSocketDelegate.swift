/// The delegate of an `SRWebSocket`. Every method is optional. SocketRocket: `SRWebSocketDelegate`.
///
/// Callbacks run one at a time and in order, on `delegateDispatchQueue` (the main queue unless set) or in
/// `delegateOperationQueue`. Exactly one of `didFailWithError` and `didCloseWithCode` is called, and it is the last.
public protocol SRWebSocketDelegate: AnyObject {
    /// Called when a message arrives. It is a `String` for text and `Data` for binary. It is also `Data` for text if
    /// the delegate doesn't want it converted.
    func webSocket(_ webSocket: SRWebSocket, didReceiveMessage message: Any)
    /// Called when a text arrives and has been converted.
    func webSocket(_ webSocket: SRWebSocket, didReceiveMessageWith string: String)
    /// Called when a binary message arrives, or a text that the delegate doesn't want converted.
    func webSocket(_ webSocket: SRWebSocket, didReceiveMessageWith data: Data)
    /// Called when the WebSocket is open.
    func webSocketDidOpen(_ webSocket: SRWebSocket)
    /// Called when the WebSocket did not open, or failed. `error` has the domain and code that SocketRocket gives,
    /// where it has one.
    func webSocket(_ webSocket: SRWebSocket, didFailWithError error: any Error)
    /// Called when the WebSocket has closed. `code` and `reason` are the peer's. `code` is 1001, with "Stream end
    /// encountered", if the peer ended the connection without a Close. It is the code that was sent if the peer broke
    /// the protocol, and 0 if the WebSocket was closed before it was open. `wasClean` is true if both sides sent a
    /// Close, or if the WebSocket was never open.
    func webSocket(_ webSocket: SRWebSocket, didCloseWithCode code: Int, reason: String?, wasClean: Bool)
    /// Called when a ping arrives, after it has been answered. `data` is `nil` if the ping was empty.
    func webSocket(_ webSocket: SRWebSocket, didReceivePingWith data: Data?)
    /// Called when a pong arrives. `pongData` is `nil` if the pong was empty.
    func webSocket(_ webSocket: SRWebSocket, didReceivePong pongData: Data?)
    /// Whether a text is converted to a `String`. Defaults to `true`.
    func webSocketShouldConvertTextFrameToString(_ webSocket: SRWebSocket) -> Bool
}

extension SRWebSocketDelegate {
    /// Does nothing.
    public func webSocket(_ webSocket: SRWebSocket, didReceiveMessage message: Any) {}
    /// Does nothing.
    public func webSocket(_ webSocket: SRWebSocket, didReceiveMessageWith string: String) {}
    /// Does nothing.
    public func webSocket(_ webSocket: SRWebSocket, didReceiveMessageWith data: Data) {}
    /// Does nothing.
    public func webSocketDidOpen(_ webSocket: SRWebSocket) {}
    /// Does nothing.
    public func webSocket(_ webSocket: SRWebSocket, didFailWithError error: any Error) {}
    /// Does nothing.
    public func webSocket(_ webSocket: SRWebSocket, didCloseWithCode code: Int, reason: String?, wasClean: Bool) {}
    /// Does nothing.
    public func webSocket(_ webSocket: SRWebSocket, didReceivePingWith data: Data?) {}
    /// Does nothing.
    public func webSocket(_ webSocket: SRWebSocket, didReceivePong pongData: Data?) {}
    /// Returns `true`.
    public func webSocketShouldConvertTextFrameToString(_ webSocket: SRWebSocket) -> Bool { true }
}
