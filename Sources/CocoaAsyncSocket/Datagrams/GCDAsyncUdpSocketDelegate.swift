import Foundation

/// What a `GCDAsyncUdpSocket` tells, on its delegate queue. All methods are optional.
public protocol GCDAsyncUdpSocketDelegate: AnyObject {
    /// The socket sends to this one peer from now on, and hears of no other.
    func udpSocket(_ sock: GCDAsyncUdpSocket, didConnectToAddress address: Data)
    /// It could not be connected, such as for a name that there is not.
    func udpSocket(_ sock: GCDAsyncUdpSocket, didNotConnect error: (any Error)?)
    /// A datagram is with the kernel, or was dropped by the send filter.
    func udpSocket(_ sock: GCDAsyncUdpSocket, didSendDataWithTag tag: Int)
    /// A datagram was not sent: its time was up, its destination could not be found or is not allowed. What the kernel
    /// refuses closes the socket instead.
    func udpSocket(_ sock: GCDAsyncUdpSocket, didNotSendDataWithTag tag: Int, dueToError error: (any Error)?)
    /// A datagram was received, and the receive filter let it pass.
    func udpSocket(
        _ sock: GCDAsyncUdpSocket, didReceive data: Data, fromAddress address: Data,
        withFilterContext filterContext: Any?)
    /// The socket is closed; nil: this side closed it. It may be used again.
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

/// Judges a datagram that was received: whether the delegate shall get it. What is put into the context goes to the
/// delegate with it.
public typealias GCDAsyncUdpSocketReceiveFilterBlock = (
    _ data: Data, _ address: Data, _ context: UnsafeMutablePointer<AnyObject?>
) -> Bool

/// Judges a datagram before it is sent: whether it shall leave. The delegate is told in either case that it was sent.
public typealias GCDAsyncUdpSocketSendFilterBlock = (_ data: Data, _ address: Data, _ tag: Int) -> Bool
