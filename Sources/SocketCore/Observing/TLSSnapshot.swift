/// TLS on one connection, at the instant of a snapshot.
public struct TLSSnapshot: Equatable, Sendable {
    /// The stage that TLS has reached.
    public enum Phase: String, Hashable, Sendable, CaseIterable {
        /// The barrier waits for operations that were queued before it.
        case queued
        /// The handshake is under way.
        case handshaking
        /// The peer's certificate waits for a verdict.
        case asking
        /// Bytes are sent and received encrypted.
        case secure
        /// TLS was not established. The session's close record says why.
        case failed
    }

    /// The local side's role in the handshake.
    public var role: TLSSettings.Role
    /// The stage that TLS has reached.
    public var phase: Phase
    /// When TLS was requested.
    public var asked: MonotonicTime
    /// When the handshake started, or `nil` if it has not.
    public var began: MonotonicTime?
    /// How long the handshake took, without the wait for a verdict, or `nil` if it has not finished.
    public var handshakeTime: Duration?
    /// The handshake's deadline, or `nil` if it has none, waits for a verdict, or has finished.
    public var deadline: MonotonicTime?
    /// The version, such as `TLSv1.3`.
    public var version: String?
    /// The cipher suite, such as `TLS_AES_256_GCM_SHA384`.
    public var cipher: String?
    /// The group of the key exchange, such as `x25519`, or `nil` if there was none because a session was resumed.
    public var group: String?
    /// The protocol that both sides agreed on (ALPN).
    public var applicationProtocol: String?
    /// The name that the client requested (SNI).
    public var serverName: String?
    /// The name or address that the peer's certificate must match, or `nil` if it is not checked.
    public var expectedName: String?
    /// The peer's certificate, then its issuers up to its authority.
    public var chain: [TLSCertificate] = []
    /// The result of verifying the certificate, or `nil` if there is none yet.
    public var verification: TLSVerification?
    /// The trust question that waits for a verdict.
    public var question: TLSTrust?
    /// Whether an earlier session was resumed.
    public var isResumed = false
    /// Plaintext bytes decrypted.
    public var plaintextReceived: UInt64 = 0
    /// Plaintext bytes whose encrypted form the kernel has accepted.
    public var plaintextSent: UInt64 = 0
    /// Encrypted bytes that the kernel has not accepted.
    public var pendingWireBytes = 0
    /// Whether the local side has sent close_notify.
    public var hasSentCloseNotify = false
    /// Whether the peer has sent close_notify.
    public var hasReceivedCloseNotify = false

    /// Describes TLS that was just requested; set what else is known.
    public init(role: TLSSettings.Role, phase: Phase, asked: MonotonicTime) {
        self.asked = asked
        self.role = role
        self.phase = phase
    }
}
