import Dispatch
import SocketCore

/// What a datagram socket tells.
///
/// All methods are optional. They are called on the delegate queue, or, when there is none, on the engine's queue at
/// the end of its turn; then they must not block. Datagrams to be sent complete in the order in which they were queued,
/// each in exactly one call, `didSend` or `didNotSend`; datagrams received come in the order in which the kernel had
/// them, with no order between the two directions. `didClose` is last, and comes when the descriptors are closed.
public protocol DatagramSocketDelegate: AnyObject, Sendable {
    /// The socket has one peer now.
    func datagramSocket(_ socket: DatagramSocket, didConnectTo address: SocketAddress)
    /// It could not be connected; the socket stays open.
    func datagramSocket(_ socket: DatagramSocket, didNotConnect error: SocketError)
    /// A datagram is with the kernel, or was held back by the send filter; not: it has arrived.
    func datagramSocket(_ socket: DatagramSocket, didSendWithTag tag: Int)
    /// The same with the name that `send(_:to:timeout:tag:)` gave it. Where this is not implemented, the one without is
    /// called.
    func datagramSocket(_ socket: DatagramSocket, didSend operation: OperationID, tag: Int)
    /// A datagram was not sent; the socket stays open.
    func datagramSocket(_ socket: DatagramSocket, didNotSend datagram: FailedDatagram)
    /// Datagrams were received together. Where this is not implemented, `didReceive` is called for each of them.
    func datagramSocket(_ socket: DatagramSocket, didReceiveBatch batch: DatagramBatch)
    /// A datagram was received.
    func datagramSocket(_ socket: DatagramSocket, didReceive datagram: Datagram)
    /// The kernel reported an error of a datagram that was sent earlier, such as that nobody listens where a connected
    /// socket sends to (ECONNREFUSED); it does not say of which. The socket stays open.
    func datagramSocket(_ socket: DatagramSocket, didEncounter error: SocketError)
    /// The session is over. `error` is nil when this side asked for it. The socket may be used again at once.
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
    /// Calls the one without the operation's name.
    public func datagramSocket(_ socket: DatagramSocket, didSend operation: OperationID, tag: Int) {
        datagramSocket(socket, didSendWithTag: tag)
    }
    /// Calls `didReceive` for each.
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

/// Judges datagrams before they are sent. GCDAsyncUdpSocket: `setSendFilter:withQueue:`.
public struct DatagramSendFilter: Sendable {
    /// Where it is asked; nil: on the engine's queue, where it must not block. While a queue of its own has not
    /// answered, the datagrams behind wait, in their order.
    public var queue: DispatchQueue?
    /// Whether a datagram may leave, by its bytes, its destination (nil: the connected peer) and its tag. One that may
    /// not counts as sent all the same.
    public var shouldSend: @Sendable (_ bytes: [UInt8], _ destination: Endpoint?, _ tag: Int) -> Bool

    /// Makes a filter.
    public init(
        queue: DispatchQueue? = nil,
        _ shouldSend: @escaping @Sendable (_ bytes: [UInt8], _ destination: Endpoint?, _ tag: Int) -> Bool
    ) {
        self.queue = queue
        self.shouldSend = shouldSend
    }
}

/// Judges datagrams that were received. GCDAsyncUdpSocket: `setReceiveFilter:withQueue:`.
public struct DatagramReceiveFilter: Sendable {
    /// What a filter says of a datagram.
    public enum Verdict: Sendable {
        /// It is dropped, and counted.
        case drop
        /// It is delivered, with something of the filter's own in `Datagram.context`.
        case pass(context: (any Sendable)?)
    }

    /// Where it is asked; nil: on the engine's queue, where it must not block. While a queue of its own has not answered
    /// for one batch, no more is taken from the kernel.
    public var queue: DispatchQueue?
    /// What becomes of a datagram.
    public var evaluate: @Sendable (Datagram) -> Verdict

    /// Makes a filter.
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
