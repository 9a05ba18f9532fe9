import CSocketKitOpenSSL
import Glibc
import SocketCore

/// Descriptions of X.509 certificates. The pointers belong to OpenSSL.
enum TLSCertificates {
    /// Returns the peer's own certificate, then those that it sent with it, or an empty array if it sent none.
    static func chain(of ssl: OpaquePointer) -> [TLSCertificate] {
        guard let own = SSL_get0_peer_certificate(ssl) else { return [] }
        let others = SSL_get_peer_cert_chain(ssl)
        return describe(own, others)
    }

    /// Returns the chain that is being verified.
    static func chain(of store: OpaquePointer?) -> [TLSCertificate] {
        guard let own = X509_STORE_CTX_get0_cert(store) else { return [] }
        return describe(own, X509_STORE_CTX_get0_untrusted(store))
    }

    /// Returns the peer's certificates in DER, its own first, or an empty array if it sent none.
    static func encodedChain(of ssl: OpaquePointer) -> [[UInt8]] {
        guard let own = SSL_get0_peer_certificate(ssl) else { return [] }
        return list(own, SSL_get_peer_cert_chain(ssl)).map(encoded)
    }

    /// Returns the chain that is being verified, in DER.
    static func encodedChain(of store: OpaquePointer?) -> [[UInt8]] {
        guard let own = X509_STORE_CTX_get0_cert(store) else { return [] }
        return list(own, X509_STORE_CTX_get0_untrusted(store)).map(encoded)
    }

    private static func encoded(_ certificate: OpaquePointer) -> [UInt8] {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &encoded)
        guard count > 0, let encoded else { return [] }
        defer { CRYPTO_free(encoded, "", 0) }
        return Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
    }

    /// Returns the description of a certificate in DER, or `nil` if the bytes are not one.
    static func describe(encoded bytes: [UInt8]) -> TLSCertificate? {
        bytes.withUnsafeBufferPointer { buffer in
            var place = buffer.baseAddress
            guard let certificate = d2i_X509(nil, &place, buffer.count) else {
                ERR_clear_error()
                return nil
            }
            defer { X509_free(certificate) }
            return describe(certificate)
        }
    }

    /// The most certificates that are listed. No chain is that long.
    private static let limit = 16

    private static func describe(_ own: OpaquePointer, _ others: OpaquePointer?) -> [TLSCertificate] {
        list(own, others).map(describe)
    }

    private static func list(_ own: OpaquePointer, _ others: OpaquePointer?) -> [OpaquePointer] {
        var list = [own]
        for index in 0..<min(Self.limit, Int(co_chain_count(others))) {
            guard let certificate = co_chain_at(others, Int32(index)), X509_cmp(certificate, own) != 0 else { continue }
            list.append(certificate)
        }
        return list
    }

    static func describe(_ certificate: OpaquePointer) -> TLSCertificate {
        TLSCertificate(
            subject: name(X509_get_subject_name(certificate)), issuer: name(X509_get_issuer_name(certificate)),
            names: alternativeNames(certificate), notBefore: seconds(X509_get0_notBefore(certificate)),
            notAfter: seconds(X509_get0_notAfter(certificate)), fingerprint: fingerprint(certificate),
            publicKeyDigest: publicKeyDigest(certificate))
    }

    static func fingerprint(_ certificate: OpaquePointer) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard X509_digest(certificate, EVP_sha256(), &digest, &length) == 1 else { return [] }
        return Array(digest.prefix(Int(length)))
    }

    static func publicKeyDigest(_ certificate: OpaquePointer) -> [UInt8] {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded)
        guard count > 0, let encoded else { return [] }
        defer { CRYPTO_free(encoded, "", 0) }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard EVP_Digest(encoded, Int(count), &digest, &length, EVP_sha256(), nil) == 1 else { return [] }
        return Array(digest.prefix(Int(length)))
    }

    private static func name(_ name: OpaquePointer?) -> String {
        printed { X509_NAME_print_ex($0, name, 0, co_name_form) >= 0 }
    }

    /// Returns the alternative names, such as `DNS:example.org` and `IP Address:127.0.0.1`.
    private static func alternativeNames(_ certificate: OpaquePointer) -> [String] {
        let index = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)
        guard index >= 0, let names = X509_get_ext(certificate, index) else { return [] }
        let text = printed { X509V3_EXT_print($0, names, 0, 0) == 1 }
        return text.split(separator: ",").prefix(100).map { String($0.drop { $0 == " " }) }
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = tm()
        return ASN1_TIME_to_tm(time, &parts) == 1 ? Int64(timegm(&parts)) : 0
    }

    /// Returns the first 4 KiB of what OpenSSL prints.
    private static func printed(_ fill: (OpaquePointer) -> Bool) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(bio) }
        guard fill(bio) else { return "" }
        var start: UnsafeMutablePointer<CChar>?
        let count = co_memory(bio, &start)
        guard count > 0, let start else { return "" }
        let bytes = UnsafeRawBufferPointer(start: start, count: min(4_096, count))
        return String(decoding: bytes, as: UTF8.self)
    }
}
