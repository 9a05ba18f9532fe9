/// Keys of the settings of `startTLS(_:)`. Whether the delegate judges the peer's certificate: an `NSNumber` of a Bool.
public let GCDAsyncSocketManuallyEvaluateTrust = "GCDAsyncSocketManuallyEvaluateTrust"
/// A key of upstream on iOS; it has no effect.
public let GCDAsyncSocketUseCFStreamForTLS = "GCDAsyncSocketUseCFStreamForTLS"
/// The name that the peer's certificate must be for, and that a client asks for (SNI): an `NSString`.
public let GCDAsyncSocketSSLPeerName = kCFStreamSSLPeerName
/// What this side shows: an `NSArray` that begins with a `SecIdentity`.
public let GCDAsyncSocketSSLCertificates = kCFStreamSSLCertificates
/// Whether this side is the server: an `NSNumber` of a Bool.
public let GCDAsyncSocketSSLIsServer = kCFStreamSSLIsServer
/// Has sessions resumed: an `NSData`, of any bytes.
public let GCDAsyncSocketSSLPeerID = "GCDAsyncSocketSSLPeerID"
/// The oldest version: an `NSNumber` of an `SSLProtocol`.
public let GCDAsyncSocketSSLProtocolVersionMin = "GCDAsyncSocketSSLProtocolVersionMin"
/// The newest version: an `NSNumber` of an `SSLProtocol`.
public let GCDAsyncSocketSSLProtocolVersionMax = "GCDAsyncSocketSSLProtocolVersionMax"
/// An `NSNumber` of a Bool; it has no effect.
public let GCDAsyncSocketSSLSessionOptionFalseStart = "GCDAsyncSocketSSLSessionOptionFalseStart"
/// An `NSNumber` of a Bool; it has no effect.
public let GCDAsyncSocketSSLSessionOptionSendOneByteRecord = "GCDAsyncSocketSSLSessionOptionSendOneByteRecord"
/// The ciphers: an `NSArray` of `NSNumber`, each the number that IANA has assigned.
public let GCDAsyncSocketSSLCipherSuites = "GCDAsyncSocketSSLCipherSuites"
/// Protocols to agree on (ALPN): an `NSArray` of `NSString`, the best first.
public let GCDAsyncSocketSSLALPN = "GCDAsyncSocketSSLALPN"
/// An `NSData`; it has no effect: OpenSSL chooses its own.
public let GCDAsyncSocketSSLDiffieHellmanParameters = "GCDAsyncSocketSSLDiffieHellmanParameters"

/// CFNetwork's key of the peer's name.
public let kCFStreamSSLPeerName = "kCFStreamSSLPeerName"
/// CFNetwork's key of what this side shows.
public let kCFStreamSSLCertificates = "kCFStreamSSLCertificates"
/// CFNetwork's key of the role.
public let kCFStreamSSLIsServer = "kCFStreamSSLIsServer"
/// A key that is refused; `GCDAsyncSocketManuallyEvaluateTrust` takes its place.
public let kCFStreamSSLAllowsAnyRoot = "kCFStreamSSLAllowsAnyRoot"
/// A key that is refused; `GCDAsyncSocketManuallyEvaluateTrust` takes its place.
public let kCFStreamSSLAllowsExpiredRoots = "kCFStreamSSLAllowsExpiredRoots"
/// A key that is refused; `GCDAsyncSocketManuallyEvaluateTrust` takes its place.
public let kCFStreamSSLAllowsExpiredCertificates = "kCFStreamSSLAllowsExpiredCertificates"
/// A key that is refused; `GCDAsyncSocketManuallyEvaluateTrust` takes its place.
public let kCFStreamSSLValidatesCertificateChain = "kCFStreamSSLValidatesCertificateChain"
/// A key that is refused; `GCDAsyncSocketSSLProtocolVersionMin` and `...Max` take its place.
public let kCFStreamSSLLevel = "kCFStreamSSLLevel"

/// Secure Transport's numbers of the versions.
public enum SSLProtocol: Int32, Sendable {
    /// Any.
    case sslProtocolUnknown = 0
    /// Refused: OpenSSL has none of it any more.
    case sslProtocol3 = 2
    /// RFC 2246.
    case tlsProtocol1 = 4
    /// RFC 4346.
    case tlsProtocol11 = 7
    /// RFC 5246.
    case tlsProtocol12 = 8
    /// RFC 8446.
    case tlsProtocol13 = 10
}
