import Foundation
import SocketKit

/// The peer's certificates, to be verified. These types are the part of Apple's Security framework that TLS needs here.
public final class SecTrust: NSObject, Sendable {
    let trust: TLSTrust
    private let isUnanswered = Lock(false)

    init(_ trust: TLSTrust) { self.trust = trust }

    /// Records that the delegate has no method to verify certificates.
    func noteNoEvaluator() { isUnanswered.withLock { $0 = true } }

    var hasNoEvaluator: Bool { isUnanswered.withLock { $0 } }
}

/// A certificate.
public final class SecCertificate: NSObject, Sendable {
    let encoded: [UInt8]
    let facts: TLSCertificate

    init(_ encoded: [UInt8], _ facts: TLSCertificate) {
        self.encoded = encoded
        self.facts = facts
    }
}

/// A certificate and its private key. On Linux it is created from PEM or PKCS #12, since there is no keychain.
public final class SecIdentity: NSObject, Sendable {
    let identity: TLSSettings.Identity

    private init(_ identity: TLSSettings.Identity) { self.identity = identity }

    /// Reads the certificate and key from PEM files when TLS starts. Without `keyFile`, the certificate file must hold
    /// both.
    public convenience init(certificateFile: String, keyFile: String? = nil) {
        self.init(TLSSettings.Identity(certificateFile: certificateFile, keyFile: keyFile))
    }

    /// Reads the certificate and key from PEM in memory. Without `key`, the certificate data must hold both.
    public convenience init(pemCertificates: Data, key: Data? = nil) {
        self.init(.pem(certificates: [UInt8](pemCertificates), key: key.map { [UInt8]($0) }))
    }

    /// Reads the certificate and key from a PKCS #12 container.
    public convenience init(pkcs12: Data, passphrase: String) {
        self.init(.pkcs12([UInt8](pkcs12), passphrase: passphrase))
    }
}

/// Whether the peer's certificate passes verification: it chains to an authority that this system trusts, is currently
/// valid, and is for the peer's name if one was given. If it does not pass, `error` receives the reason.
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    guard let problem = trust.trust.problem else { return true }
    error?.pointee = NSError(
        domain: NSOSStatusErrorDomain, code: Int(errSecNotTrusted), userInfo: [NSLocalizedDescriptionKey: problem])
    return false
}

/// Returns the number of certificates that the peer sent.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { trust.trust.chain.count }

/// Returns a certificate of the chain, or `nil` if the index is out of range. The peer's own is first.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ index: CFIndex) -> SecCertificate? {
    let (encoded, chain) = (trust.trust.encodedChain, trust.trust.chain)
    guard chain.indices.contains(index), encoded.indices.contains(index) else { return nil }
    return SecCertificate(encoded[index], chain[index])
}

/// Returns the whole chain as an array of `SecCertificate`, the peer's own first.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    NSArray(array: (0..<SecTrustGetCertificateCount(trust)).compactMap { SecTrustGetCertificateAtIndex(trust, $0) })
}

/// Returns a certificate in DER.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { NSData(data: Data(certificate.encoded)) }

/// Returns a readable name of the certificate's subject.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    let parts = certificate.facts.subject.split(separator: ",")
    let name = parts.first { $0.hasPrefix("CN=") }.map { String($0.dropFirst(3)) }
    return NSString(string: name ?? certificate.facts.subject)
}

/// Creates a certificate from DER. Returns `nil` if the data is not a certificate.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    let bytes = [UInt8](data as Data)
    return TLSCertificate(encoded: bytes).map { SecCertificate(bytes, $0) }
}

/// Reads the identity of a PKCS #12 container into the first of `items`, under `kSecImportItemIdentity`. A wrong
/// passphrase is reported only when TLS starts.
public func SecPKCS12Import(
    _ container: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    let passphrase = options.object(forKey: kSecImportExportPassphrase) as? String ?? ""
    let identity = SecIdentity(pkcs12: container as Data, passphrase: passphrase)
    items.pointee = NSArray(array: [[kSecImportItemIdentity: identity] as [String: Any]])
    return errSecSuccess
}

/// The key for the passphrase in the options of `SecPKCS12Import`.
public let kSecImportExportPassphrase = "passphrase"
/// The key for the identity in the items of `SecPKCS12Import`.
public let kSecImportItemIdentity = "identity"
/// Success.
public let errSecSuccess: OSStatus = 0
/// The certificate is not trusted.
public let errSecNotTrusted: OSStatus = -67843
