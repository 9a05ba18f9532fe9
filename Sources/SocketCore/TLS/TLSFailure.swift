/// Why TLS failed. The error's detail holds the sentence for the user, including OpenSSL's reason.
public enum TLSFailure: Hashable, Sendable {
    /// TCP ended without close_notify, so the stream may be truncated, or TCP ended during the handshake.
    case closedAbort
    /// The handshake took longer than its timeout.
    case handshakeTimeout
    /// The peer's certificate failed verification. Holds OpenSSL's verification code (`X509_V_ERR_...`) and its text.
    case untrusted(code: Int, text: String)
    /// The delegate or the user refused the peer's certificate.
    case refused
    /// The peer sent a fatal alert, with its number and name.
    case alert(UInt8, name: String)
    /// The TLS library failed for this reason.
    case library(reason: String)

    /// The closest of Secure Transport's codes, which GCDAsyncSocket reported.
    public var code: Int {
        switch self {
        case .closedAbort: -9806
        case .handshakeTimeout: -9853
        case .untrusted(let code, _): Self.securityCodes[code] ?? -9807
        case .refused: -9825
        case .alert: -9802
        case .library: -9800
        }
    }

    /// Codes for OpenSSL's verification codes: expired, not yet valid, self-signed, unknown authority, wrong name or
    /// address.
    private static let securityCodes = [
        10: -9814, 9: -9815, 18: -9812, 19: -9812, 2: -9813, 20: -9813, 21: -9813, 62: -9843, 64: -9843,
    ]
}

extension TLSFailure {
    /// Returns an alert's name from RFC 8446 section 6 or an older RFC.
    public static func alertName(_ number: UInt8) -> String { alertNames[number] ?? "alert \(number)" }

    private static let alertNames: [UInt8: String] = [
        0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed",
        22: "record_overflow", 30: "decompression_failure", 40: "handshake_failure", 41: "no_certificate",
        42: "bad_certificate", 43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired",
        46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied",
        50: "decode_error", 51: "decrypt_error", 60: "export_restriction", 70: "protocol_version",
        71: "insufficient_security", 80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled",
        100: "no_renegotiation", 109: "missing_extension", 110: "unsupported_extension",
        111: "certificate_unobtainable", 112: "unrecognized_name", 113: "bad_certificate_status_response",
        114: "bad_certificate_hash_value", 115: "unknown_psk_identity", 116: "certificate_required",
        120: "no_application_protocol",
    ]
}
