/// How TLS is set up on one connection. Files are read, and everything is checked, where TLS is asked for.
///
/// GCDAsyncSocket: the dictionary of `startTLS:`. Unlike there, the peer's name is checked unless that is switched off.
public struct TLSSettings: Hashable, Sendable, Codable {
    /// Which side of the handshake.
    public enum Role: String, Hashable, Sendable, Codable, CaseIterable {
        /// The side that sends the ClientHello.
        case client
        /// The side that has a certificate to show.
        case server
    }

    /// Versions of the protocol.
    public enum Version: String, Hashable, Sendable, Codable, CaseIterable {
        /// RFC 2246; obsolete. Works only with ciphers at `@SECLEVEL=0`.
        case tls10 = "1.0"
        /// RFC 4346; obsolete. Works only with ciphers at `@SECLEVEL=0`.
        case tls11 = "1.1"
        /// RFC 5246.
        case tls12 = "1.2"
        /// RFC 8446.
        case tls13 = "1.3"
    }

    /// What a peer's certificate must lead to.
    public enum Trust: Hashable, Sendable, Codable {
        /// The authorities that this system trusts.
        case system
        /// The certificates in this file (PEM).
        case file(String)
        /// The certificates in this folder, named by `openssl rehash`.
        case folder(String)
        /// The peer's own certificate must be one of these; its name, dates and authority do not matter then.
        case pinned([TLSPin])
        /// Anything: certificates are looked at, and what is wrong with them is shown, but nothing is refused.
        case anything
    }

    /// Who judges the peer's certificate.
    public enum TrustEvaluator: String, Hashable, Sendable, Codable {
        /// OpenSSL, by `trust`.
        case library
        /// The delegate, about every certificate (GCDAsyncSocket: manual trust evaluation).
        case delegate
        /// The delegate, about certificates that OpenSSL would refuse.
        case delegateIfRefused
    }

    /// What a server wants of its clients.
    public enum ClientCertificate: String, Hashable, Sendable, Codable {
        /// Nothing.
        case none
        /// A certificate if they have one; one that does not pass ends the handshake.
        case requested
        /// A certificate that passes.
        case required
    }

    /// A certificate to show, with those between it and its authority, and its key: files in PEM, or memory. A key in PEM
    /// must not be encrypted.
    public struct Identity: Hashable, Sendable, Codable {
        /// The certificate, followed by those that lead to its authority. Empty where they are in memory.
        public var certificateFile: String
        /// Its private key; it may be the same file. Empty where it is in memory.
        public var keyFile: String
        /// The certificates and the key where they are in memory; nil: the files have them.
        package var memory: Memory?

        /// What is in memory.
        package enum Memory: Hashable, Sendable, Codable {
            /// The text of the two files.
            case pem(certificates: [UInt8], key: [UInt8])
            /// A PKCS #12 container (RFC 7292).
            case pkcs12([UInt8], passphrase: String)
        }

        /// Names both files; one alone holds both.
        public init(certificateFile: String, keyFile: String? = nil) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile ?? certificateFile
        }

        private init(_ memory: Memory) {
            self.init(certificateFile: "")
            self.memory = memory
        }

        /// Takes both from memory, in PEM: the certificate, followed by those that lead to its authority, and the key; nil:
        /// the key stands beside the certificates. What is wrong with them is refused where TLS is asked for.
        public static func pem(certificates: [UInt8], key: [UInt8]? = nil) -> Identity {
            Identity(.pem(certificates: certificates, key: key ?? certificates))
        }

        /// Takes both from a PKCS #12 container (`.p12`, `.pfx`), also one of the old ciphers that OpenSSL's legacy
        /// provider has. A wrong passphrase is refused where TLS is asked for.
        public static func pkcs12(_ bytes: [UInt8], passphrase: String) -> Identity {
            Identity(.pkcs12(bytes, passphrase: passphrase))
        }
    }

    /// Which side of the handshake.
    public var role: Role
    /// Of a client: the name to ask for (SNI) and to check, or the address to check; nil: the host that was connected
    /// to.
    public var serverName: String?
    /// Of a client: whether the peer's certificate must be for that name or address.
    public var checksName = true
    /// What the peer's certificate must lead to.
    public var trust = Trust.system
    /// Who judges the peer's certificate.
    public var trustEvaluator = TrustEvaluator.library
    /// What this side shows; a server must have one.
    public var identity: Identity?
    /// Of a server: what it wants of its clients.
    public var clientCertificate = ClientCertificate.none
    /// Protocols to agree on (ALPN), the best first; empty: none are named.
    public var applicationProtocols: [String] = []
    /// The oldest version taken.
    public var minimumVersion = Version.tls12
    /// The newest version taken.
    public var maximumVersion = Version.tls13
    /// Ciphers for TLS 1.2 and older, in the form of `openssl ciphers`; nil: OpenSSL's.
    public var cipherList: String?
    /// Cipher suites for TLS 1.3, joined by colons; nil: OpenSSL's.
    public var cipherSuites: String?
    /// Whether sessions are kept and resumed.
    public var resumesSessions = true
    /// How long the handshake may take, the time not counted in which somebody is asked; nil: for ever.
    public var handshakeTimeout: Duration? = .seconds(10)
    /// A file to which the secrets of every connection are added, for Wireshark; it is made readable for its owner
    /// only. nil: none. Whoever has it can read everything.
    public var keyLogFile: String?

    /// The settings of a client.
    public static func client(serverName: String? = nil) -> TLSSettings {
        TLSSettings(role: .client, serverName: serverName)
    }

    /// The settings of a server that shows this certificate.
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

/// One certificate, by its SHA-256 digest.
public enum TLSPin: Hashable, Sendable, Codable {
    /// The digest of the whole certificate (DER): the fingerprint that is shown.
    case certificate(sha256: [UInt8])
    /// The digest of its public key (SubjectPublicKeyInfo, RFC 7469 section 2.4); it survives a renewal.
    case publicKey(sha256: [UInt8])
}

extension TLSSettings {
    /// Why these settings can never work, as far as that is seen without a file; nil when they can.
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
            return "trust: a pin is a SHA-256 digest of 32 bytes, and there must be one"
        }
        let fault = applicationProtocols.first { !(1...255).contains($0.utf8.count) }
        if let fault { return "applicationProtocols: \"\(fault)\" must have 1 to 255 bytes" }
        let length = applicationProtocols.reduce(0) { $0 + 1 + $1.utf8.count }
        return length > 65_535 ? "applicationProtocols: more than 65535 bytes together" : nil
    }

    private static func nameFault(_ name: String) -> String? {
        if name.isEmpty { return "must not be empty" }
        if name.utf8.count > 255 { return "must have at most 255 bytes" }
        return name.utf8.contains { $0 <= 0x20 || $0 >= 0x7F } ? "must be ASCII without spaces" : nil
    }
}

extension TLSPin {
    /// The digest.
    package var digest: [UInt8] {
        switch self {
        case .certificate(let digest), .publicKey(let digest): digest
        }
    }
}
