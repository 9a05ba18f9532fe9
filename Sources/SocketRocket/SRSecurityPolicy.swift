internal import SocketKit

/// The checks on a server's certificate. A subclass can add its own by overriding `evaluateServerTrust(_:forDomain:)`.
/// SocketRocket: `SRSecurityPolicy`.
///
/// TLS 1.2 is the oldest version. The trusted authorities are OpenSSL's, and the environment variable `SSL_CERT_FILE`
/// can select others.
open class SRSecurityPolicy {
    let validatesChain: Bool

    /// Creates a policy that validates the certificate's chain and name.
    public init() { validatesChain = true }

    /// Creates a policy that validates the certificate's chain and name only if `certificateChainValidationEnabled` is
    /// true.
    @available(*, deprecated, message: "Without validation, anyone can pose as the server.")
    public init(certificateChainValidationEnabled enabled: Bool) { validatesChain = enabled }

    /// Creates a policy for the deprecated initializers of `SRWebSocket`.
    init(validatesChain: Bool) { self.validatesChain = validatesChain }

    /// Returns a policy that validates the certificate's chain and name. SocketRocket: `+defaultPolicy`.
    public static func `default`() -> SRSecurityPolicy { SRSecurityPolicy() }

    /// Whether the server is trusted. Defaults to `true`. Called once for each connection, on the delegate's queue. If
    /// the chain and the name are validated, it is called after both have passed, and not called if they fail.
    open func evaluateServerTrust(_ serverTrust: SRServerTrust, forDomain domain: String) -> Bool { true }

    /// Whether the policy is a subclass, which may override `evaluateServerTrust(_:forDomain:)`.
    var decides: Bool { type(of: self) != SRSecurityPolicy.self }
}

/// The certificates that a server sent. It replaces Security's `SecTrust`, which only Apple's systems have.
public struct SRServerTrust: Hashable, Sendable {
    /// A certificate of the chain.
    public struct Certificate: Hashable, Sendable {
        /// The subject, in the form of RFC 2253.
        public let subject: String
        /// The issuer.
        public let issuer: String
        /// The names and addresses that it is for, such as `DNS:example.org`.
        public let names: [String]
        /// The SHA-256 of the certificate in DER.
        public let sha256: Data
        /// The SHA-256 of its public key (SubjectPublicKeyInfo), which a renewed certificate may keep.
        public let publicKeySHA256: Data
    }

    /// The server's own certificate first, then the others that the server sent.
    public let certificates: [Certificate]
    /// Why the chain or the name fails validation, or `nil` if both pass.
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
