import Foundation
import SocketKit

/// What of Apple's Security framework the TLS of these sockets needs: the peer's certificates, to be judged.
public final class SecTrust: NSObject, Sendable {
    let trust: TLSTrust
    private let isUnanswered = Lock(false)

    init(_ trust: TLSTrust) { self.trust = trust }

    /// The delegate has no method to judge by.
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

/// A certificate and its private key. On Linux it is made of PEM or PKCS #12, since there is no keychain.
public final class SecIdentity: NSObject, Sendable {
    let identity: TLSSettings.Identity

    private init(_ identity: TLSSettings.Identity) { self.identity = identity }

    /// Takes both from files in PEM, read when TLS starts; one alone holds both.
    public convenience init(certificateFile: String, keyFile: String? = nil) {
        self.init(TLSSettings.Identity(certificateFile: certificateFile, keyFile: keyFile))
    }

    /// Takes both from memory, in PEM; without a key, the key stands beside the certificates.
    public convenience init(pemCertificates: Data, key: Data? = nil) {
        self.init(.pem(certificates: [UInt8](pemCertificates), key: key.map { [UInt8]($0) }))
    }

    /// Takes both from a PKCS #12 container.
    public convenience init(pkcs12: Data, passphrase: String) {
        self.init(.pkcs12([UInt8](pkcs12), passphrase: passphrase))
    }
}

/// Whether the peer's certificate passes: it leads to an authority that this system trusts, is valid now, and is for the
/// peer's name where one was given. `error` gets the reason where it does not.
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    guard let problem = trust.trust.problem else { return true }
    error?.pointee = NSError(
        domain: NSOSStatusErrorDomain, code: Int(errSecNotTrusted), userInfo: [NSLocalizedDescriptionKey: problem])
    return false
}

/// How many certificates the peer has sent.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { trust.trust.chain.count }

/// One of them, the peer's own first; nil: there are not so many.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ index: CFIndex) -> SecCertificate? {
    let (encoded, chain) = (trust.trust.encodedChain, trust.trust.chain)
    guard chain.indices.contains(index), encoded.indices.contains(index) else { return nil }
    return SecCertificate(encoded[index], chain[index])
}

/// All of them, the peer's own first: an array of `SecCertificate`.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    NSArray(array: (0..<SecTrustGetCertificateCount(trust)).compactMap { SecTrustGetCertificateAtIndex(trust, $0) })
}

/// A certificate in DER.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { NSData(data: Data(certificate.encoded)) }

/// Whom a certificate is for, in words.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    let parts = certificate.facts.subject.split(separator: ",")
    let name = parts.first { $0.hasPrefix("CN=") }.map { String($0.dropFirst(3)) }
    return NSString(string: name ?? certificate.facts.subject)
}

/// A certificate of its DER; nil: it is none.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    let bytes = [UInt8](data as Data)
    return TLSCertificate(encoded: bytes).map { SecCertificate(bytes, $0) }
}

/// The identity in a PKCS #12 container, under `kSecImportItemIdentity` of the first of `items`. A passphrase that is
/// wrong shows when TLS starts.
public func SecPKCS12Import(
    _ container: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    let passphrase = options.object(forKey: kSecImportExportPassphrase) as? String ?? ""
    let identity = SecIdentity(pkcs12: container as Data, passphrase: passphrase)
    items.pointee = NSArray(array: [[kSecImportItemIdentity: identity] as [String: Any]])
    return errSecSuccess
}

/// The key of the passphrase, for `SecPKCS12Import`.
public let kSecImportExportPassphrase = "passphrase"
/// The key of the identity, in what `SecPKCS12Import` found.
public let kSecImportItemIdentity = "identity"
/// Done.
public let errSecSuccess: OSStatus = 0
/// The certificate is not trusted.
public let errSecNotTrusted: OSStatus = -67843
