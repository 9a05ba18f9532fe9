/// The seventeen flags of GCDAsyncSocket, derived for display from the states of the machines.
///
/// They only describe the state. Where GCDAsyncSocket suspends a dispatch source, this engine turns off its interest in
/// the descriptor; flags 8 and 9 mean that.
public struct SocketFlags: OptionSet, Hashable, Sendable {
    /// The flag word.
    public let rawValue: UInt32

    /// Creates flags from a flag word.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Accepting or connecting has started.
    public static let socketStarted = SocketFlags(rawValue: 1 << 0)
    /// The stream is usable.
    public static let connected = SocketFlags(rawValue: 1 << 1)
    /// New operations are rejected, because a close was requested.
    public static let forbidReadsWrites = SocketFlags(rawValue: 1 << 2)
    /// The current read timed out and waits for a verdict.
    public static let readsPaused = SocketFlags(rawValue: 1 << 3)
    /// The current write timed out and waits for a verdict.
    public static let writesPaused = SocketFlags(rawValue: 1 << 4)
    /// The socket closes when no read is left in the queue.
    public static let disconnectAfterReads = SocketFlags(rawValue: 1 << 5)
    /// The socket closes when no write is left in the queue.
    public static let disconnectAfterWrites = SocketFlags(rawValue: 1 << 6)
    /// The kernel's send buffer had room when last tried.
    public static let socketCanAcceptBytes = SocketFlags(rawValue: 1 << 7)
    /// Read interest is off.
    public static let readSourceSuspended = SocketFlags(rawValue: 1 << 8)
    /// Write interest is off.
    public static let writeSourceSuspended = SocketFlags(rawValue: 1 << 9)
    /// TLS was requested.
    public static let queuedTLS = SocketFlags(rawValue: 1 << 10)
    /// The TLS barrier is at the head of the read queue.
    public static let startingReadTLS = SocketFlags(rawValue: 1 << 11)
    /// The TLS barrier is at the head of the write queue.
    public static let startingWriteTLS = SocketFlags(rawValue: 1 << 12)
    /// The handshake is done.
    public static let socketSecure = SocketFlags(rawValue: 1 << 13)
    /// The peer's FIN was read.
    public static let socketHasReadEOF = SocketFlags(rawValue: 1 << 14)
    /// The peer's FIN was read, all bytes before it were delivered, and the socket stays open for writing.
    public static let readStreamClosed = SocketFlags(rawValue: 1 << 15)
    /// The handle is being released.
    public static let dealloc = SocketFlags(rawValue: 1 << 16)

    /// Every flag with its name in GCDAsyncSocket (without the `k`), lowest bit first.
    public static let names: [(flag: SocketFlags, name: String)] = [
        (.socketStarted, "SocketStarted"), (.connected, "Connected"), (.forbidReadsWrites, "ForbidReadsWrites"),
        (.readsPaused, "ReadsPaused"), (.writesPaused, "WritesPaused"),
        (.disconnectAfterReads, "DisconnectAfterReads"), (.disconnectAfterWrites, "DisconnectAfterWrites"),
        (.socketCanAcceptBytes, "SocketCanAcceptBytes"), (.readSourceSuspended, "ReadSourceSuspended"),
        (.writeSourceSuspended, "WriteSourceSuspended"), (.queuedTLS, "QueuedTLS"),
        (.startingReadTLS, "StartingReadTLS"), (.startingWriteTLS, "StartingWriteTLS"),
        (.socketSecure, "SocketSecure"), (.socketHasReadEOF, "SocketHasReadEOF"),
        (.readStreamClosed, "ReadStreamClosed"), (.dealloc, "Dealloc"),
    ]
}
