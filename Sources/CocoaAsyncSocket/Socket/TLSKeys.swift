/// A `startTLS(_:)` key: whether the delegate verifies the peer's certificate. An `NSNumber` of a Bool.
public let GCDAsyncSocketManuallyEvaluateTrust = "GCDAsyncSocketManuallyEvaluateTrust"
/// An iOS key of upstream. Has no effect.
public let GCDAsyncSocketUseCFStreamForTLS = "GCDAsyncSocketUseCFStreamForTLS"
/// The name that the peer's certificate must be for, and that a client requests (SNI). An `NSString`.
public let GCDAsyncSocketSSLPeerName = kCFStreamSSLPeerName
/// The certificates of this side. An `NSArray` that begins with a `SecIdentity`.
public let GCDAsyncSocketSSLCertificates = kCFStreamSSLCertificates
/// Whether this side is the server. An `NSNumber` of a Bool.
public let GCDAsyncSocketSSLIsServer = kCFStreamSSLIsServer
/// Enables session resumption. An `NSData` of any bytes.
public let GCDAsyncSocketSSLPeerID = "GCDAsyncSocketSSLPeerID"
/// The oldest version allowed. An `NSNumber` of an `SSLProtocol`.
public let GCDAsyncSocketSSLProtocolVersionMin = "GCDAsyncSocketSSLProtocolVersionMin"
/// The newest version allowed. An `NSNumber` of an `SSLProtocol`.
public let GCDAsyncSocketSSLProtocolVersionMax = "GCDAsyncSocketSSLProtocolVersionMax"
/// An `NSNumber` of a Bool. Has no effect.
public let GCDAsyncSocketSSLSessionOptionFalseStart = "GCDAsyncSocketSSLSessionOptionFalseStart"
/// An `NSNumber` of a Bool. Has no effect.
public let GCDAsyncSocketSSLSessionOptionSendOneByteRecord = "GCDAsyncSocketSSLSessionOptionSendOneByteRecord"
/// The ciphers allowed. An `NSArray` of `NSNumber`, each an IANA-assigned number.
public let GCDAsyncSocketSSLCipherSuites = "GCDAsyncSocketSSLCipherSuites"
/// The protocols to negotiate (ALPN). An `NSArray` of `NSString`, in order of preference.
public let GCDAsyncSocketSSLALPN = "GCDAsyncSocketSSLALPN"
/// An `NSData`. Has no effect, because OpenSSL chooses its own parameters.
public let GCDAsyncSocketSSLDiffieHellmanParameters = "GCDAsyncSocketSSLDiffieHellmanParameters"

/// CFNetwork's key for the peer's name.
public let kCFStreamSSLPeerName = "kCFStreamSSLPeerName"
/// CFNetwork's key for this side's certificates.
public let kCFStreamSSLCertificates = "kCFStreamSSLCertificates"
/// CFNetwork's key for the role.
public let kCFStreamSSLIsServer = "kCFStreamSSLIsServer"
/// A rejected key. Use `GCDAsyncSocketManuallyEvaluateTrust` instead.
public let kCFStreamSSLAllowsAnyRoot = "kCFStreamSSLAllowsAnyRoot"
/// A rejected key. Use `GCDAsyncSocketManuallyEvaluateTrust` instead.
public let kCFStreamSSLAllowsExpiredRoots = "kCFStreamSSLAllowsExpiredRoots"
/// A rejected key. Use `GCDAsyncSocketManuallyEvaluateTrust` instead.
public let kCFStreamSSLAllowsExpiredCertificates = "kCFStreamSSLAllowsExpiredCertificates"
/// A rejected key. Use `GCDAsyncSocketManuallyEvaluateTrust` instead.
public let kCFStreamSSLValidatesCertificateChain = "kCFStreamSSLValidatesCertificateChain"
/// A rejected key. Use `GCDAsyncSocketSSLProtocolVersionMin` and `...Max` instead.
public let kCFStreamSSLLevel = "kCFStreamSSLLevel"

/// Secure Transport's version numbers.
public enum SSLProtocol: Int32, Sendable {
    /// Any version.
    case sslProtocolUnknown = 0
    /// SSL 3. Rejected, because OpenSSL no longer supports it.
    case sslProtocol3 = 2
    /// TLS 1.0 (RFC 2246).
    case tlsProtocol1 = 4
    /// TLS 1.1 (RFC 4346).
    case tlsProtocol11 = 7
    /// TLS 1.2 (RFC 5246).
    case tlsProtocol12 = 8
    /// TLS 1.3 (RFC 8446).
    case tlsProtocol13 = 10
}
