/// The TLS settings of one connection. Files are read and all settings are checked when TLS is requested.
///
/// GCDAsyncSocket: the dictionary of `startTLS:`. Unlike there, the peer's name is checked unless `checksName` is
/// `false`.
public struct TLSSettings: Hashable, Sendable {
    /// The side of the handshake.
    public enum Role: String, Hashable, Sendable, CaseIterable {
        /// The side that sends the ClientHello.
        case client
        /// The side that must have a certificate.
        case server
    }

    /// The versions of the protocol.
    public enum Version: String, Hashable, Sendable, CaseIterable {
        /// RFC 2246, obsolete. Works only with ciphers at `@SECLEVEL=0`.
        case tls10 = "1.0"
        /// RFC 4346, obsolete. Works only with ciphers at `@SECLEVEL=0`.
        case tls11 = "1.1"
        /// RFC 5246.
        case tls12 = "1.2"
        /// RFC 8446.
        case tls13 = "1.3"
    }

    /// What the peer's certificate is verified against.
    public enum Trust: Hashable, Sendable {
        /// The authorities trusted by the system.
        case system
        /// The certificates in this file (PEM).
        case file(String)
        /// The certificates in this folder, with names as set by `openssl rehash`.
        case folder(String)
        /// The peer's own certificate must be one of these. Its name, dates and authority don't matter.
        case pinned([TLSPin])
        /// Nothing. Certificates are verified and problems are shown, but nothing is refused.
        case anything
    }

    /// What evaluates the peer's certificate.
    public enum TrustEvaluator: String, Hashable, Sendable {
        /// OpenSSL, according to `trust`.
        case library
        /// The delegate, for every certificate (GCDAsyncSocket: manual trust evaluation).
        case delegate
        /// The delegate, for certificates that OpenSSL would refuse.
        case delegateIfRefused
    }

    /// Whether a server asks its clients for a certificate.
    public enum ClientCertificate: String, Hashable, Sendable {
        /// Clients are not asked for a certificate.
        case none
        /// A certificate is optional. One that fails verification ends the handshake.
        case requested
        /// A certificate that passes verification is required.
        case required
    }

    /// A certificate to present, with its intermediate certificates and its key, in PEM files or in memory. A key in
    /// PEM must not be encrypted.
    public struct Identity: Hashable, Sendable {
        /// The file with the certificate followed by its intermediate certificates. Empty if they are in memory.
        public var certificateFile: String
        /// The file with the private key, which can be the same file. Empty if the key is in memory.
        public var keyFile: String
        /// The certificates and the key in memory, or `nil` if they are in files.
        package var memory: Memory?

        /// The content in memory.
        package enum Memory: Hashable, Sendable {
            /// The contents of the two files.
            case pem(certificates: [UInt8], key: [UInt8])
            /// A PKCS #12 container (RFC 7292).
            case pkcs12([UInt8], passphrase: String)
        }

        /// Creates an identity from two files. If `keyFile` is `nil`, the certificate file also holds the key.
        public init(certificateFile: String, keyFile: String? = nil) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile ?? certificateFile
        }

        private init(_ memory: Memory) {
            self.init(certificateFile: "")
            self.memory = memory
        }

        /// Creates an identity from PEM in memory: the certificate followed by its intermediate certificates, and the
        /// key. If `key` is `nil`, it is among the certificates. Invalid content is rejected when TLS is requested.
        public static func pem(certificates: [UInt8], key: [UInt8]? = nil) -> Identity {
            Identity(.pem(certificates: certificates, key: key ?? certificates))
        }

        /// Creates an identity from a PKCS #12 container (`.p12`, `.pfx`), including those with old ciphers from
        /// OpenSSL's legacy provider. A wrong passphrase is rejected when TLS is requested.
        public static func pkcs12(_ bytes: [UInt8], passphrase: String) -> Identity {
            Identity(.pkcs12(bytes, passphrase: passphrase))
        }
    }

    /// The side of the handshake.
    public var role: Role
    /// For a client, the name to request (SNI) and check, or the address to check. If `nil`, the host that was
    /// connected to.
    public var serverName: String?
    /// For a client, whether the peer's certificate must be valid for that name or address.
    public var checksName = true
    /// What the peer's certificate is verified against.
    public var trust = Trust.system
    /// What evaluates the peer's certificate.
    public var trustEvaluator = TrustEvaluator.library
    /// The certificate that this side presents. A server must have one.
    public var identity: Identity?
    /// For a server, whether clients are asked for a certificate.
    public var clientCertificate = ClientCertificate.none
    /// The application protocols offered (ALPN), in order of preference. If empty, none are offered.
    public var applicationProtocols: [String] = []
    /// The oldest accepted version.
    public var minimumVersion = Version.tls12
    /// The newest accepted version.
    public var maximumVersion = Version.tls13
    /// The ciphers for TLS 1.2 and older in the format of `openssl ciphers`, or `nil` for OpenSSL's default.
    public var cipherList: String?
    /// The cipher suites for TLS 1.3, separated by colons, or `nil` for OpenSSL's default.
    public var cipherSuites: String?
    /// Whether sessions are cached and resumed.
    public var resumesSessions = true
    /// The timeout for the handshake, not counting the time spent waiting for a trust verdict, or `nil` for none.
    public var handshakeTimeout: Duration? = .seconds(10)
    /// A file to which every connection's secrets are appended for Wireshark, or `nil` for none. A new
    /// file can be read by its owner only, and an existing one keeps its mode. Anyone who can read it can decrypt
    /// everything.
    public var keyLogFile: String?

    /// Creates the settings of a client.
    public static func client(serverName: String? = nil) -> TLSSettings {
        TLSSettings(role: .client, serverName: serverName)
    }

    /// Creates the settings of a server that presents this certificate.
    public static func server(_ identity: Identity) -> TLSSettings {
        var settings = TLSSettings(role: .server)
        settings.identity = identity
        return settings
    }

    private init(role: Role, serverName: String? = nil) {
        self.role = role
        self.serverName = serverName
    }
}

/// A pinned certificate, identified by its SHA-256 digest.
public enum TLSPin: Hashable, Sendable {
    /// The digest of the whole certificate (DER), which is the fingerprint shown.
    case certificate(sha256: [UInt8])
    /// The digest of the public key (SubjectPublicKeyInfo, RFC 7469 section 2.4). It survives a renewal.
    case publicKey(sha256: [UInt8])
}

extension TLSSettings {
    /// Why these settings can never work, as far as can be told without reading a file, or `nil` if they can.
    package var fault: String? {
        if role == .server, identity == nil { return "identity: a server needs a certificate and its key" }
        if role == .server, serverName != nil { return "serverName: only a client names the server" }
        if role == .client, clientCertificate != .none { return "clientCertificate: only a server asks for one" }
        if let serverName, let fault = Self.nameFault(serverName) { return "serverName \(serverName): \(fault)" }
        if minimumVersion.rawValue > maximumVersion.rawValue {
            return "minimumVersion \(minimumVersion.rawValue): is above maximumVersion \(maximumVersion.rawValue)"
        }
        if let handshakeTimeout, handshakeTimeout <= .zero {
            return "handshakeTimeout \(handshakeTimeout): must be more than zero; nil means none"
        }
        if case .pinned(let pins) = trust, pins.isEmpty || pins.contains(where: { $0.digest.count != 32 }) {
            return "trust: needs at least one pin; each must be a SHA-256 digest of 32 bytes"
        }
        let fault = applicationProtocols.first { !(1...255).contains($0.utf8.count) }
        if let fault { return "applicationProtocols: \"\(fault)\" must have 1 to 255 bytes" }
        let length = applicationProtocols.reduce(0) { $0 + 1 + $1.utf8.count }
        return length > 65_535 ? "applicationProtocols: more than 65535 bytes in total" : nil
    }

    private static func nameFault(_ name: String) -> String? {
        if name.isEmpty { return "must not be empty" }
        if name.hasPrefix(".") || name.hasSuffix("..") { return "must not have an empty label" }
        if name.utf8.count > 255 { return "must have at most 255 bytes" }
        return name.utf8.contains { $0 <= 0x20 || $0 >= 0x7F } ? "must be ASCII without spaces" : nil
    }
}

extension TLSPin {
    /// The SHA-256 digest.
    package var digest: [UInt8] {
        switch self {
        case .certificate(let digest), .publicKey(let digest): digest
        }
    }
}
