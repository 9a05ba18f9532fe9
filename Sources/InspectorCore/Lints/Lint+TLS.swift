import SocketCore

/// TLS that is not established, and TLS whose peer was not verified.
extension Lint {
    static let tls: [Lint] = [
        Lint(
            "tls-behind", after: .seconds(1),
            "startTLS has waited for %time for operations that were queued before it",
            remedy: "they must finish unencrypted first: see what they wait for, or cancel them", waiting),
        Lint(
            "tls-one-sided", after: .seconds(5),
            "one queue has reached startTLS, and the other has not moved for %time",
            remedy: "the handshake begins when both reach it: cancel or complete what the other queue waits for",
            oneSided),
        Lint(
            "tls-stall", after: .seconds(5), "the TLS handshake has taken %time",
            remedy: "check that the peer speaks TLS on this port, at this point of the protocol", stall),
        Lint(
            "cert-unverified", "traffic is encrypted but the peer is not verified",
            remedy: "trust the CA that signed the certificate (--ca), and set the expected name (--sni)",
            unverified),
    ]

    private static func waiting(_ it: Situation, _ after: Duration) -> Verdict? {
        let (socket, now) = (it.socket, it.now)
        guard let tls = socket.tls, tls.phase == .queued, socket.phase == .connected, now - tls.asked > after
        else { return nil }
        let words = [("read", socket.reading), ("write", socket.writing)].compactMap(ahead)
        return words.isEmpty
            ? nil : Verdict("startTLS waits for \(words.joined(separator: " and "))", lasting: now - tls.asked)
    }

    /// Returns `read t42, t43 (+2)`: the operations before the barrier.
    private static func ahead(_ noun: String, _ queue: QueueSnapshot) -> String? {
        guard let count = queue.barrier, count > 0 else { return nil }
        let operations = ((queue.current.map { [$0] } ?? []) + queue.pending).prefix(min(2, count))
        let tags = operations.map { "t\($0.tag)" }.joined(separator: ", ")
        return "\(noun) \(tags)" + (count > operations.count ? " (+\(count - operations.count))" : "")
    }

    private static func oneSided(_ it: Situation, _ after: Duration) -> Verdict? {
        let (socket, now) = (it.socket, it.now)
        guard let tls = socket.tls, tls.phase == .queued, socket.phase == .connected else { return nil }
        let (reads, writes) = (socket.reading.barrier ?? 0, socket.writing.barrier ?? 0)
        guard (reads == 0) != (writes == 0) else { return nil }
        let queue = reads == 0 ? socket.writing : socket.reading
        let moved = max(tls.asked, queue.current?.lastProgress ?? queue.current?.started ?? tls.asked)
        guard now - moved > after, let words = ahead(reads == 0 ? "write" : "read", queue) else { return nil }
        let side = reads == 0 ? "the read queue" : "the write queue"
        return "\(side) has reached startTLS; \(words) has not moved for \(Format.duration(now - moved))"
    }

    private static func stall(_ it: Situation, _ after: Duration) -> Verdict? {
        let (socket, now) = (it.socket, it.now)
        guard let tls = socket.tls, tls.phase == .handshaking, let began = tls.began, now - began > after else {
            return nil
        }
        let heard = socket.received == 0 ? "; the peer has not sent a byte" : ""
        return "the TLS handshake has taken \(Format.duration(now - began))\(heard)"
    }

    private static func unverified(_ it: Situation, _ after: Duration) -> Verdict? {
        let socket = it.socket
        guard let tls = socket.tls, tls.phase == .secure, tls.role == .client, let verification = tls.verification
        else {
            return nil
        }
        switch verification {
        case .none: return "the peer has sent no certificate"
        case .notRequired(_, let text): return "the peer's certificate is not verified: \(text)"
        case .acceptedByHand(let text?): return "the peer's certificate was accepted manually: \(text)"
        case .passed where tls.expectedName == nil: return "the peer's certificate is valid; its name was not checked"
        case .passed, .pinned, .acceptedByHand, .failed: return nil
        }
    }
}
