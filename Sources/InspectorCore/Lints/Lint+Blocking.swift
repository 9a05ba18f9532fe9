import SocketCore

/// One end does not read, and another waits for it. Only the cause is reported, not its consequences.
extension Lint {
    static let deadlock = Lint(
        "deadlock", as: .critical, after: .seconds(5),
        "both ends of a connection have been writing for %time, and neither reads",
        remedy: "one of them must read while it writes; until then, only closing ({close}) helps",
        findDeadlock, host: { $0.deadlocks($1) }
    ).following([], isMutual: true)

    static let writeBlocked = Lint(
        "write-blocked", after: .seconds(5),
        "the peer has not read for %time, and a write waits for it with the kernel's send buffer full",
        remedy: "find out why the peer does not read; wait for it, or close ({close})",
        findWriteBlocked, host: { $0.chains([.unasked, .stopped], $1) }
    ).following(
        [deadlock], far: [deadlock, writeOrphaned, readStarved, endUnseen, prebufferHeld], isMutual: true
    ).gathered()

    static let writeOrphaned = Lint(
        "write-orphaned", after: .seconds(5),
        "write-blocked on a relay leg whose other leg is gone: the sender never learns what happens to the bytes",
        remedy: "close it ({close}) if the peer does not read: no sender is waiting for these bytes to arrive",
        findWriteOrphaned)

    static let blocking: [Lint] = [
        deadlock, writeBlocked, writeOrphaned,
        Lint(
            "reset-cause", "the peer closed with bytes unread, which causes a reset",
            remedy: "find out why the peer closed before reading to the end; bytes in flight are lost",
            resetCause, host: { rules, _ in rules.resets }
        ).gathered().evenWhereClosed(),
    ]

    /// How long a reset stays recent. Older ones are a note.
    private static let news = Duration.seconds(60)

    private static func findDeadlock(_ it: Situation, _ after: Duration) -> Verdict? {
        it.leg.map { relayedDeadlock(it, $0, after) } ?? ownDeadlock(it, after)
    }

    /// Finds a relayed connection with both directions stalled and bytes queued. It is reported for the client's leg.
    private static func relayedDeadlock(_ it: Situation, _ leg: Side, _ after: Duration) -> Verdict? {
        guard it.socket.role == .accepted, let here = it.side.blocked(it.now), let there = leg.blocked(it.now),
            case let lasting = min(here, there), lasting >= after, !it.side.hasReadAll, !leg.hasReadAll,
            it.side.end?.program?.isStopped != true, leg.end?.program?.isStopped != true
        else { return nil }
        let unread = [it.side, leg].map { $0.end?.unread.map { Format.size($0) } ?? "-" }
        var verdict = Verdict(
            "\(it.side.reader) and \(leg.reader) are both writing, and neither reads, for \(Format.duration(lasting)); "
                + "unread there: \(unread[0]) and \(unread[1])", lasting: lasting
        ).blaming(leg)
        verdict.subject = "\(it.side.reader) and \(leg.reader)"
        verdict.others = [leg.socket.id]
        return verdict
    }

    /// Finds one of our own connections of which neither end reads, with bytes queued at both.
    private static func ownDeadlock(_ it: Situation, _ after: Duration) -> Verdict? {
        // For a Unix-domain socket, the kernel's send queue counts memory, and is stalled while we have unread bytes.
        guard it.socket.linked == nil, it.socket.peer?.family.isIP != false, let end = it.side.end,
            end.program?.isStopped != true, end.unread ?? 0 > 0, end.unsent ?? 0 > 0,
            let out = it.side.blocked(it.now), let since = unreadSince(it.socket), it.socket.unreadBytes > 0,
            case let lasting = min(out, it.now - since), lasting >= after
        else { return nil }
        return Verdict(
            "this end and \(it.side.reader) are both writing, and neither reads, for \(Format.duration(lasting)); unread "
                + "here \(Format.size(it.socket.unreadBytes)), there \(Format.size(end.unread ?? 0))",
            lasting: lasting
        ).blaming(it.side)
    }

    private static func findWriteBlocked(_ it: Situation, _ after: Duration) -> Verdict? {
        guard it.socket.relay?.isOtherGone != true else { return nil }
        return blocked(it, after)
    }

    private static func findWriteOrphaned(_ it: Situation, _ after: Duration) -> Verdict? {
        guard let linked = it.socket.linked, it.socket.relay?.isOtherGone == true, var verdict = blocked(it, after)
        else { return nil }
        verdict.sentence += "; \(linked), which they came from, is gone"
        return verdict
    }

    /// Reports the reader first, then what waits for it.
    private static func blocked(_ it: Situation, _ after: Duration) -> Verdict? {
        guard let lasting = it.side.blocked(it.now), lasting >= after else { return nil }
        let time = Format.duration(lasting)
        // Including those that the kernel accepted but has not sent.
        let unsent = it.socket.writing.pendingBytes.saturatingAdd(it.socket.kernel?.notSent ?? 0)
        let waits = "\(Format.size(unsent)) are unsent here"
        if it.side.hasReadAll {
            var verdict = Verdict(
                "nothing was sent for \(time), although \(it.side.reader) has read everything it received; \(waits)",
                lasting: lasting)
            // The network between them is at fault, not a program.
            verdict.subject = it.socket.peerText
            return verdict
        }
        let unread = it.side.unreadThere.map { "\($0), " } ?? ""
        var verdict = Verdict(
            "\(it.side.reader) \(refusal(it)) for \(time): \(unread)\(waits)\(waiter(it))", lasting: lasting
        ).blaming(it.side)
        // A user is debugging it.
        if it.side.end?.program?.isStopped == true {
            verdict.severity = .note
            verdict.sentence = "\(it.side.reader) is stopped and has not read for \(time): \(unread)\(waits)"
        }
        return verdict
    }

    /// Says why the peer accepts no bytes. Bytes in flight wait for an acknowledgment. Without any, the peer's window
    /// is closed. If the reader is on this host, its own kernel queue shows that it does not read.
    private static func refusal(_ it: Situation) -> String {
        let socket = it.socket
        guard it.side.end?.unread ?? 0 == 0, socket.peer?.family.isIP != false, let all = socket.kernel?.sendQueue,
            let waiting = socket.kernel?.notSent,
            all > waiting
        else { return "has not read" }
        return "has not acknowledged anything"
    }

    /// Names the program on the other side of a relay that waits because of it.
    private static func waiter(_ it: Situation) -> String {
        guard let leg = it.leg, leg.socket.peer?.family.isIP != false, leg.socket.isHeldBack,
            let unsent = leg.end?.unsent, unsent > 0
        else { return "" }
        return "; \(leg.reader) waits to send \(Format.size(unsent)) more"
    }

    private static func resetCause(_ it: Situation, _ after: Duration) -> Verdict? {
        guard let closed = it.socket.closed, let look = it.side.stall.unreadThere,
            closed.time - look.time < StalledLedger.lookIsFresh, let unread = look.end.unread, unread > 0,
            case .system(let errno)? = closed.error?.reason, Self.resets.contains(errno)
        else { return nil }
        var side = it.side
        side.end = look.end
        var verdict = Verdict("\(side.reader) closed with \(Format.size(unread)) unread, which causes a reset")
            .blaming(side)
        // A program that has ended has no threads to inspect.
        verdict.next = nil
        if it.now - closed.time > news { verdict.severity = .note }
        return verdict
    }

    /// EPIPE and ECONNRESET, as numbered on this platform.
    private static let resets: Set<Int32> = [32, 104]
}
