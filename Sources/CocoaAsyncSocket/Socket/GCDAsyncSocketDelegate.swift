import Foundation

/// The delegate of a `GCDAsyncSocket`, called on its delegate queue. All methods are optional. Any class can conform:
/// it need not be an `NSObject`, which `XCTestCase` is not on Linux.
public protocol GCDAsyncSocketDelegate: AnyObject {
    /// Called immediately before `socket(_:didAcceptNewSocket:)`. Returns the serial queue for the new socket to use as
    /// its socket queue, or `nil` for none.
    func newSocketQueueForConnection(fromAddress address: Data, on sock: GCDAsyncSocket) -> DispatchQueue?
    /// Called when a connection is accepted. `newSocket` has this delegate and its queue. It closes unless it is
    /// retained.
    func socket(_ sock: GCDAsyncSocket, didAcceptNewSocket newSocket: GCDAsyncSocket)
    /// Called when the connection is established. `host` is a numeric address. Not called for accepted connections.
    func socket(_ sock: GCDAsyncSocket, didConnectToHost host: String, port: UInt16)
    /// Called when the connection to a Unix-domain socket is established.
    func socket(_ sock: GCDAsyncSocket, didConnectTo url: URL)
    /// Called when a read has completed. Never called for a read that failed.
    func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int)
    /// Called when a read of a length, or up to a separator, has received `partialLength` more bytes and is not
    /// complete.
    func socket(_ sock: GCDAsyncSocket, didReadPartialDataOfLength partialLength: UInt, tag: Int)
    /// Called when the kernel has accepted every byte of a write. Never called for a write that failed.
    func socket(_ sock: GCDAsyncSocket, didWriteDataWithTag tag: Int)
    /// Called when the kernel has accepted `partialLength` more bytes of a write that is not complete.
    func socket(_ sock: GCDAsyncSocket, didWritePartialDataOfLength partialLength: UInt, tag: Int)
    /// Called when a read times out. A positive result extends the timeout by that many seconds. Any other disconnects
    /// with `readTimeoutError`. `elapsed` is the timeout with all extensions so far.
    func socket(
        _ sock: GCDAsyncSocket, shouldTimeoutReadWithTag tag: Int, elapsed: TimeInterval, bytesDone length: UInt
    ) -> TimeInterval
    /// Called when a write times out. A positive result extends the timeout by that many seconds. Any other disconnects
    /// with `writeTimeoutError`. `elapsed` is the timeout with all extensions so far.
    func socket(
        _ sock: GCDAsyncSocket, shouldTimeoutWriteWithTag tag: Int, elapsed: TimeInterval, bytesDone length: UInt
    ) -> TimeInterval
    /// Called when the peer has ended its stream and this side can still write. Called only if
    /// `autoDisconnectOnClosedReadStream` is `false`.
    func socketDidCloseReadStream(_ sock: GCDAsyncSocket)
    /// Called when the connection has closed or the socket has stopped accepting. This is the last callback of each.
    /// `err` is `nil` if this side ended it. The socket can connect or accept again.
    func socketDidDisconnect(_ sock: GCDAsyncSocket, withError err: (any Error)?)
    /// Called when the TLS handshake is complete. Operations that complete after this were encrypted.
    func socketDidSecure(_ sock: GCDAsyncSocket)
    /// Called when the peer's certificates must be verified, if `startTLS` was given
    /// `GCDAsyncSocketManuallyEvaluateTrust`. The handshake waits until the handler is called, once, from any thread.
    /// If the delegate lacks this method, the socket disconnects with `otherError`.
    func socket(
        _ sock: GCDAsyncSocket, didReceive trust: SecTrust, completionHandler: @escaping (Bool) -> Void)
}

extension GCDAsyncSocketDelegate {
    /// Returns `nil`.
    public func newSocketQueueForConnection(
        fromAddress address: Data, on sock: GCDAsyncSocket
    ) -> DispatchQueue? { nil }
    /// Does nothing, so the connection closes.
    public func socket(_ sock: GCDAsyncSocket, didAcceptNewSocket newSocket: GCDAsyncSocket) {}
    /// Does nothing.
    public func socket(_ sock: GCDAsyncSocket, didConnectToHost host: String, port: UInt16) {}
    /// Does nothing.
    public func socket(_ sock: GCDAsyncSocket, didConnectTo url: URL) {}
    /// Does nothing.
    public func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int) {}
    /// Does nothing.
    public func socket(_ sock: GCDAsyncSocket, didReadPartialDataOfLength partialLength: UInt, tag: Int) {}
    /// Records that the delegate does not implement this method, so that it is not called again.
    public func socket(_ sock: GCDAsyncSocket, didWriteDataWithTag tag: Int) { sock.session?.noteNoUseOfWrites(self) }
    /// Does nothing.
    public func socket(_ sock: GCDAsyncSocket, didWritePartialDataOfLength partialLength: UInt, tag: Int) {}
    /// Does not extend the timeout.
    public func socket(
        _ sock: GCDAsyncSocket, shouldTimeoutReadWithTag tag: Int, elapsed: TimeInterval, bytesDone length: UInt
    ) -> TimeInterval { 0 }
    /// Does not extend the timeout.
    public func socket(
        _ sock: GCDAsyncSocket, shouldTimeoutWriteWithTag tag: Int, elapsed: TimeInterval, bytesDone length: UInt
    ) -> TimeInterval { 0 }
    /// Does nothing.
    public func socketDidCloseReadStream(_ sock: GCDAsyncSocket) {}
    /// Does nothing.
    public func socketDidDisconnect(_ sock: GCDAsyncSocket, withError err: (any Error)?) {}
    /// Does nothing.
    public func socketDidSecure(_ sock: GCDAsyncSocket) {}
    /// Records that no delegate verifies the certificates, so the socket disconnects.
    public func socket(
        _ sock: GCDAsyncSocket, didReceive trust: SecTrust, completionHandler: @escaping (Bool) -> Void
    ) {
        trust.noteNoEvaluator()
    }
}
