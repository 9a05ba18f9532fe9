/// One row for each kind of event. A new kind needs a case in `SocketEvent.Kind`, a row here, and the code that records
/// it. Recording an event does not use this table; only describing one does.
package enum EventCatalogue {
    /// Indexed by kind, because Traffic looks up the row of each event that it keeps.
    private static let rows: [EventRow] = {
        let kinds = SocketEvent.Kind.allCases
        precondition(kinds.indices.allSatisfy { kinds[$0].index == $0 }, "the cases are not numbered in order")
        return kinds.map(\.row)
    }()

    package static subscript(_ kind: SocketEvent.Kind) -> EventRow { rows[kind.index] }
}

extension SocketEvent.Kind {
    /// Swift numbers cases without a payload from 0, which `rows` checks. Hashing a kind would hash its string.
    fileprivate var index: Int { withUnsafeBytes(of: self) { $0.reversed().reduce(0) { $0 << 8 | Int($1) } } }
}

extension SocketEvent.Kind {
    fileprivate var row: EventRow {
        switch self {
        case .resolving: EventRow("resolving", detail: ["querying the resolver"])
        case .resolved:
            EventRow(
                "resolved", .beforeBytes, first: .count("addresses", "address", "addresses"), detail: ["\(.first)"],
                sentence: labelled)
        case .connectAttempt: EventRow("trying", first: .attempt, detail: ["\(.first)"])
        case .connectRefused:
            EventRow(
                "failed", word: "connect_failed", [.warning, .beforeBytes], first: .attempt, second: .errno,
                detail: ["\(.first): \(.second)"], sentence: ["connect: \(.detail)"])
        case .connected:
            EventRow(
                "connected", .beforeBytes, mark: .connect, detail: ["\(if: .roleIs(.accepted))from \(.peer)"],
                sentence: labelled)
        case .listening: EventRow("listening", detail: ["on \(.local)"], sentence: labelled)
        case .accepted:
            EventRow(
                "accepted", mark: .connect, first: .session("accepted_id"), detail: ["as \(.first)"],
                sentence: ["accepted \(.detail)"])
        case .acceptFailed:
            EventRow("accept failed", .warning, first: .errno, detail: ["\(.first)"], sentence: labelled)
        case .connectionRefused:
            EventRow(
                "conn refused", word: "connection_refused", detail: ["a waiting connection was refused with RST"],
                sentence: ["\(.detail)"])
        case .readQueued: EventRow("read queued", .tagged, first: .operation)
        case .readPartial: progress("read partial", mark: .read)
        case .readDone: bytes("read done", mark: .read)
        case .readFailed:
            EventRow(
                "read failed", [.tagged, .warning], mark: .failure, first: .bytes("done_bytes"),
                second: .total("total_bytes"), detail: ["after \(.first) of \(.positiveSecond) B", "after \(.first) B"])
        case .writeQueued: bytes("write queued")
        case .injected:
            EventRow(
                "injected", .tagged, first: .bytes("bytes"), detail: ["\(.first) B"],
                sentence: ["injected \(.first) B"])
        case .headRewritten:
            EventRow(
                "head rewritten", first: .bytes("bytes"), second: .bytes("sent_bytes"),
                detail: ["\(.first) B received, \(.second) B sent"],
                sentence: ["head rewritten for the server: \(.detail)"])
        case .urgentData:
            EventRow(
                "urgent data", .warning, detail: ["forwarded in line, as an ordinary byte"],
                sentence: ["urgent data \(.detail)"])
        case .tlsUpgraded:
            EventRow(
                "TLS inside", word: "tls_upgraded", .beforeBytes,
                first: .choice(UpgradedProtocol.allCases.map { EventChoice($0.name, ["inside": .word($0.rawValue)]) }),
                second: .bytes("client_bytes"), detail: ["\(.first) after \(.second) B from the client"],
                sentence: [
                    "TLS inside \(.detail): what follows is ciphertext",
                    "TLS inside another protocol: what follows is ciphertext",
                ])
        case .writePartial: progress("write partial", mark: .write)
        case .writeDone: bytes("write done", mark: .write)
        case .writeFailed:
            EventRow(
                "write failed", [.tagged, .warning], mark: .failure, first: .bytes("done_bytes"),
                second: .total("total_bytes"), detail: ["\(.first) of \(.second) B"])
        case .readTimedOut: timedOut("read timeout")
        case .writeTimedOut: timedOut("write timeout")
        case .timeoutExtended:
            EventRow(
                "extended", .tagged, first: .milliseconds("extended_by_s"), detail: ["by \(.first)"],
                sentence: ["extended \(.detail)"])
        case .timeoutChanged:
            EventRow(
                "timeout set", .tagged, first: .timeout("timeout_s"), detail: ["to \(.first)"],
                sentence: ["timeout changed \(.detail)"])
        case .readingPaused:
            EventRow(
                "paused", mark: .pause,
                sentence: ["\(if: .roleIs(.listener))accepting is paused", "reading paused"])
        case .readingResumed:
            EventRow(
                "resumed", mark: .pause, sentence: ["\(if: .roleIs(.listener))accepting resumed", "reading resumed"])
        case .readInterestOff: EventRow("reading off", detail: ["bytes are waiting, but no read is queued for them"])
        case .readInterestOn: EventRow("reading on", detail: ["a read can take bytes again"])
        case .writeBlocked:
            EventRow(
                "sndbuf full", first: .size("pending_bytes"),
                detail: ["the kernel accepts no more; \(.first) pending here"])
        case .writeUnblocked: EventRow("sndbuf room", detail: ["the kernel accepts bytes again"])
        case .aboveHighMark:
            EventRow(
                "above mark", first: .size("pending_bytes"), detail: ["\(.first) queued, above the high mark"],
                sentence: ["\(.detail)"])
        case .belowLowMark:
            EventRow(
                "below mark", first: .size("pending_bytes"),
                detail: ["\(.first) queued, at or below the low mark"], sentence: ["\(.detail)"])
        case .peerClosed:
            EventRow(
                "peer closed", mark: .end,
                first: .choice([
                    EventChoice("", ["unread_before": .flag(false), "both_sides": .flag(false)]),
                    EventChoice(
                        "bytes still unread", ["unread_before": .flag(true), "both_sides": .flag(false)]),
                    EventChoice(
                        "reset or closed both ways; bytes still unread",
                        ["unread_before": .flag(true), "both_sides": .flag(true)]),
                ]),
                detail: ["\(if: .firstIs(2))\(.first)", "its side (FIN); \(.first)", "its side (FIN)"],
                sentence: ["\(if: .firstIs(2))the peer is gone: \(.detail)", "peer closed \(.detail)"])
        case .halfClosed:
            EventRow(
                "half-closed", mark: .end,
                first: flag(
                    "discards_input", no: "we sent FIN, still reading", yes: "further input is discarded"),
                detail: ["\(.first)"],
                sentence: ["\(if: .firstIs(1))we sent FIN; \(.detail)", "\(.detail)", "we sent FIN"])
        case .closeRequested:
            EventRow(
                "close request", word: "close_requested",
                first: .choice(CloseMode.allCases.map { EventChoice($0.adverb, ["mode": .word($0.rawValue)]) }),
                detail: ["\(.first)"], sentence: ["close requested, \(.detail)", "close requested"])
        case .movedAway:
            EventRow("moved away", first: .session("other_id"), detail: ["as \(.first)"], sentence: labelled)
        case .movedHere:
            EventRow(
                "moved here", first: .session("other_id"), detail: ["was \(.first) of another engine"],
                sentence: labelled)
        case .tlsQueued:
            EventRow(
                "TLS requested", first: .count("reads_ahead", "read", "reads"),
                second: .count("writes_ahead", "write", "writes"),
                detail: [
                    "after \(.positiveFirst) and \(.positiveSecond)", "after \(.positiveFirst)",
                    "after \(.positiveSecond)",
                ],
                sentence: ["TLS requested, \(.detail)", "TLS requested"])
        case .tlsBegan:
            EventRow(
                "TLS begins", word: "tls_started", first: .size("read_ahead_bytes"),
                detail: ["with \(.positiveFirst) read ahead"],
                sentence: ["TLS handshake begins, \(.detail)", "TLS handshake begins"])
        case .trustAsked:
            EventRow(
                "cert pending", word: "trust_requested", .warning, first: .verifyCode,
                detail: ["\(.answer) answers: accept once, refuse"],
                sentence: ["the certificate awaits a decision; \(.detail)"])
        case .trustAnswered:
            EventRow(
                "cert verdict", first: flag("accepted", no: "refused", yes: "accepted"), detail: ["\(.first)"],
                sentence: ["the peer's certificate was \(.detail)", "\(.label)"])
        case .secured:
            EventRow(
                "secure", first: .microseconds("took_s"), second: flag("resumed", no: "", yes: "session resumed"),
                detail: ["after \(.first), \(.second)", "after \(.first)"], sentence: ["TLS established \(.detail)"])
        case .alertReceived:
            EventRow(
                "alert in", first: .alert, detail: ["\(.first)"], sentence: ["the peer sent TLS alert \(.detail)"])
        case .alertSent:
            EventRow("alert out", first: .alert, detail: ["\(.first)"], sentence: ["we sent TLS alert \(.detail)"])
        case .bound: EventRow("bound", detail: ["\(.local)"], sentence: labelled)
        case .datagramsReceived:
            EventRow("received", first: datagrams, second: .bytes("bytes"), detail: ["\(.first), \(.second) B"])
        case .datagramSent: bytes("sent")
        case .datagramFailed:
            EventRow(
                "not sent", [.tagged, .warning], first: .bytes("bytes"), second: .errno,
                detail: ["\(.first) B: \(.positiveSecond)", "\(.first) B"])
        case .datagramsDropped:
            EventRow(
                "dropped", .warning, first: datagrams,
                second: .choice([
                    EventChoice("by the receive filter", ["reason": .word("receive_filter")]),
                    EventChoice("not from the connected peer", ["reason": .word("foreign")]),
                    EventChoice("the backlog was full", ["reason": .word("backlog_full")]),
                    EventChoice("held back by the send filter", ["reason": .word("send_filter")]),
                ]),
                detail: ["\(.first), \(.second)", "\(.first)"], sentence: labelled)
        case .datagramsTruncated:
            EventRow("cut off", .warning, first: datagrams, detail: ["\(.first) longer than the limit"])
        case .datagramError:
            EventRow(
                "error", .warning, first: .errno, detail: ["for a datagram sent earlier: \(.first)"], sentence: labelled
            )
        case .copiesDiffer:
            EventRow(
                "copies differ", .warning, first: .bytes("bytes"),
                detail: ["\(.first) B retransmitted with different contents; the first copy is kept"],
                sentence: ["\(.detail)"])
        case .keepAlive:
            EventRow(
                "keep-alive",
                first: .choice([
                    EventChoice("from the client", ["by": .word("client")]),
                    EventChoice("from the server", ["by": .word("server")]),
                ]),
                detail: ["probe \(.first)"], sentence: ["keep-alive \(.detail)", "keep-alive"])
        case .groupJoined: EventRow("group joined", sentence: labelled)
        case .groupLeft: EventRow("group left", sentence: labelled)
        case .disconnected: EventRow("disconnected", word: "disconnected", sentence: labelled)
        case .faulted:
            EventRow(
                "fault", first: .rule("rule"), second: .offset("offset"),
                detail: ["rule \(.first) at byte \(.positiveSecond)", "rule \(.first)"], sentence: labelled)
        case .held:
            EventRow(
                "HELD", word: "held", .warning, first: .rule("breakpoint"), second: .size("held_bytes"),
                detail: ["by breakpoint \(.first), \(.positiveSecond) held", "by breakpoint \(.first)"],
                sentence: labelled)
        case .released:
            EventRow(
                "released", first: .rule("breakpoint"), second: .milliseconds("held_s"),
                detail: ["from breakpoint \(.first) after \(.second)"], sentence: labelled)
        case .closed: EventRow("closed", detail: ["\(.ending)"], sentence: labelled)
        }
    }

    // Rows that several kinds share, and parts of rows.

    private func bytes(_ label: String, mark: EventMark? = nil) -> EventRow {
        EventRow(label, .tagged, mark: mark, first: .bytes("bytes"), detail: ["\(.first) B"])
    }

    private func progress(_ label: String, mark: EventMark) -> EventRow {
        EventRow(
            label, .tagged, mark: mark, first: .bytes("bytes"), second: .bytes("done_bytes"),
            detail: ["+\(.first), \(.second) so far"])
    }

    private func timedOut(_ label: String) -> EventRow {
        EventRow(
            label, [.tagged, .warning], mark: .failure, first: .bytes("done_bytes"),
            second: .milliseconds("elapsed_s"), detail: ["after \(.second), \(.first) B so far"],
            sentence: [
                "timed out after \(.second); press \(.pendingAnswer) to extend, fail or close",
                "timed out after \(.second)",
            ])
    }

    private func flag(_ name: String, no: String, yes: String) -> EventNumber {
        .choice([EventChoice(no, [name: .flag(false)]), EventChoice(yes, [name: .flag(true)])])
    }

    private var labelled: [EventPhrase] { ["\(.label): \(.detail)", "\(.label)"] }

    private var datagrams: EventNumber { .count("datagrams", "datagram", "datagrams") }
}

extension CloseMode {
    fileprivate var adverb: String {
        switch self {
        case .now: "at once"
        case .afterReading: "after the queued reads"
        case .afterWriting: "after the queued writes"
        case .afterBoth: "after the queued reads and writes"
        case .reset: "with RST"
        }
    }
}
