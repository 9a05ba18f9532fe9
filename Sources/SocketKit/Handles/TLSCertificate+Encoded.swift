import SocketCore

extension TLSCertificate {
    /// A certificate in DER; nil: the bytes are not one.
    public init?(encoded bytes: [UInt8]) {
        guard let certificate = TLSCertificates.describe(encoded: bytes) else { return nil }
        self = certificate
    }
}
