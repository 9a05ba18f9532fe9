internal import SocketKit

/// What a server's certificate must be like. A subclass decides by overriding `evaluateServerTrust(_:forDomain:)`.
/// SocketRocket: `SRSecurityPolicy`.
///
/// TLS 1.2 is the oldest version. The authorities are those that OpenSSL trusts; the environment variable `SSL_CERT_FILE`
/// names others.
open class SRSecurityPolicy {
    let validatesChain: Bool

    /// A policy that validates the chain and the name of the certificate.
    public init() { validatesChain = true }

    /// A policy that validates chain and name only if `certificateChainValidationEnabled` is true.
    @available(*, deprecated, message: "Without validation anybody can be the server.")
    public init(certificateChainValidationEnabled enabled: Bool) { validatesChain = enabled }

    /// For `SRWebSocket`, which has this deprecated choice too.
    init(validatesChain: Bool) { self.validatesChain = validatesChain }

    /// A policy that validates chain and name. SocketRocket: `+defaultPolicy`.
    public static func `default`() -> SRSecurityPolicy { SRSecurityPolicy() }

    /// Whether the server is trusted; `true` unless overridden. It is asked once for each connection, on the queue of the
    /// delegate, after the chain and the name have passed if these are validated, and not at all if they have not.
    open func evaluateServerTrust(_ serverTrust: SRServerTrust, forDomain domain: String) -> Bool { true }

    /// Whether the method above is a subclass's.
    var decides: Bool { type(of: self) != SRSecurityPolicy.self }
}

/// What a server showed. It stands for Security's `SecTrust`, which only Apple's systems have.
public struct SRServerTrust: Hashable, Sendable {
    /// A certificate of the chain.
    public struct Certificate: Hashable, Sendable {
        /// Whom it is for, in the form of RFC 2253.
        public let subject: String
        /// Who signed it.
        public let issuer: String
        /// Names and addresses that it is for, such as `DNS:example.org`.
        public let names: [String]
        /// SHA-256 of the certificate in DER.
        public let sha256: Data
        /// SHA-256 of its public key (SubjectPublicKeyInfo), which a renewed certificate may keep.
        public let publicKeySHA256: Data
    }

    /// The server's own certificate first, then those that the server sent with it.
    public let certificates: [Certificate]
    /// Why the chain or the name would not pass, or `nil` if both pass.
    public let problem: String?

    init(_ trust: TLSTrust) {
        certificates = trust.chain.map {
            Certificate(
                subject: $0.subject, issuer: $0.issuer, names: $0.names, sha256: Data($0.fingerprint),
                publicKeySHA256: Data($0.publicKeyDigest))
        }
        problem = trust.problem
    }
}
