import SocketCore
import SocketRecords

// Facts about a session that derive from others.

extension SocketSnapshot: Deriving {
    func derive(_ tell: inout FactTeller) {
        tell.always(
            "state", stateWord,
            "the TCP state as `ss` names it. `FIN-WAIT` if it is not known which of the two it is",
            after: "phase")
        tell(
            "peer_end", tell.end, "the other end, if it is on this host. Looked up for at most 128 connections",
            after: "activity")
        tell("ends", ends, "null unless it is a connection in a capture")
        tell("closed", closed, "how it ended")
    }
}

extension Watermarks: Deriving {
    func derive(_ tell: inout FactTeller) {
        tell.always("above_high", tell.socket?.isAboveHighMark ?? false, "whether the queue is above the high mark")
    }
}

extension FaultSnapshot.Rule: Deriving {
    func derive(_ tell: inout FactTeller) {
        tell.always("effect", effect.snakeCased, "what it does", after: "rule")
    }
}

extension OperationSnapshot: Deriving {
    func derive(_ tell: inout FactTeller) {
        let request: ReadRequest.Kind? = if case .read(let kind) = kind { kind } else { nil }
        let delimiter: [UInt8]? = if case .delimiter(let bytes, _) = request { bytes } else { nil }
        tell("limit_bytes", request?.values.limit, "how much it may read", after: "total_bytes")
        tell("delimiter", delimiter, "the bytes that end it", after: "limit_bytes")
    }
}

extension ConnectSnapshot.Attempt: Deriving {
    func derive(_ tell: inout FactTeller) {
        var number: Int32?
        if case .failed(let errno) = outcome { number = errno }
        tell("errno", number, "why it failed", after: "outcome")
        tell("error", number.map(ErrnoWords.name), "its name", after: "errno")
    }
}

extension KernelSnapshot: Deriving {
    func derive(_ tell: inout FactTeller) {
        let bits = deliveryRate.map { $0.multipliedReportingOverflow(by: 8).partialValue }
        tell("delivery_rate_bps", bits, "null until measured")
    }
}

extension CloseRecord: Deriving {
    /// Neither end of a captured connection is local, so it has neither an errno nor a mode.
    func derive(_ tell: inout FactTeller) {
        let isCaptured = tell.socket?.ends != nil
        var errno: Int32?
        if !isCaptured, case .system(let number) = error?.reason { errno = number }
        let local = error.map { Self.name($0.reason).snakeCased } ?? "local_close"
        tell.always(
            "reason", isCaptured ? CapturedWords.reason(self).rawValue : local,
            """
            `local_close`, or a case of `SocketError.Reason`. For a captured connection, named after the end that closed first: \
            `client_close`, `server_close`, `client_reset`, `server_reset`
            """, after: "time", kind: .words(Self.reasons))
        let sentence = isCaptured ? CapturedWords.ending(self) : CloseWords.sentence(self)
        tell.always("sentence", sentence, "the reason as a sentence", after: "reason")
        tell("errno", errno, "that of `system`", after: "sentence")
        tell("mode", isCaptured ? nil : mode, "how the local close was requested", after: "errno")
    }

    /// Returns the name of the case without its values: `system` for `system(errno: 111)`.
    private static func name(_ reason: SocketError.Reason) -> String {
        String("\(reason)".prefix { $0 != "(" })
    }

    private static let reasons = [
        "local_close", "client_close", "server_close", "client_reset", "server_reset", "bad_configuration",
        "bad_parameter", "connect_timeout", "read_timeout", "write_timeout", "send_timeout", "idle_timeout",
        "read_maxed_out", "closed_by_peer", "disconnected", "cancelled", "not_connected", "system", "resolver", "tls",
        "web_socket", "other",
    ]
}

extension TLSSnapshot: Deriving {
    func derive(_ tell: inout FactTeller) {
        tell(
            "verification", verification.map(Self.word), "the result of verifying the peer's certificate",
            after: "chain", kind: .words(Self.words))
        tell(
            "verification_problem", verification.flatMap(TLSWords.problem) ?? question?.problem,
            "what is wrong with the certificate", after: "verification")
    }

    private static let words = [
        "no_certificate", "verified", "pinned", "not_verified", "accepted_by_hand", "failed",
    ]

    private static func word(_ verification: TLSVerification) -> String {
        switch verification {
        case .none: words[0]
        case .passed: words[1]
        case .pinned: words[2]
        case .notRequired: words[3]
        case .acceptedByHand: words[4]
        case .failed: words[5]
        }
    }
}

extension TLSCertificate: Deriving {
    func derive(_ tell: inout FactTeller) {
        func instant(_ seconds: Int64) -> String { Format.instant(wallNanoseconds: seconds &* 1_000_000_000) }
        tell.always("not_before", instant(notBefore), "the beginning of its validity")
        tell.always("not_after", instant(notAfter), "the end of its validity")
        tell.always("sha256", TLSWords.hex(fingerprint), "its fingerprint")
        tell.always("key_sha256", TLSWords.hex(publicKeyDigest), "the fingerprint of its key")
    }
}

extension HostSnapshot: Deriving {
    func derive(_ tell: inout FactTeller) {
        tell(
            "evidence", evidence?.rawValue, "as in `warning`", after: "asks_for_s",
            kind: .words(Evidence.allCases.filter { $0 != .engine }.map(\.rawValue)))
        tell(
            "netns", namespace?.label,
            "its network namespace: its name in /run/netns, `own`, or the inode number; null if unknown",
            after: "container")
        tell("netns_inode", namespace?.inode, "the inode of its network namespace", after: "netns")
    }
}

// What is never on the wire, and told like a message.

extension CapturedEnds: WireMessage {
    package static var blank: CapturedEnds { CapturedEnds() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &local, "client", "its client; null if not on this host, or not seen")
        try coder.field(2, &peer, "server", "its server; null if not on this host, or not seen")
    }
}

extension CapturedEnds.End: WireMessage {
    package static var blank: CapturedEnds.End { CapturedEnds.End(host: HostSnapshot()) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &host, "host", "the socket")
        try coder.field(2, &kernel, "kernel", "the kernel's side of it")
        try coder.field(3, &descriptor, "fd", "its descriptor")
    }
}
