import SocketCore

/// Sockets as JSON objects. Every name is always present, with null if the value is unknown or meaningless. Times are
/// wall-clock times (RFC 3339, UTC). A number with a unit has the unit in its name.
package struct SocketJSON {
    /// Converts the engine's instants to wall-clock times.
    package let clock: WallClock

    package init(clock: WallClock) { self.clock = clock }

    /// Returns everything known about a session. `end` is the other end of its connection, if that is on this host.
    package func members(_ socket: SocketSnapshot, end: PeerEnd? = nil) -> [JSON.Member] {
        guard case .object(let members) = value(socket, end) else { return [] }
        return members
    }

    private func value(_ socket: SocketSnapshot, _ end: PeerEnd?) -> JSON {
        let listens = socket.role == .listener
        let isOutside = socket.isFromOutside
        // The kernel counts bytes only for TCP.
        let isUncounted = socket.host.map { $0.tcp == nil } ?? false
        return [
            "id": JSON(socket.id.number), "role": JSON(word: socket.role.rawValue),
            "parent": JSON(socket.parent?.number), "linked": JSON(socket.linked?.number),
            "phase": JSON(word: socket.phase.rawValue), "state": JSON(socket.stateWord),
            "target": JSON(socket.target), "name": JSON(socket.name), "local": JSON(socket.local?.description),
            "peer": JSON(socket.peer?.description), "fd": JSON(socket.descriptor.map(Int.init)),
            "opened": socket.host != nil ? .null : time(socket.opened), "connected": time(socket.connected),
            "flags": flags(socket.flags),
            "reading_paused": .bool(socket.isReadingPaused), "held_back": .bool(socket.isHeldBack),
            "write_shut": .bool(socket.isWriteShut), "read": listens || isOutside ? .null : queue(socket.reading),
            "write": listens || isOutside ? .null : queue(socket.writing),
            "prebuffered_bytes": listens || isOutside ? .null : JSON(socket.prebuffered),
            "received_bytes": listens || isUncounted ? .null : JSON(socket.received),
            "sent_bytes": listens || isUncounted ? .null : JSON(socket.sent),
            "received_bytes_per_s": JSON(socket.receiveRate),
            "sent_bytes_per_s": JSON(socket.sendRate),
            "accepted": listens && !isOutside ? JSON(socket.accepted) : .null,
            "watermarks": watermarks(socket), "callbacks": socket.callbacks.map(callbacks) ?? .null,
            "activity": listens || isOutside ? .null : activity(socket.activity), "peer_end": end.map(peerEnd) ?? .null,
            "connect": socket.connect.map(connect) ?? .null, "kernel": socket.kernel.map(kernel) ?? .null,
            "tls": socket.tls.map(tls) ?? .null, "datagrams": socket.datagrams.map(datagrams) ?? .null,
            "websocket": socket.webSocket.map(webSocket) ?? .null, "relay": relay(socket),
            "fault": fault(socket),
            "host": socket.host.map(host) ?? .null, "ends": socket.ends.map(ends) ?? .null,
            "closed": socket.closed.map { closed($0, isCaptured: socket.ends != nil) } ?? .null,
        ]
    }

    /// Returns `2026-11-21T14:02:10.911204000Z`, or null before the clock is known.
    package func time(_ time: MonotonicTime?) -> JSON {
        JSON(time.flatMap { clock.wallNanoseconds($0) }.map(Format.instant))
    }

    private func flags(_ flags: SocketFlags) -> JSON {
        .array(SocketFlags.names.filter { flags.contains($0.flag) }.map { JSON($0.name) })
    }

    /// Returns a leg of a relayed connection, or null for other sockets.
    private func relay(_ socket: SocketSnapshot) -> JSON {
        guard let facts = socket.relay else { return .null }
        return [
            "lost_bytes": JSON(facts.lostBytes), "other_gone": .bool(facts.isOtherGone),
            "head_rewritten": .bool(facts.isHeadRewritten),
        ]
    }

    /// Returns the effects of faults and breakpoints on a connection, or null if none applies to it.
    private func fault(_ socket: SocketSnapshot) -> JSON {
        guard let fault = socket.fault else { return .null }
        let rules = fault.rules.map { rule -> JSON in
            [
                "rule": JSON(rule.number), "effect": JSON(word: rule.effect), "text": JSON(rule.text),
                "count": JSON(rule.count),
            ]
        }
        let hold: JSON =
            fault.hold.map { hold in
                [
                    "breakpoint": JSON(hold.breakpoint), "point": JSON(hold.text), "since": time(hold.since),
                    "upstream_bytes": JSON(hold.upstreamBytes), "downstream_bytes": JSON(hold.downstreamBytes),
                ]
            } ?? .null
        return [
            "rules": .array(rules), "delayed_bytes": JSON(fault.delayedBytes),
            "dropped_bytes": JSON(fault.droppedBytes), "limited_by_buffer": .bool(fault.isLimitedByBuffer),
            "held": hold,
        ]
    }

    private func queue(_ queue: QueueSnapshot) -> JSON {
        [
            "current": queue.current.map(operation) ?? .null, "queued": JSON(queue.pendingCount),
            // A queue that is counted but not listed is unknown, not empty.
            "queued_head": queue.pending.isEmpty && queue.pendingCount > 0
                ? .null : .array(queue.pending.map(operation)),
            "pending_bytes": JSON(queue.pendingBytes), "completed": JSON(queue.completed),
            "tls_barrier": JSON(queue.barrier), "since": time(queue.since),
        ]
    }

    private func tls(_ tls: TLSSnapshot) -> JSON {
        [
            "role": JSON(word: tls.role.rawValue),
            "phase": tls.phase == .asking ? "awaiting_verdict" : JSON(word: tls.phase.rawValue),
            "requested": time(tls.asked), "started": time(tls.began), "deadline": time(tls.deadline),
            "handshake_s": JSON(seconds: tls.handshakeTime), "version": JSON(tls.version), "cipher": JSON(tls.cipher),
            "group": JSON(tls.group), "alpn": JSON(tls.applicationProtocol), "server_name": JSON(tls.serverName),
            "expected_name": JSON(tls.expectedName), "chain": .array(tls.chain.map(certificate)),
            "verification": JSON(tls.verification.map(Self.word)),
            "verification_problem": JSON(tls.verification.flatMap(TLSWords.problem) ?? tls.question?.problem),
            "resumed": .bool(tls.isResumed), "plaintext_received_bytes": JSON(tls.plaintextReceived),
            "plaintext_sent_bytes": JSON(tls.plaintextSent), "pending_wire_bytes": JSON(tls.pendingWireBytes),
            "close_notify_sent": .bool(tls.hasSentCloseNotify),
            "close_notify_received": .bool(tls.hasReceivedCloseNotify),
        ]
    }

    private func certificate(_ certificate: TLSCertificate) -> JSON {
        [
            "subject": JSON(certificate.subject), "issuer": JSON(certificate.issuer),
            "names": .array(certificate.names.map { JSON($0) }),
            "not_before": JSON(Format.instant(wallNanoseconds: certificate.notBefore &* 1_000_000_000)),
            "not_after": JSON(Format.instant(wallNanoseconds: certificate.notAfter &* 1_000_000_000)),
            "sha256": JSON(TLSWords.hex(certificate.fingerprint)),
            "key_sha256": JSON(TLSWords.hex(certificate.publicKeyDigest)),
        ]
    }

    /// Returns the result of verifying the peer's certificate.
    private static func word(_ verification: TLSVerification) -> String {
        switch verification {
        case .none: "no_certificate"
        case .passed: "verified"
        case .pinned: "pinned"
        case .notRequired: "not_verified"
        case .acceptedByHand: "accepted_by_hand"
        case .failed: "failed"
        }
    }

    private func operation(_ operation: OperationSnapshot) -> JSON {
        let request: ReadRequest.Kind? = if case .read(let kind) = operation.kind { kind } else { nil }
        let delimiter: [UInt8]? = if case .delimiter(let bytes, _) = request { bytes } else { nil }
        return [
            "operation": JSON(operation.id.number), "kind": JSON(operation.kind.name), "tag": JSON(operation.tag),
            "done_bytes": JSON(operation.done), "total_bytes": JSON(operation.total),
            "limit_bytes": JSON(request?.values.limit), "delimiter": delimiter.map { JSON(bytes: $0) } ?? .null,
            "standing": .bool(operation.isStanding), "awaiting_verdict": .bool(operation.isAsking),
            "timeout_s": JSON(seconds: operation.timeout), "started": time(operation.started),
            "deadline": time(operation.deadline), "last_progress": time(operation.lastProgress),
            "preview": JSON(bytes: operation.preview),
        ]
    }

    private func connect(_ connect: ConnectSnapshot) -> JSON {
        [
            "resolved_in_s": JSON(seconds: connect.resolvedIn), "deadline": time(connect.deadline),
            "addresses": JSON(connect.addressCount),
            "attempts": .array(
                connect.attempts.map { attempt in
                    let (outcome, errno) = words(attempt.outcome)
                    return [
                        "address": JSON(attempt.address.description), "outcome": JSON(outcome),
                        "errno": JSON(errno.map(Int.init)), "error": JSON(errno.map(ErrnoWords.name)),
                        "took_s": JSON(seconds: attempt.duration),
                    ]
                }),
        ]
    }

    private func words(_ outcome: ConnectSnapshot.Attempt.Outcome) -> (String, Int32?) {
        switch outcome {
        case .trying: ("trying", nil)
        case .failed(let errno): ("failed", errno)
        case .won: ("connected", nil)
        case .abandoned: ("abandoned", nil)
        }
    }

    /// Neither end of a captured connection is local, so it has neither an errno nor a mode.
    private func closed(_ record: CloseRecord, isCaptured: Bool) -> JSON {
        var errno: Int32?
        if !isCaptured, case .system(let number) = record.error?.reason { errno = number }
        let local = record.error.map { JSON(word: Self.name($0.reason)) } ?? "local_close"
        return [
            "time": time(record.time),
            "reason": isCaptured ? JSON(CapturedWords.reason(record).rawValue) : local,
            "sentence": JSON(isCaptured ? CapturedWords.ending(record) : CloseWords.sentence(record)),
            "errno": JSON(errno.map(Int.init)),
            "mode": isCaptured ? .null : record.mode.map { JSON(word: $0.rawValue) } ?? .null,
            "reads_lost": JSON(record.readsLost), "writes_lost": JSON(record.writesLost),
            "unread_bytes": JSON(record.unreadBytes),
        ]
    }

    /// Returns the name of the case without its values: `system` for `system(errno: 111)`.
    private static func name(_ reason: SocketError.Reason) -> String {
        String("\(reason)".prefix { $0 != "(" })
    }
}
