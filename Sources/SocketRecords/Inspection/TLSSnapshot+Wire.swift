import SocketCore

// TLS on the wire: what both sides agreed on, and what certificates say. Keys and secrets are never included.

extension TLSSnapshot: WireMessage {
    package static var blank: TLSSnapshot { TLSSnapshot(role: .client, phase: .queued, asked: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &role, "role", "which side it is")
        try coder.field(2, &phase, "phase", "its stage; `awaiting_verdict` if the certificate needs an answer")
        try coder.field(3, &asked, "requested", "when startTLS was called")
        try coder.field(4, &began, "started", "when the handshake began")
        try coder.field(5, &handshakeTime, "handshake_s", "how long it took")
        try coder.field(6, &deadline, "deadline", "when it times out", after: "started")
        try coder.field(7, &version, "version", "the protocol's version")
        try coder.field(8, &cipher, "cipher", "the cipher suite")
        try coder.field(9, &group, "group", "the group of the key exchange")
        try coder.field(10, &applicationProtocol, "alpn", "the agreed protocol")
        try coder.field(11, &serverName, "server_name", "SNI")
        try coder.field(12, &expectedName, "expected_name", "the name that the certificate must have")
        try coder.field(13, &chain, "chain", "the peer's certificates")
        try coder.field(14, &verification)
        try coder.field(15, &question)
        try coder.field(16, &isResumed, "resumed", "whether an earlier session was resumed")
        try coder.field(17, &plaintextReceived, "plaintext_received_bytes", "without TLS")
        try coder.field(18, &plaintextSent, "plaintext_sent_bytes", "without TLS")
        try coder.field(19, &pendingWireBytes, "pending_wire_bytes", "encrypted, but not yet handed to the kernel")
        try coder.field(20, &hasSentCloseNotify, "close_notify_sent", "whether it was")
        try coder.field(21, &hasReceivedCloseNotify, "close_notify_received", "whether it was")
    }
}

extension TLSSettings.Role: WireWord {}
extension TLSSnapshot.Phase: WireWord {}

extension TLSCertificate: WireMessage {
    package static var blank: TLSCertificate {
        TLSCertificate(
            subject: "", issuer: "", names: [], notBefore: 0, notAfter: 0, fingerprint: [], publicKeyDigest: [])
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &subject, "subject", "its subject")
        try coder.field(2, &issuer, "issuer", "its issuer")
        try coder.field(3, &names, "names", "the names it is valid for")
        try coder.field(4, &notBefore)
        try coder.field(5, &notAfter)
        try coder.field(6, &fingerprint)
        try coder.field(7, &publicKeyDigest)
    }
}

extension TLSTrust: WireMessage {
    package static var blank: TLSTrust {
        TLSTrust(question: OperationID(0), chain: [], expectedName: nil, code: 0, problem: nil)
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &question)
        try coder.field(2, &chain)
        try coder.field(3, &expectedName)
        try coder.field(4, &code)
        try coder.field(5, &problem)
    }
}

extension TLSVerification: WireAlias {
    package var written: WireVariant {
        switch self {
        case .none: WireVariant("none")
        case .passed: WireVariant("passed")
        case .pinned: WireVariant("pinned")
        case .notRequired(let code, let text): WireVariant("notRequired", number: code, text: text)
        case .acceptedByHand(let text): WireVariant("acceptedByHand", limit: text.map { _ in 1 }, text: text ?? "")
        case .failed(let code, let text): WireVariant("failed", number: code, text: text)
        }
    }

    package init(written: WireVariant) throws(WireError) {
        switch written.word {
        case "none": self = .none
        case "passed": self = .passed
        case "pinned": self = .pinned
        case "notRequired": self = .notRequired(code: written.count, text: written.text)
        case "acceptedByHand": self = .acceptedByHand(written.limit.map { _ in written.text })
        case "failed": self = .failed(code: written.count, text: written.text)
        default: throw .unknown
        }
    }
}

extension TLSFailure {
    var written: WireVariant {
        switch self {
        case .closedAbort: WireVariant("tls.closedAbort")
        case .handshakeTimeout: WireVariant("tls.handshakeTimeout")
        case .untrusted(let code, let text): WireVariant("tls.untrusted", number: code, text: text)
        case .refused: WireVariant("tls.refused")
        case .alert(let number, let name): WireVariant("tls.alert", number: Int(number), text: name)
        case .library(let reason): WireVariant("tls.library", text: reason)
        }
    }

    /// Returns `nil` for a failure that this version doesn't know.
    init?(written: WireVariant) {
        switch written.word {
        case "tls.closedAbort": self = .closedAbort
        case "tls.handshakeTimeout": self = .handshakeTimeout
        case "tls.untrusted": self = .untrusted(code: written.count, text: written.text)
        case "tls.refused": self = .refused
        case "tls.alert": self = .alert(UInt8(clamping: written.number), name: written.text)
        case "tls.library": self = .library(reason: written.text)
        default: return nil
        }
    }
}
