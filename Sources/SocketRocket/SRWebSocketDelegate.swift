/// What an `SRWebSocket` tells. Every method is optional. SocketRocket: `SRWebSocketDelegate`.
///
/// Callbacks come one at a time and in order, on `delegateDispatchQueue` (the main queue unless set) or in
/// `delegateOperationQueue`. Exactly one of `didFailWithError` and `didCloseWithCode` comes, and it is the last.
public protocol SRWebSocketDelegate: AnyObject {
    /// A message came: a `String` for text, `Data` for binary, or for text too if the delegate does not want it converted.
    func webSocket(_ webSocket: SRWebSocket, didReceiveMessage message: Any)
    /// A text came, and was converted.
    func webSocket(_ webSocket: SRWebSocket, didReceiveMessageWith string: String)
    /// A binary message came, or a text that the delegate does not want converted.
    func webSocket(_ webSocket: SRWebSocket, didReceiveMessageWith data: Data)
    /// It is open.
    func webSocketDidOpen(_ webSocket: SRWebSocket)
    /// It did not open, or broke. `error` has the domain and code that SocketRocket gives, where it has one.
    func webSocket(_ webSocket: SRWebSocket, didFailWithError error: any Error)
    /// It was closed. `code` and `reason` are the peer's; 1001 and "Stream end encountered" if the peer ended the
    /// connection without a Close; the code that was sent if the peer broke the protocol; 0 if it was closed before it was
    /// open. `wasClean`: both sides said Close, or it was never open.
    func webSocket(_ webSocket: SRWebSocket, didCloseWithCode code: Int, reason: String?, wasClean: Bool)
    /// A ping came, which has been answered; `nil` if it carried nothing.
    func webSocket(_ webSocket: SRWebSocket, didReceivePingWith data: Data?)
    /// A pong came; `nil` if it carried nothing.
    func webSocket(_ webSocket: SRWebSocket, didReceivePong pongData: Data?)
    /// Whether a text is to be converted to a `String`; `true` unless implemented.
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
    /// Wants it converted.
    public func webSocketShouldConvertTextFrameToString(_ webSocket: SRWebSocket) -> Bool { true }
}
