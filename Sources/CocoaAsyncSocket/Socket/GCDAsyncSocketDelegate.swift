import Foundation

/// What a `GCDAsyncSocket` tells, on its delegate queue. All methods are optional, and any class will do: it need not be an
/// `NSObject`, which `XCTestCase` is not on Linux.
public protocol GCDAsyncSocketDelegate: AnyObject {
    /// Comes immediately before `socket(_:didAcceptNewSocket:)`: the serial queue that the new socket shall have as its
    /// socket queue; nil: it has none of its own.
    func newSocketQueueForConnection(fromAddress address: Data, on sock: GCDAsyncSocket) -> DispatchQueue?
    /// A connection was accepted. `newSocket` has this delegate and its queue; it closes when nobody keeps it.
    func socket(_ sock: GCDAsyncSocket, didAcceptNewSocket newSocket: GCDAsyncSocket)
    /// The connection stands; `host` is a numeric address. Not called for accepted connections.
    func socket(_ sock: GCDAsyncSocket, didConnectToHost host: String, port: UInt16)
    /// The connection to a Unix-domain socket stands.
    func socket(_ sock: GCDAsyncSocket, didConnectTo url: URL)
    /// A read completed. Never called for one that failed.
    func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int)
    /// A read of a length, or up to a separator, got so many more bytes and is not complete.
    func socket(_ sock: GCDAsyncSocket, didReadPartialDataOfLength partialLength: UInt, tag: Int)
    /// A write is wholly with the kernel. Never called for one that failed.
    func socket(_ sock: GCDAsyncSocket, didWriteDataWithTag tag: Int)
    /// The kernel took so many more bytes of a write, which is not complete.
    func socket(_ sock: GCDAsyncSocket, didWritePartialDataOfLength partialLength: UInt, tag: Int)
    /// A read has reached its timeout: a positive result extends it by so many seconds, any other disconnects with
    /// `readTimeoutError`. `elapsed` is the timeout with all extensions so far.
    func socket(
        _ sock: GCDAsyncSocket, shouldTimeoutReadWithTag tag: Int, elapsed: TimeInterval, bytesDone length: UInt
    ) -> TimeInterval
    /// A write has reached its timeout; the same with `writeTimeoutError`.
    func socket(
        _ sock: GCDAsyncSocket, shouldTimeoutWriteWithTag tag: Int, elapsed: TimeInterval, bytesDone length: UInt
    ) -> TimeInterval
    /// The peer ended its stream and this side may still write. Only where `autoDisconnectOnClosedReadStream` is false.
    func socketDidCloseReadStream(_ sock: GCDAsyncSocket)
    /// The connection, or the listening, is over; nil: this side ended it. The last call of each. The socket may connect
    /// or accept again.
    func socketDidDisconnect(_ sock: GCDAsyncSocket, withError err: (any Error)?)
    /// TLS is set up: what completes from now on passed encrypted.
    func socketDidSecure(_ sock: GCDAsyncSocket)
    /// The peer's certificates are to be judged, where `startTLS` was told so by
    /// `GCDAsyncSocketManuallyEvaluateTrust`. The handshake waits until the handler is called, from any thread, once.
    /// A delegate without this method disconnects with `otherError`.
    func socket(
        _ sock: GCDAsyncSocket, didReceive trust: SecTrust, completionHandler: @escaping (Bool) -> Void)
}

extension GCDAsyncSocketDelegate {
    /// Chooses no queue.
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
    /// Notes that the delegate has no use for completed writes, so that it is called for no more of them.
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
    /// Says that nobody judges, which disconnects.
    public func socket(
        _ sock: GCDAsyncSocket, didReceive trust: SecTrust, completionHandler: @escaping (Bool) -> Void
    ) {
        trust.noteNoEvaluator()
    }
}
