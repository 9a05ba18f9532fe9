import SocketCore

/// Reasons why bytes are not read.
extension Lint {
    static let readStarved = Lint(
        "read-starved", after: .seconds(1), "bytes have been unread for %time, and no read is queued",
        remedy: "queue a read ({read}); in a program, call read(...) again after each read", findReadStarved
    ).following([deadlock])

    static let endUnseen = Lint(
        "eof-unseen", after: .seconds(1), "the peer's FIN arrived %time ago, behind bytes that no read has taken",
        remedy: "keep reading ({read}): FIN is reported after the last byte", findEndUnseen
    ).following([deadlock])

    static let prebufferHeld = Lint(
        "prebuffer-held", after: .seconds(5), "bytes read ahead have gone unread for %time",
        remedy: "queue a read ({read}): it gets them at once", findPrebufferHeld)

    static let reading: [Lint] = [
        readStarved, endUnseen, prebufferHeld,
        Lint(
            "delimiter-slow", "no delimiter after many bytes, or none after a long wait",
            remedy: "compare the bytes ({talk} Traffic) with the delimiter: the peer may end lines differently",
            delimiterSlow),
        Lint(
            "near-maxlength", "a delimiter read has used more than 90 % of its limit",
            remedy: "raise the limit, or look at what the peer sends ({talk} Traffic): the read fails when it is full",
            nearMaxLength),
        Lint(
            "unbounded-delimiter", "a delimiter read without a limit: the peer decides how much memory it takes",
            remedy: "give it a limit (maxLength)", unboundedDelimiter),
    ]

    /// A terminator is usually found within this many bytes.
    private static let longLine = 16 << 10

    /// Returns since when there have been bytes that no read takes, or `nil` if there are none or reading was paused on
    /// purpose.
    static func unreadSince(_ socket: SocketSnapshot) -> MonotonicTime? {
        guard socket.phase == .connected, socket.reading.current == nil, !socket.isReadingPaused else { return nil }
        let idle = socket.reading.since ?? socket.connected ?? socket.opened
        if let since = socket.activity.unreadSince, !socket.flags.contains(.socketHasReadEOF) {
            return max(since, idle)
        }
        return socket.prebuffered > 0 ? idle : nil
    }

    private static func findReadStarved(_ it: Situation, _ after: Duration) -> Verdict? {
        let (socket, now) = (it.socket, it.now)
        guard let since = unreadSince(socket), now - since > after else { return nil }
        // The kernel's queues are requested only for visible rows.
        if socket.activity.unreadSince != nil, socket.kernel?.receiveQueue == 0, socket.prebuffered == 0 { return nil }
        let unread = socket.unreadBytes > 0 ? Format.size(socket.unreadBytes) : "bytes"
        return Verdict(
            "\(unread) unread for \(Format.duration(now - since)): no read is queued", lasting: now - since)
    }

    private static func findEndUnseen(_ it: Situation, _ after: Duration) -> Verdict? {
        let (socket, now) = (it.socket, it.now)
        guard socket.phase == .connected, let closed = socket.activity.peerClosed, now - closed > after,
            !socket.flags.contains(.socketHasReadEOF)
        else { return nil }
        // A leg of a relay reads no faster than the other leg writes, which may be slow.
        if socket.isHeldBack, it.leg?.socket.isLive == true { return nil }
        let why =
            socket.isReadingPaused
            ? "reading is paused"
            : socket.reading.current.map {
                $0.isAsking ? "t\($0.tag) awaits an answer" : "t\($0.tag) does not take them"
            } ?? "no read is queued"
        let unread = socket.unreadBytes > 0 ? Format.size(socket.unreadBytes) : "bytes"
        return "\(CloseWords.peerClosed) \(Format.duration(now - closed)) ago, after \(unread) unread: \(why)"
    }

    private static func findPrebufferHeld(_ it: Situation, _ after: Duration) -> Verdict? {
        let (socket, now) = (it.socket, it.now)
        guard socket.prebuffered > 0, let since = unreadSince(socket), now - since > after else {
            return nil
        }
        return Verdict(
            "\(Format.size(socket.prebuffered)) read ahead, unread for \(Format.duration(now - since))",
            lasting: now - since)
    }

    /// Returns the current delimiter read, with its terminator's name and its limit.
    private static func delimiterRead(
        _ socket: SocketSnapshot
    ) -> (read: OperationSnapshot, terminator: [UInt8], limit: Int?)? {
        guard let read = socket.reading.current, case .read(.delimiter(let terminator, let limit)) = read.kind else {
            return nil
        }
        return (read, terminator, limit)
    }

    private static func delimiterSlow(_ it: Situation, _ after: Duration) -> Verdict? {
        let (socket, now) = (it.socket, it.now)
        guard let (read, terminator, _) = delimiterRead(socket), read.done > 0 else { return nil }
        let still = read.lastProgress.map { now - $0 } ?? .zero
        guard read.done >= longLine || still > .seconds(5) else { return nil }
        let name = TerminatorText.show(terminator)
        let quiet = still > .seconds(1) ? ", nothing new for \(Format.duration(still))" : ""
        return "t\(read.tag): \(Format.size(read.done)) scanned without \(name)\(quiet)"
    }

    private static func nearMaxLength(_ it: Situation, _ after: Duration) -> Verdict? {
        let socket = it.socket
        guard let (read, _, limit) = delimiterRead(socket), let limit, limit > 0, read.done > limit / 10 * 9,
            Double(read.done) > Double(limit) * 0.9
        else { return nil }
        return "t\(read.tag): \(Format.size(read.done)) of at most \(SizeText.show(limit)), and no delimiter yet"
    }

    private static func unboundedDelimiter(_ it: Situation, _ after: Duration) -> Verdict? {
        let socket = it.socket
        func isUnbounded(_ operation: OperationSnapshot) -> Bool {
            if case .read(.delimiter(_, limit: nil)) = operation.kind { true } else { false }
        }
        let reading = socket.reading
        guard
            let read = reading.current.flatMap({ isUnbounded($0) ? $0 : nil })
                ?? reading.pending.first(where: isUnbounded)
        else { return nil }
        return "t\(read.tag) reads \(read.kind.words) without a limit"
    }
}
