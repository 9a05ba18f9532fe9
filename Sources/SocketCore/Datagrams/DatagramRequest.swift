/// One datagram to send: its payload, destination and timeout.
///
/// GCDAsyncUdpSocket: `sendData:toHost:port:withTimeout:tag:`, `sendData:toAddress:withTimeout:tag:`,
/// `sendData:withTimeout:tag:`.
public struct DatagramRequest: Hashable, Sendable {
    /// The payload. It can be empty.
    public var bytes: [UInt8]
    /// The destination, or `nil` for the connected peer.
    public var destination: Endpoint?
    /// How long it may be the current datagram (while its name is resolved, its filter is asked or the kernel's buffer
    /// is full) before it fails with `sendTimeout`, or `nil` for no limit. Time spent queued after other datagrams
    /// doesn't count.
    public var timeout: Duration?
    /// A number of the caller's own, reported on completion.
    public var tag: Int

    /// Describes a datagram. Nothing is validated until it is queued.
    public init(_ bytes: [UInt8], to destination: Endpoint? = nil, timeout: Duration? = nil, tag: Int = 0) {
        self.bytes = bytes
        self.destination = destination
        self.timeout = timeout
        self.tag = tag
    }

    /// Why this datagram can never be sent, or `nil` if it can.
    package var fault: SocketError? {
        guard let timeout, timeout < .zero else { return nil }
        return SocketError(
            .badParameter, operation: "send", detail: "timeout \(timeout): must not be negative; nil means none")
    }
}

/// A datagram that was not sent. Every datagram ends in exactly one completion: it is sent, or it fails with this
/// error. The socket stays open.
public struct FailedDatagram: Error, Hashable, Sendable {
    /// Its identifier within the engine.
    public var operation: OperationID
    /// The caller's number.
    public var tag: Int
    /// The payload.
    public var bytes: [UInt8]
    /// The destination, or `nil` for the connected peer.
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

/// A datagram as it is handed to the kernel: its borrowed payload, and its destination, or `nil` for the connected
/// peer.
package struct OutgoingDatagram {
    package var bytes: UnsafeRawBufferPointer
    package var destination: SocketAddress?

    package init(_ bytes: UnsafeRawBufferPointer, to destination: SocketAddress?) {
        self.bytes = bytes
        self.destination = destination
    }
}
