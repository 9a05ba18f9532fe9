import Foundation

/// The delegate of a `GCDAsyncUdpSocket`, called on its delegate queue. All methods are optional.
public protocol GCDAsyncUdpSocketDelegate: AnyObject {
    /// Called when the socket is connected to its peer. It now sends only to this peer and receives only from it.
    func udpSocket(_ sock: GCDAsyncUdpSocket, didConnectToAddress address: Data)
    /// Called when the socket could not connect, for example because a name does not exist.
    func udpSocket(_ sock: GCDAsyncUdpSocket, didNotConnect error: (any Error)?)
    /// Called when the kernel has accepted a datagram, or the send filter dropped it.
    func udpSocket(_ sock: GCDAsyncUdpSocket, didSendDataWithTag tag: Int)
    /// Called when a datagram was not sent: it timed out, or its destination was not found or is not allowed. If the
    /// kernel refuses a datagram, the socket closes instead.
    func udpSocket(_ sock: GCDAsyncUdpSocket, didNotSendDataWithTag tag: Int, dueToError error: (any Error)?)
    /// Called when a datagram was received and passed the receive filter.
    func udpSocket(
        _ sock: GCDAsyncUdpSocket, didReceive data: Data, fromAddress address: Data,
        withFilterContext filterContext: Any?)
    /// Called when the socket has closed. `error` is `nil` if this side closed it. The socket can be used again.
    func udpSocketDidClose(_ sock: GCDAsyncUdpSocket, withError error: (any Error)?)
}

extension GCDAsyncUdpSocketDelegate {
    /// Does nothing.
    public func udpSocket(_ sock: GCDAsyncUdpSocket, didConnectToAddress address: Data) {}
    /// Does nothing.
    public func udpSocket(_ sock: GCDAsyncUdpSocket, didNotConnect error: (any Error)?) {}
    /// Does nothing.
    public func udpSocket(_ sock: GCDAsyncUdpSocket, didSendDataWithTag tag: Int) {}
    /// Does nothing.
    public func udpSocket(_ sock: GCDAsyncUdpSocket, didNotSendDataWithTag tag: Int, dueToError error: (any Error)?) {}
    /// Does nothing.
    public func udpSocket(
        _ sock: GCDAsyncUdpSocket, didReceive data: Data, fromAddress address: Data,
        withFilterContext filterContext: Any?
    ) {}
    /// Does nothing.
    public func udpSocketDidClose(_ sock: GCDAsyncUdpSocket, withError error: (any Error)?) {}
}

/// A filter for received datagrams. Returns whether the delegate receives the datagram. The delegate also receives the
/// object that the filter stores in `context`.
public typealias GCDAsyncUdpSocketReceiveFilterBlock = (
    _ data: Data, _ address: Data, _ context: UnsafeMutablePointer<AnyObject?>
) -> Bool

/// A filter for datagrams before they are sent. Returns whether to send the datagram. The delegate is notified that it
/// was sent in either case.
public typealias GCDAsyncUdpSocketSendFilterBlock = (_ data: Data, _ address: Data, _ tag: Int) -> Bool
