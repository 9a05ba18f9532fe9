import SocketCore

/// Timeouts that come, that wait, or that are missing.
extension Lint {
    static let timing: [Lint] = [
        Lint(
            "timeout-asking", "an operation timed out and waits for an answer",
            remedy: "{answer} answers: extend, fail it, close; in the program answer didTimeOut", timeoutAsking),
        Lint(
            "read-timeout-near", "the read in hand has used more than 80 % of its timeout",
            remedy: "more time can be given when it times out ({answer}), or queue reads with a longer one"
        ) { socket, now in timeoutNear(socket.reading.current, now) },
        Lint(
            "write-timeout-near", "the write in hand has used more than 80 % of its timeout",
            remedy: "more time can be given when it times out ({answer}); does the peer read at all?"
        ) { socket, now in timeoutNear(socket.writing.current, now) },
        Lint(
            "no-timeout", "an operation without a timeout, and no byte for a minute: a dead peer goes unnoticed",
            remedy: "give it a timeout, or set idleTimeout or keepAlive in the configuration", noTimeout),
        Lint(
            "idle", "no byte has passed for a minute", remedy: "nothing, if the protocol is a quiet one",
            isAllowed: true, idle),
    ]

    private static func timeoutAsking(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        guard let asking = socket.asking else { return nil }
        if let timeout = asking.timeout, let started = asking.started {
            guard now - (started + timeout) > .milliseconds(250) else { return nil }
            let waited = Format.duration(now - (started + timeout))
            return "t\(asking.tag) timed out after \(Format.duration(timeout)), asks for an answer for \(waited)"
        }
        return "t\(asking.tag) timed out and waits for an answer"
    }

    private static func timeoutNear(_ operation: OperationSnapshot?, _ now: MonotonicTime) -> String? {
        guard let operation, let timeout = operation.timeout, let deadline = operation.deadline else { return nil }
        let left = max(.zero, deadline - now)
        guard left.inSeconds < timeout.inSeconds * 0.2 else { return nil }
        return "t\(operation.tag) times out in \(Format.duration(left)) of \(Format.duration(timeout))"
    }

    /// How long a connection has been silent, where that is more than a minute.
    private static func silence(_ socket: SocketSnapshot, _ now: MonotonicTime) -> Duration? {
        guard socket.phase == .connected, let last = socket.activity.lastByte, now - last > .seconds(60) else {
            return nil
        }
        return now - last
    }

    /// A standing read waits by its nature; those who want to know of it ask for `idle`.
    private static func noTimeout(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        guard let silence = silence(socket, now), socket.activity.idleTimeout == nil, !socket.activity.isKeptAlive,
            !socket.flags.contains(.socketHasReadEOF),
            let endless = [socket.reading.current, socket.writing.current].compactMap({ $0 }).first(where: {
                $0.timeout == nil && !$0.isStanding
            })
        else { return nil }
        let what = endless.kind == .write ? "write" : "read"
        return "\(what) t\(endless.tag) has no timeout, and no byte passed for \(Format.duration(silence))"
    }

    private static func idle(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        silence(socket, now).map { "no byte passed for \(Format.duration($0))" }
    }
}
