import InspectorCore
import SocketCore

/// TLS in the detail: the negotiated parameters, the peer's certificate and its verification, and the byte counts.
extension DetailBuilder {
    var tlsBlock: [Row] {
        guard let tls = socket.tls else { return [] }
        var rows = [
            rule("tls \(TLSWords.phase(tls.phase))", right: tls.question == nil ? "" : model.naming("{answer} answers"))
        ]
        rows += wrapped(agreed(tls), separator: "   ")
        rows += wrapped([verdict(tls)] + problem(tls), separator: " ")
        rows += wrapped(amounts(tls), separator: "   ")
        for (index, certificate) in tls.chain.enumerated() { rows += describe(certificate, index) }
        return rows
    }

    private func word(_ name: String, _ value: String, _ role: Role = .plain) -> Line {
        var line = Line(name + " ", Style(.dim))
        line.append(safe(value, role))
        return line
    }

    private func agreed(_ tls: TLSSnapshot) -> [Line] {
        var words = [Line(tls.role == .client ? "client" : "server")]
        if let version = tls.version { words.append(safe(version)) }
        if let cipher = tls.cipher { words.append(safe(cipher)) }
        if tls.phase == .secure || tls.group != nil { words.append(word("group", tls.group ?? "-")) }
        words.append(word("alpn", tls.applicationProtocol ?? "-"))
        words.append(word("sni", tls.serverName ?? "-"))
        if let time = tls.handshakeTime {
            words.append(word("handshake", Format.duration(time) + (tls.isResumed ? ", resumed" : "")))
        } else if let began = tls.began, tls.phase == .handshaking || tls.phase == .asking {
            words.append(word("handshake since", Format.duration(model.now - began)))
        }
        return words
    }

    private func verdict(_ tls: TLSSnapshot) -> Line {
        let name = tls.expectedName.map { " for \($0)" } ?? ""
        switch tls.verification {
        case nil where tls.question != nil: return Line("NOT TRUSTED\(name):", Style(.warn, [.bold]))
        case nil: return Line("no certificate yet", Style(.dim))
        case .some(.none): return Line("the peer sent no certificate", Style(tls.role == .client ? .warn : .dim))
        case .passed where tls.expectedName == nil && tls.role == .client:
            return Line("verified, name not checked", Style(.warn))
        case .passed: return safe("verified\(name)", .lit)
        case .pinned: return Line("verified: pinned", Style(.lit))
        case .notRequired: return Line("NOT VERIFIED:", Style(.warn, [.bold]))
        case .acceptedByHand(nil): return Line("accepted manually; it was valid", Style(.lit))
        case .acceptedByHand: return Line("ACCEPTED BY HAND:", Style(.warn, [.bold]))
        case .failed: return safe("REFUSED\(name):", .error)
        }
    }

    private func problem(_ tls: TLSSnapshot) -> [Line] {
        let text = tls.verification.flatMap(TLSWords.problem) ?? tls.question?.problem ?? ""
        return text.split(separator: " ").map { safe(String($0), .warn) }
    }

    private func amounts(_ tls: TLSSnapshot) -> [Line] {
        guard tls.phase == .secure else { return [] }
        var words = [
            word("plaintext rx", Format.size(tls.plaintextReceived), .received),
            word("tx", Format.size(tls.plaintextSent), .sent),
            word("wire rx", Format.size(socket.received), .received), word("tx", Format.size(socket.sent), .sent),
        ]
        if tls.pendingWireBytes > 0 { words.append(word("encrypted here", Format.size(tls.pendingWireBytes), .sent)) }
        if tls.hasSentCloseNotify { words.append(Line("close_notify sent", Style(.dim))) }
        if tls.hasReceivedCloseNotify { words.append(Line("close_notify received", Style(.dim))) }
        return words
    }

    private func describe(_ certificate: TLSCertificate, _ index: Int) -> [Row] {
        let number = Format.padded(String(index), to: 3, right: true) + " "
        var first = Line(number, Style(.dim))
        first.append(safe(certificate.subject))
        let dates = dates(certificate)
        let isOneRow = first.width + dates.width + 2 <= width
        var rows = wrapped([first], separator: "", indent: 0)
        if isOneRow {
            rows[0].right = dates
        } else {
            rows += wrapped([dates], separator: "", indent: Self.certificateIndent)
        }
        var parts = [word("by", certificate.issuer == certificate.subject ? "itself" : certificate.issuer)]
        parts += certificate.names.prefix(8).map { safe($0, .dim) }
        if certificate.names.count > 8 { parts.append(Line("+\(certificate.names.count - 8)", Style(.dim))) }
        rows += wrapped(parts, separator: "  ", indent: Self.certificateIndent)
        let room = width - 1 - Self.certificateIndent
        for line in TLSWords.fingerprint(certificate.fingerprint, room: room) {
            rows.append(Row(left: Line(String(repeating: " ", count: Self.certificateIndent) + line, Style(.dim))))
        }
        return rows
    }

    /// Returns the dates of validity, in red if the certificate is not valid today.
    private func dates(_ certificate: TLSCertificate) -> Line {
        let text = "\(day(certificate.notBefore)) to \(day(certificate.notAfter))"
        guard let now = model.shownClock.wallNanoseconds(model.now).map({ $0 / 1_000_000_000 }) else {
            return Line(text, Style(.dim))
        }
        let isValid = (certificate.notBefore...max(certificate.notBefore, certificate.notAfter)).contains(now)
        return Line(text, Style(isValid ? .dim : .error))
    }

    private func day(_ seconds: Int64) -> String {
        String(Format.instant(wallNanoseconds: seconds &* 1_000_000_000).prefix(10))
    }

    /// The indent of a certificate's facts below its name.
    private static let certificateIndent = 4
}
