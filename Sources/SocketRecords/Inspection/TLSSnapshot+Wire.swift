import SocketCore

// TLS on the wire: what both sides agreed on, and what certificates say. Keys and secrets are never included.

extension TLSSnapshot: WireMessage {
    package static var blank: TLSSnapshot { TLSSnapshot(role: .client, phase: .queued, asked: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &role)
        try coder.field(2, &phase)
        try coder.field(3, &asked)
        try coder.field(4, &began)
        try coder.field(5, &handshakeTime)
        try coder.field(6, &deadline)
        try coder.field(7, &version)
        try coder.field(8, &cipher)
        try coder.field(9, &group)
        try coder.field(10, &applicationProtocol)
        try coder.field(11, &serverName)
        try coder.field(12, &expectedName)
        try coder.field(13, &chain)
        try coder.field(14, &verification)
        try coder.field(15, &question)
        try coder.field(16, &isResumed)
        try coder.field(17, &plaintextReceived)
        try coder.field(18, &plaintextSent)
        try coder.field(19, &pendingWireBytes)
        try coder.field(20, &hasSentCloseNotify)
        try coder.field(21, &hasReceivedCloseNotify)
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
        try coder.field(1, &subject)
        try coder.field(2, &issuer)
        try coder.field(3, &names)
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
