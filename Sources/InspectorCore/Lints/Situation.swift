import SocketCore

/// A connection as one of its ends has it, and what is known of its other end.
package struct Side: Hashable, Sendable {
    package var socket: SocketSnapshot
    /// The other end, where it is on this host.
    package var end: PeerEnd?
    /// Since when its amounts have not changed.
    package var standing: Standing

    package init(_ socket: SocketSnapshot, end: PeerEnd? = nil, standing: Standing = Standing()) {
        (self.socket, self.end, self.standing) = (socket, end, standing)
    }

    /// The program at the other end, or its address where the program is not known. Not sanitized yet.
    package var reader: String { end?.program?.title ?? socket.peerText }

    /// How long the current write has got nothing out, and nothing has moved on the way to the reader; `nil`: no write
    /// waits for the kernel. A sender that stands says nothing of the reader: a slow one moves all the time.
    package func blocked(_ now: MonotonicTime) -> Duration? {
        guard let since = socket.writeStuckSince else { return nil }
        return now - max(since, standing.moved ?? since)
    }

    /// Whether the other end has read all that arrived there, so that it is not what holds the bytes up.
    package var hasReadAll: Bool { end?.unread == 0 }

    /// `4.0M unread there`, where that is known.
    var unreadThere: String? { end?.unread.flatMap { $0 > 0 ? "\(Format.size($0)) unread there" : nil } }
}

/// One session, and all that is known around it: what a lint judges. It is the same for a session of an engine and for a
/// socket of the host; what is not known is `nil`.
package struct Situation: Sendable {
    package var side: Side
    /// The other leg of a relayed connection.
    package var leg: Side?
    package var now: MonotonicTime

    package init(_ side: Side, leg: Side? = nil, now: MonotonicTime) {
        (self.side, self.leg, self.now) = (side, leg, now)
    }

    var socket: SocketSnapshot { side.socket }
}

/// How long amounts of one session have stood, as far as snapshots have shown it.
package struct Standing: Hashable, Sendable {
    /// When an amount between our write queue and the reader was last seen to change; `nil`: not since the write got
    /// stuck.
    package var moved: MonotonicTime?
    /// Since when our FIN has been out; `nil`: it is not.
    package var shut: MonotonicTime?
    /// Whether the FIN may have been out for longer than we have looked.
    package var shutIsOlder = false
    /// The last look at the other end that found unread bytes there.
    package var unreadThere: Look?

    /// Unread bytes at the other end, and when they were seen there.
    package struct Look: Hashable, Sendable {
        package var end: PeerEnd
        package var time: MonotonicTime

        package init(_ end: PeerEnd, _ time: MonotonicTime) { (self.end, self.time) = (end, time) }
    }

    package init() {}
}

extension SocketSnapshot {
    /// Since when the current write has got nothing out because the kernel's send buffer is full.
    var writeStuckSince: MonotonicTime? {
        guard phase == .connected, let write = writing.current, !write.isAsking,
            !flags.contains(.socketCanAcceptBytes)
        else { return nil }
        return [write.lastProgress, write.started, writing.since].compactMap { $0 }.max()
    }

    /// Whether our FIN is out and all before it, and the peer's is not here.
    var waitsForFIN: Bool {
        isWriteShut && phase == .connected && writing.current == nil && activity.peerClosed == nil
            && !flags.contains(.socketHasReadEOF)
    }
}
