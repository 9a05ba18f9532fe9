import SocketCore

extension TLSCertificate {
    /// Creates a certificate from its DER bytes. Returns `nil` if they aren't one.
    public init?(encoded bytes: [UInt8]) {
        guard let certificate = TLSCertificates.describe(encoded: bytes) else { return nil }
        self = certificate
    }
}
