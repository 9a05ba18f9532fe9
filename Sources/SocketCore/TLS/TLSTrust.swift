/// A certificate, as far as a person wants to know it.
public struct TLSCertificate: Hashable, Sendable, Codable {
    /// Whom it is for, in the form of RFC 2253.
    public var subject: String
    /// Who signed it.
    public var issuer: String
    /// Names and addresses that it is for: `DNS:example.org`, `IP Address:127.0.0.1`.
    public var names: [String]
    /// From when on it is valid, in seconds since 1970 (UTC).
    public var notBefore: Int64
    /// Until when it is valid, likewise.
    public var notAfter: Int64
    /// SHA-256 of the whole certificate.
    public var fingerprint: [UInt8]
    /// SHA-256 of its public key.
    public var publicKeyDigest: [UInt8]

    /// Describes a certificate.
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

/// What came of looking at the peer's certificate.
public enum TLSVerification: Hashable, Sendable, Codable {
    /// The peer has shown none.
    case none
    /// It passed.
    case passed
    /// It is one of those pinned.
    case pinned
    /// It did not pass, for this reason, and nobody minds: the settings take anything.
    case notRequired(code: Int, text: String)
    /// Whoever was asked accepted it; the reason for which it would have been refused, nil: it passed as well.
    case acceptedByHand(String?)
    /// It did not pass.
    case failed(code: Int, text: String)
}

/// The question whether a peer's certificate shall be accepted.
public struct TLSTrust: Hashable, Sendable, Codable {
    /// Its name, for `SocketCommand.answerTrust`.
    public var question: OperationID
    /// The peer's certificate, then those that lead to its authority, as the peer sent them.
    public var chain: [TLSCertificate]
    /// The same certificates in DER; empty where the question comes from another program.
    public var encodedChain: [[UInt8]] = []
    /// The name or address that it should be for; nil: none is checked.
    public var expectedName: String?
    /// OpenSSL's verification code; 0: it passed.
    public var code: Int
    /// Why OpenSSL would refuse it; nil: it passed.
    public var problem: String?

    private enum CodingKeys: String, CodingKey { case question, chain, expectedName, code, problem }

    /// Describes a question.
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
    /// The handshake goes on.
    case accept
    /// The handshake fails.
    case refuse
    /// The answer comes later, by `AsyncSocket.answerTrust(of:_:)` or `SocketCommand.answerTrust`. The handshake waits,
    /// and its timeout does too.
    case later
    /// Nobody is there who could judge: the connection closes with `other` (GCDAsyncSocket: the missing hook).
    case unhandled
}
