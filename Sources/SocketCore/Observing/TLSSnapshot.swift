/// TLS on one connection, at the instant of a snapshot.
public struct TLSSnapshot: Hashable, Sendable, Codable {
    /// How far it has come.
    public enum Phase: String, Hashable, Sendable, Codable, CaseIterable {
        /// The barrier waits for operations that were queued before it.
        case queued
        /// The handshake is under way.
        case handshaking
        /// Somebody is asked about the peer's certificate.
        case asking
        /// Bytes pass encrypted.
        case secure
        /// It never came about; the record of the end says why.
        case failed
    }

    /// Which side of the handshake we are.
    public var role: TLSSettings.Role
    /// How far it has come.
    public var phase: Phase
    /// When TLS was asked for.
    public var asked: MonotonicTime
    /// When the handshake began; nil: not yet.
    public var began: MonotonicTime?
    /// How long the handshake took, the time included in which somebody was asked; nil: it is not done.
    public var handshakeTime: Duration?
    /// When the handshake times out; nil: never, or not while somebody is asked, or it is done.
    public var deadline: MonotonicTime?
    /// `TLSv1.3`.
    public var version: String?
    /// `TLS_AES_256_GCM_SHA384`.
    public var cipher: String?
    /// The group of the key exchange: `x25519`. nil: none took place, since a session was resumed.
    public var group: String?
    /// The protocol that both sides agreed on (ALPN).
    public var applicationProtocol: String?
    /// The name that the client asked for (SNI).
    public var serverName: String?
    /// The name or address that the peer's certificate is checked for; nil: none is.
    public var expectedName: String?
    /// The peer's certificate, then those that lead to its authority.
    public var chain: [TLSCertificate] = []
    /// What came of looking at it; nil: not yet.
    public var verification: TLSVerification?
    /// The question that waits for an answer.
    public var question: TLSTrust?
    /// Whether an earlier session was resumed.
    public var isResumed = false
    /// Plaintext bytes decrypted.
    public var plaintextReceived: UInt64 = 0
    /// Plaintext bytes whose encrypted form the kernel took.
    public var plaintextSent: UInt64 = 0
    /// Encrypted bytes that wait here for the kernel.
    public var pendingWireBytes = 0
    /// Whether we have sent close_notify.
    public var hasSentCloseNotify = false
    /// Whether the peer has sent close_notify.
    public var hasReceivedCloseNotify = false

    /// Describes TLS that was just asked for; set what else is known.
    public init(role: TLSSettings.Role, phase: Phase, asked: MonotonicTime) {
        self.asked = asked
        self.role = role
        self.phase = phase
    }
}
