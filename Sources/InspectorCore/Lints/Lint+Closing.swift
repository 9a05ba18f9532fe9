import SocketCore

/// Connections that end halfway, or do not come about.
extension Lint {
    static let closing: [Lint] = [
        Lint(
            "half-closed", "the peer sent FIN while writes are still queued",
            remedy: "it may still read them; if it does not, close now ({close})", halfClosed),
        Lint(
            "disconnect-pending", "a close waits for a queue that has not moved for 5 seconds",
            remedy: "close at once ({close}), or cancel what the queue waits for", disconnectPending),
        Lint(
            "connect-slow", "a connect takes more than 2 seconds",
            remedy: "nobody answers there: check address, port and firewall; --timeout bounds the wait", connectSlow),
    ]

    private static func halfClosed(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        guard socket.phase == .connected, let current = socket.writing.current,
            socket.activity.peerClosed != nil || socket.flags.contains(.socketHasReadEOF)
        else { return nil }
        let ago = socket.activity.peerClosed.map { " \(Format.duration(now - $0)) ago" } ?? ""
        let count = socket.writing.pendingCount == .max ? .max : socket.writing.pendingCount + 1
        let what = count == 1 ? "t\(current.tag)" : Format.count(count, "write")
        return "peer sent FIN\(ago); \(what) (\(Format.size(socket.writing.pendingBytes))) still queued"
    }

    private static func disconnectPending(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        func stuck(_ flag: SocketFlags, _ queue: QueueSnapshot, _ noun: String) -> String? {
            guard socket.flags.contains(flag), let current = queue.current,
                let moved = [current.lastProgress, current.started, queue.since].compactMap({ $0 }).max(),
                now - moved > .seconds(5)
            else { return nil }
            let count = queue.pendingCount == .max ? .max : queue.pendingCount + 1
            return
                "the close waits for \(Format.count(count, noun)); none has moved for \(Format.duration(now - moved))"
        }
        return stuck(.disconnectAfterReads, socket.reading, "read")
            ?? stuck(.disconnectAfterWrites, socket.writing, "write")
    }

    private static func connectSlow(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        let took = now - socket.opened
        guard socket.phase == .resolving || socket.phase == .connecting, took > .seconds(2) else { return nil }
        if socket.phase == .resolving { return "the resolver has not answered for \(Format.duration(took))" }
        let tried = socket.connect?.attempts.count ?? 0
        let address = socket.connect?.attempts.last?.address.description ?? socket.target
        return "no answer for \(Format.duration(took)), trying \(address)" + (tried > 1 ? " (\(tried) tried)" : "")
    }
}
