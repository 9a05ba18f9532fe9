import SocketCore

/// Connections that end halfway, or are not established.
extension Lint {
    static let closeWait = Lint(
        "close-wait", as: .note, after: .seconds(30),
        "one end closed %time ago (FIN), and the program at the other end has not closed",
        remedy: "if the program has read the FIN and never closes, it leaks connections; a pool may close them later",
        findCloseWait, host: { rules, _ in rules.leaked() }
    ).gathered(many: 20)

    static let closing: [Lint] = [
        closeWait,
        Lint(
            "half-closed-long", as: .note, after: .seconds(30),
            "this end sent FIN %time ago, and the peer has neither sent anything nor closed since",
            remedy: "the peer may still answer; if nothing is expected, close ({close})",
            halfClosedLong, host: { $0.halfClosed($1) }
        ).following([closeWait]).gathered(),
        Lint(
            "half-closed", as: .note, "the peer closed its side (FIN) while writes are still queued",
            remedy: "it may still read them; if it does not, close now ({close})", halfClosed
        ).following([writeBlocked, writeOrphaned, deadlock]),
        Lint(
            "disconnect-pending", after: .seconds(5), "a close waits for a queue that has not moved for %time",
            remedy: "close at once ({close}), or cancel the operation that blocks the queue", disconnectPending
        ).following([writeBlocked, writeOrphaned, deadlock]),
        Lint(
            "connecting-silent", after: .seconds(2), "a connect has had no answer for %time",
            remedy: "check the address, the port and firewalls (on this host: socktui why); "
                + "--timeout bounds the wait",
            connectingSilent, host: { $0.unanswered($1) }),
    ]

    /// Finds a connection that one end closed while the program at the other keeps its half open: the peer, or our own
    /// program. A leg that waits for the other leg of its relay doesn't count.
    private static func findCloseWait(_ it: Situation, _ after: Duration) -> Verdict? {
        guard it.socket.phase == .connected, isQuiet(it, after) else { return nil }
        if it.side.end?.isClosing == true { return peerCloseWait(it, after) }
        guard it.socket.linked == nil, !it.socket.isWriteShut, it.socket.flags.contains(.socketHasReadEOF),
            it.socket.writing.current == nil, let closed = it.socket.activity.peerClosed,
            case let lasting = it.now - closed, lasting >= after
        else { return nil }
        return Verdict(
            "not closed yet, though \(it.side.reader) closed \(Format.duration(lasting)) ago and its FIN was read",
            lasting: lasting)
    }

    private static func peerCloseWait(_ it: Situation, _ after: Duration) -> Verdict? {
        guard it.socket.waitsForFIN, let shut = it.side.stall.shut, case let lasting = it.now - shut,
            lasting >= after, let end = it.side.end
        else { return nil }
        let closer = it.leg.map(\.reader) ?? "this end"
        let what =
            end.hasReadEnd == true
            ? "it has read the FIN"
            : "the FIN is unread\(end.unread.map { $0 > 0 ? " after \(Format.size($0))" : "" } ?? "")"
        var verdict = Verdict(
            "\(it.side.reader) has not closed a connection that \(closer) closed \(ago(it.side, lasting)); \(what)",
            lasting: lasting
        ).blaming(it.side)
        // An idle client pool notices late. A server, or a program that has read the FIN, leaks the connection.
        verdict.grave = it.socket.role == .client || end.hasReadEnd == true ? 1 : 0
        return verdict
    }

    /// Returns `31s ago`, or longer if it began before the first look.
    private static func ago(_ side: Side, _ lasting: Duration) -> String {
        "\(Format.duration(lasting)) \(side.stall.shutIsOlder ? "or longer " : "")ago"
    }

    private static func isQuiet(_ it: Situation, _ after: Duration) -> Bool {
        it.socket.activity.lastByte.map { it.now - $0 >= after } ?? true
    }

    private static func halfClosedLong(_ it: Situation, _ after: Duration) -> Verdict? {
        guard it.socket.waitsForFIN, let shut = it.side.stall.shut, case let lasting = it.now - shut,
            lasting >= after, isQuiet(it, after)
        else { return nil }
        return Verdict(
            "FIN sent \(ago(it.side, lasting)); \(it.side.reader) has neither sent anything nor closed since",
            lasting: lasting
        ).blaming(it.side)
    }

    private static func halfClosed(_ it: Situation, _ after: Duration) -> Verdict? {
        let socket = it.socket
        guard socket.phase == .connected, let current = socket.writing.current,
            socket.activity.peerClosed != nil || socket.flags.contains(.socketHasReadEOF)
        else { return nil }
        let ago = socket.activity.peerClosed.map { " \(Format.duration(it.now - $0)) ago" } ?? ""
        let count = socket.writing.pendingCount == .max ? .max : socket.writing.pendingCount + 1
        let what = count == 1 ? "t\(current.tag)" : Format.count(count, "write")
        return Verdict(
            "\(CloseWords.peerClosed)\(ago); \(what) (\(Format.size(socket.writing.pendingBytes))) still queued",
            lasting: socket.activity.peerClosed.map { it.now - $0 })
    }

    private static func disconnectPending(_ it: Situation, _ after: Duration) -> Verdict? {
        func stuck(_ flag: SocketFlags, _ queue: QueueSnapshot, _ noun: String) -> Verdict? {
            guard it.socket.flags.contains(flag), let current = queue.current,
                let moved = [current.lastProgress, current.started, queue.since].compactMap({ $0 }).max(),
                case let lasting = it.now - moved, lasting > after
            else { return nil }
            let count = queue.pendingCount == .max ? .max : queue.pendingCount + 1
            return Verdict(
                "the close waits for \(Format.count(count, noun)); none has moved for \(Format.duration(lasting))",
                lasting: lasting)
        }
        return stuck(.disconnectAfterReads, it.socket.reading, "read")
            ?? stuck(.disconnectAfterWrites, it.socket.writing, "write")
    }

    private static func connectingSilent(_ it: Situation, _ after: Duration) -> Verdict? {
        let socket = it.socket
        let lasting = it.now - socket.opened
        guard socket.phase == .resolving || socket.phase == .connecting, lasting > after else { return nil }
        if socket.phase == .resolving {
            return Verdict("the resolver has not answered for \(Format.duration(lasting))", lasting: lasting)
        }
        let tried = socket.connect?.attempts.count ?? 0
        let address = socket.connect?.attempts.last?.address.description ?? socket.target
        var verdict = Verdict(
            "no answer from \(address) for \(Format.duration(lasting))" + (tried > 1 ? " (\(tried) tried)" : ""),
            lasting: lasting)
        verdict.subject = address
        return verdict
    }
}
