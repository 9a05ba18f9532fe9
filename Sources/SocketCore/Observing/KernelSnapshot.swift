/// The kernel's state of a socket, for sessions named in the request only. A value is `nil` if the kernel does not
/// report it.
public struct KernelSnapshot: Equatable, Sendable {
    /// Bytes received and not yet read (`ss`: Recv-Q). For a listener, connections that wait for accept. For a datagram
    /// socket, the kernel's own overhead is included.
    public var receiveQueue: Int?
    /// Bytes sent that the peer has not acknowledged, and bytes not sent yet (`ss`: Send-Q). For a listener, the most
    /// connections that can wait for accept. For a Unix-domain socket, bytes the peer has not read, with the kernel's
    /// own overhead.
    public var sendQueue: Int?
    /// Of those, the bytes not sent yet (`tcpi_notsent_bytes`).
    public var notSent: Int?
    /// The connection's state in TCP's own words, as `ss` writes them: `ESTAB`, `CLOSE-WAIT`, `LISTEN`...
    public var state: String?
    /// Smoothed round-trip time; `nil` until measured.
    public var roundTripTime: Duration?
    /// Congestion window, in segments.
    public var congestionWindow: Int?
    /// Segments retransmitted over the connection's life.
    public var retransmits: Int?
    /// Share of the time in which the peer's window limited sending, 0...1.
    public var receiverWindowLimited: Double?
    /// Share of the time in which the send buffer was too small, 0...1.
    public var sendBufferLimited: Double?
    /// Whether the delivery rate was measured while the local side gave the kernel too little to send.
    public var isApplicationLimited: Bool?
    /// `tcpi_bytes_sent`: data bytes sent, retransmissions included.
    public var bytesSent: UInt64?
    /// `tcpi_bytes_received`: data bytes received, read or not; the peer's FIN counts as one.
    public var bytesReceived: UInt64?
    /// `tcpi_delivery_rate`, bytes a second; `nil` until measured.
    public var deliveryRate: UInt64?
    /// Datagrams dropped because the receive buffer was full (SK_MEMINFO_DROPS).
    public var drops: UInt64?
    /// The receive buffer's size as the kernel counts it, including its own overhead (SK_MEMINFO_RCVBUF).
    public var receiveBuffer: Int?

    /// Creates a snapshot without values.
    public init() {}
}
