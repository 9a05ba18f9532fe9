import Dispatch
import SocketCore

/// The delegate of a `DatagramSocket`.
///
/// All methods are optional. They are called on the delegate queue or, without one, on the engine's queue at the end of
/// its turn, where they must not block. Sends complete in the order they were queued, each in exactly one call,
/// `didSend` or `didNotSend`. Received datagrams come in the kernel's order. The two directions have no order between
/// them. `didClose` comes last, when the descriptors are closed.
public protocol DatagramSocketDelegate: AnyObject, Sendable {
    /// Called when the socket has connected to one peer.
    func datagramSocket(_ socket: DatagramSocket, didConnectTo address: SocketAddress)
    /// Called when the socket couldn't be connected. It stays open.
    func datagramSocket(_ socket: DatagramSocket, didNotConnect error: SocketError)
    /// Called when the kernel has accepted a datagram, or the send filter has dropped it. The datagram may not have
    /// arrived.
    func datagramSocket(_ socket: DatagramSocket, didSendWithTag tag: Int)
    /// Called when a datagram was sent, with its identifier from `send(_:to:timeout:tag:)`. Calls
    /// `datagramSocket(_:didSendWithTag:)` by default.
    func datagramSocket(_ socket: DatagramSocket, didSend operation: OperationID, tag: Int)
    /// Called when a datagram was not sent. The socket stays open.
    func datagramSocket(_ socket: DatagramSocket, didNotSend datagram: FailedDatagram)
    /// Called with datagrams that were received together. Calls `didReceive` for each by default.
    func datagramSocket(_ socket: DatagramSocket, didReceiveBatch batch: DatagramBatch)
    /// Called when a datagram is received.
    func datagramSocket(_ socket: DatagramSocket, didReceive datagram: Datagram)
    /// Called when the kernel reports an error of an earlier send, without saying which, such as ECONNREFUSED if no
    /// socket listens at a connected socket's peer. The socket stays open.
    func datagramSocket(_ socket: DatagramSocket, didEncounter error: SocketError)
    /// Called when the session has ended. `error` is `nil` if the local side closed it. The socket can be used again at
    /// once.
    func datagramSocket(_ socket: DatagramSocket, didClose error: SocketError?)
}

extension DatagramSocketDelegate {
    /// Does nothing.
    public func datagramSocket(_ socket: DatagramSocket, didConnectTo address: SocketAddress) {}
    /// Does nothing.
    public func datagramSocket(_ socket: DatagramSocket, didNotConnect error: SocketError) {}
    /// Does nothing.
    public func datagramSocket(_ socket: DatagramSocket, didSendWithTag tag: Int) {}
    /// Does nothing.
    public func datagramSocket(_ socket: DatagramSocket, didNotSend datagram: FailedDatagram) {}
    /// Calls the method without the identifier.
    public func datagramSocket(_ socket: DatagramSocket, didSend operation: OperationID, tag: Int) {
        datagramSocket(socket, didSendWithTag: tag)
    }
    /// Calls `didReceive` for each datagram.
    public func datagramSocket(_ socket: DatagramSocket, didReceiveBatch batch: DatagramBatch) {
        for datagram in batch { self.datagramSocket(socket, didReceive: datagram) }
    }
    /// Does nothing.
    public func datagramSocket(_ socket: DatagramSocket, didReceive datagram: Datagram) {}
    /// Does nothing.
    public func datagramSocket(_ socket: DatagramSocket, didEncounter error: SocketError) {}
    /// Does nothing.
    public func datagramSocket(_ socket: DatagramSocket, didClose error: SocketError?) {}
}

/// Decides which datagrams are sent. GCDAsyncUdpSocket: `setSendFilter:withQueue:`.
public struct DatagramSendFilter: Sendable {
    /// The queue the filter runs on, or `nil` for the engine's queue, where it must not block. On its own queue, later
    /// datagrams wait for its answer, in order.
    public var queue: DispatchQueue?
    /// Whether to send a datagram, given its bytes, its destination (`nil` for the connected peer) and its tag. A
    /// datagram that is dropped still counts as sent.
    public var shouldSend: @Sendable (_ bytes: [UInt8], _ destination: Endpoint?, _ tag: Int) -> Bool

    /// Creates a filter.
    public init(
        queue: DispatchQueue? = nil,
        _ shouldSend: @escaping @Sendable (_ bytes: [UInt8], _ destination: Endpoint?, _ tag: Int) -> Bool
    ) {
        self.queue = queue
        self.shouldSend = shouldSend
    }
}

/// Decides which received datagrams are delivered. GCDAsyncUdpSocket: `setReceiveFilter:withQueue:`.
public struct DatagramReceiveFilter: Sendable {
    /// A filter's verdict on a datagram.
    public enum Verdict: Sendable {
        /// Drops the datagram and counts it.
        case drop
        /// Delivers the datagram, with a value of the filter's own in `Datagram.context`.
        case pass(context: (any Sendable)?)
    }

    /// The queue the filter runs on, or `nil` for the engine's queue, where it must not block. On its own queue,
    /// nothing more is read from the kernel until it has answered for one batch.
    public var queue: DispatchQueue?
    /// Returns the verdict on a datagram.
    public var evaluate: @Sendable (Datagram) -> Verdict

    /// Creates a filter.
    public init(queue: DispatchQueue? = nil, _ evaluate: @escaping @Sendable (Datagram) -> Verdict) {
        self.queue = queue
        self.evaluate = evaluate
    }
}

/// One call of a `DatagramSocketDelegate`.
enum DatagramNotice: Sendable {
    indirect case connected(SocketAddress)
    indirect case notConnected(SocketError)
    case sent(OperationID, tag: Int)
    indirect case notSent(FailedDatagram)
    case received(DatagramBatch)
    indirect case met(SocketError)
    indirect case closed(SocketError?, of: SocketID)
}
