import SocketCore

extension TLSCertificate {
    /// Reads a certificate in DER. Returns `nil` if the bytes aren't one.
    public init?(encoded bytes: [UInt8]) {
        guard let certificate = TLSCertificates.describe(encoded: bytes) else { return nil }
        self = certificate
    }
}
