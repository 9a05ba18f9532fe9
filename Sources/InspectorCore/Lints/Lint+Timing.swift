import SocketCore

/// Timeouts that are near, that wait for a verdict, or that are missing.
extension Lint {
    static let timing: [Lint] = [
        Lint(
            "timeout-asking", "an operation timed out and awaits an answer",
            remedy: "press {answer} to extend, fail or close; a program answers in didTimeOut", timeoutAsking),
        Lint(
            "read-timeout-near", "the current read has used more than 80 % of its timeout",
            remedy: "extend it when it times out ({answer}), or queue reads with a longer timeout"
        ) { it, _ in timeoutNear(it.socket.reading.current, it.now) },
        Lint(
            "write-timeout-near", "the current write has used more than 80 % of its timeout",
            remedy: "extend it when it times out ({answer}); check whether the peer reads at all"
        ) { it, _ in timeoutNear(it.socket.writing.current, it.now) },
        Lint(
            "no-timeout", after: .seconds(60),
            "an operation has no timeout, and no byte was transferred for %time: a dead peer goes unnoticed",
            remedy: "give it a timeout, or set idleTimeout or keepAlive in the configuration", noTimeout),
        Lint(
            "idle", as: .note, after: .seconds(60), "no byte was sent or received for %time",
            remedy: "nothing, if the protocol is quiet by design",
            isAllowed: true, idle
        ).evenWhereNothingHappens(),
    ]

    private static func timeoutAsking(_ it: Situation, _ after: Duration) -> Verdict? {
        let (socket, now) = (it.socket, it.now)
        guard let asking = socket.asking else { return nil }
        if let timeout = asking.timeout, let started = asking.started {
            guard now - (started + timeout) > .milliseconds(250) else { return nil }
            let waited = Format.duration(now - (started + timeout))
            return "t\(asking.tag) timed out after \(Format.duration(timeout)); has waited \(waited) for an answer"
        }
        return "t\(asking.tag) timed out and waits for an answer"
    }

    private static func timeoutNear(_ operation: OperationSnapshot?, _ now: MonotonicTime) -> Verdict? {
        guard let operation, let timeout = operation.timeout, let deadline = operation.deadline else { return nil }
        let left = max(.zero, deadline - now)
        guard left.inSeconds < timeout.inSeconds * 0.2 else { return nil }
        return "t\(operation.tag) times out in \(Format.duration(left)) of \(Format.duration(timeout))"
    }

    /// Returns how long a connection has been silent, if that is longer than `after`.
    private static func silence(_ it: Situation, _ after: Duration) -> Duration? {
        guard it.socket.phase == .connected, let last = it.socket.activity.lastByte, it.now - last > after else {
            return nil
        }
        return it.now - last
    }

    /// Finds a read without a timeout. A standing read waits by design. Enable `idle` to see those.
    private static func noTimeout(_ it: Situation, _ after: Duration) -> Verdict? {
        let socket = it.socket
        guard let silence = silence(it, after), socket.activity.idleTimeout == nil, !socket.activity.isKeptAlive,
            !socket.flags.contains(.socketHasReadEOF),
            let endless = [socket.reading.current, socket.writing.current].compactMap({ $0 }).first(where: {
                $0.timeout == nil && !$0.isStanding
            })
        else { return nil }
        let what = endless.kind == .write ? "write" : "read"
        return Verdict(
            "\(what) t\(endless.tag) has no timeout, and no byte was transferred for \(Format.duration(silence))",
            lasting: silence)
    }

    private static func idle(_ it: Situation, _ after: Duration) -> Verdict? {
        silence(it, after).map { Verdict("no byte sent or received for \(Format.duration($0))", lasting: $0) }
    }
}
