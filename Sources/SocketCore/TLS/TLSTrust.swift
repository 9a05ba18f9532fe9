/// A summary of a certificate for display.
public struct TLSCertificate: Hashable, Sendable {
    /// The subject, in the format of RFC 2253.
    public var subject: String
    /// The issuer.
    public var issuer: String
    /// The names and addresses it is valid for: `DNS:example.org`, `IP Address:127.0.0.1`.
    public var names: [String]
    /// The start of its validity, in seconds since 1970 (UTC).
    public var notBefore: Int64
    /// The end of its validity, in seconds since 1970 (UTC).
    public var notAfter: Int64
    /// The SHA-256 digest of the whole certificate.
    public var fingerprint: [UInt8]
    /// The SHA-256 digest of its public key.
    public var publicKeyDigest: [UInt8]

    /// Creates a summary.
    public init(
        subject: String, issuer: String, names: [String], notBefore: Int64, notAfter: Int64, fingerprint: [UInt8],
        publicKeyDigest: [UInt8]
    ) {
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.fingerprint = fingerprint
        self.publicKeyDigest = publicKeyDigest
    }
}

/// The result of verifying the peer's certificate.
public enum TLSVerification: Hashable, Sendable {
    /// The peer has presented no certificate.
    case none
    /// The certificate passed verification.
    case passed
    /// The certificate is a pinned one.
    case pinned
    /// The certificate failed verification for this reason, but the settings accept any.
    case notRequired(code: Int, text: String)
    /// The delegate or the user accepted the certificate. Holds the reason OpenSSL would have refused it, or `nil` if
    /// it passed verification.
    case acceptedByHand(String?)
    /// The certificate failed verification.
    case failed(code: Int, text: String)
}

/// A request to decide whether the peer's certificate is accepted.
public struct TLSTrust: Hashable, Sendable {
    /// The request's identifier, for `SocketCommand.answerTrust`.
    public var question: OperationID
    /// The peer's certificate and its intermediate certificates, as the peer sent them.
    public var chain: [TLSCertificate]
    /// The certificates of `chain` in DER. Empty if the request comes from another program.
    public var encodedChain: [[UInt8]] = []
    /// The name or address that the certificate should be valid for, or `nil` if none is checked.
    public var expectedName: String?
    /// OpenSSL's verification code, or 0 if the certificate passed.
    public var code: Int
    /// Why OpenSSL would refuse the certificate, or `nil` if it passed.
    public var problem: String?

    /// Creates a request.
    public init(question: OperationID, chain: [TLSCertificate], expectedName: String?, code: Int, problem: String?) {
        self.question = question
        self.chain = chain
        self.expectedName = expectedName
        self.code = code
        self.problem = problem
    }
}

/// The answer to `TLSTrust`.
public enum TrustVerdict: Hashable, Sendable {
    /// The handshake continues.
    case accept
    /// The handshake fails.
    case refuse
    /// The answer follows later through `AsyncSocket.answerTrust(of:_:)` or `SocketCommand.answerTrust`. Until then the
    /// handshake and its timeout are paused.
    case later
    /// Nothing can evaluate the certificate, so the connection closes with `other` (GCDAsyncSocket: the missing hook).
    case unhandled
}
