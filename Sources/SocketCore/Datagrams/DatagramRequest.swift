/// One datagram to be sent, to whom, and how long that may take.
///
/// GCDAsyncUdpSocket: `sendData:toHost:port:withTimeout:tag:`, `sendData:toAddress:withTimeout:tag:`,
/// `sendData:withTimeout:tag:`.
public struct DatagramRequest: Hashable, Sendable {
    /// The payload. None at all is a datagram too.
    public var bytes: [UInt8]
    /// To whom; nil: to the peer that the socket is connected to.
    public var destination: Endpoint?
    /// How long it may be the datagram in hand (its name being resolved, its filter asked, the kernel's buffer full)
    /// before it fails with `sendTimeout`; nil: for ever. Waiting behind others does not count.
    public var timeout: Duration?
    /// The caller's own number for it, reported with its completion.
    public var tag: Int

    /// Describes a datagram; nothing is checked here, but where it is queued.
    public init(_ bytes: [UInt8], to destination: Endpoint? = nil, timeout: Duration? = nil, tag: Int = 0) {
        self.bytes = bytes
        self.destination = destination
        self.timeout = timeout
        self.tag = tag
    }

    /// Why this datagram can never be sent; nil when it can.
    package var fault: SocketError? {
        guard let timeout, timeout < .zero else { return nil }
        return SocketError(
            .badParameter, operation: "send", detail: "timeout \(timeout): must not be negative; nil means none")
    }
}

/// A datagram that was not sent. Every datagram ends in exactly one completion: sent, or this; the socket stays open.
public struct FailedDatagram: Error, Hashable, Sendable {
    /// Its name within the engine.
    public var operation: OperationID
    /// The caller's number.
    public var tag: Int
    /// The payload.
    public var bytes: [UInt8]
    /// To whom it was to go; nil: to the connected peer.
    public var destination: Endpoint?
    /// Why it was not sent.
    public var error: SocketError

    /// Describes a datagram that was not sent.
    public init(
        operation: OperationID, tag: Int, bytes: [UInt8], destination: Endpoint?, error: SocketError
    ) {
        self.operation = operation
        self.tag = tag
        self.bytes = bytes
        self.destination = destination
        self.error = error
    }
}

/// A datagram as it is handed to the kernel: its payload where it lies, and its destination; nil: the connected peer.
package struct OutgoingDatagram {
    package var bytes: UnsafeRawBufferPointer
    package var destination: SocketAddress?

    package init(_ bytes: UnsafeRawBufferPointer, to destination: SocketAddress?) {
        self.bytes = bytes
        self.destination = destination
    }
}
