import CSocketKitOpenSSL
import SocketCore

/// This side's certificate and key, from files or from memory.
extension TLSContext {
    static func setIdentity(_ context: OpaquePointer, _ settings: TLSSettings) throws(SocketError) {
        guard let identity = settings.identity else { return }
        switch identity.memory {
        case nil: try setIdentity(context, certificate: identity.certificateFile, key: identity.keyFile)
        case .pem(let certificates, let key): try setIdentity(context, certificates: certificates, key: key)
        case .pkcs12(let bytes, let passphrase): try setIdentity(context, container: bytes, passphrase)
        }
        ERR_clear_error()
    }

    private static func setIdentity(
        _ context: OpaquePointer, certificate: String, key: String
    ) throws(SocketError) {
        if let problem = TLSFiles.problem(certificate) { throw refused("certificate \(certificate): \(problem)") }
        if let problem = TLSFiles.problem(key) { throw refused("key \(key): \(problem)") }
        guard certificate.withNative({ SSL_CTX_use_certificate_chain_file(context, $0) }) == 1 else {
            throw refused("certificate \(certificate): \(TLSReasons.file(certificate, holding: "certificate"))")
        }
        guard key.withNative({ SSL_CTX_use_PrivateKey_file(context, $0, SSL_FILETYPE_PEM) }) == 1 else {
            throw refused("key \(key): \(TLSReasons.file(key, holding: "private key", of: certificate))")
        }
        guard SSL_CTX_check_private_key(context) == 1 else {
            throw refused("key \(key): is not the key of certificate \(certificate)")
        }
    }

    private static func setIdentity(
        _ context: OpaquePointer, certificates: [UInt8], key: [UInt8]
    ) throws(SocketError) {
        guard co_ctx_use_pem_chain(context, certificates, Int32(clamping: certificates.count)) == 1 else {
            throw refused("identity: no certificate in PEM: \(TLSReasons.take())")
        }
        guard co_ctx_use_pem_key(context, key, Int32(clamping: key.count), TLSCallbacks.password) == 1 else {
            throw refused("identity: no private key in PEM, or not that of the certificate: \(TLSReasons.take())")
        }
        guard SSL_CTX_check_private_key(context) == 1 else {
            throw refused("identity: the key is not that of the certificate")
        }
    }

    private static func setIdentity(
        _ context: OpaquePointer, container bytes: [UInt8], _ passphrase: String
    ) throws(SocketError) {
        switch co_ctx_use_pkcs12(context, bytes, Int32(clamping: bytes.count), passphrase) {
        case 1: return
        case -1: throw refused("identity: not a PKCS #12 container: \(TLSReasons.take())")
        case -2:
            throw refused(
                "identity: PKCS #12: a wrong passphrase, or a cipher that OpenSSL lacks: \(TLSReasons.take())")
        case -3: throw refused("identity: PKCS #12: a certificate or its key is missing")
        default: throw refused("identity: PKCS #12: \(TLSReasons.take())")
        }
    }
}
