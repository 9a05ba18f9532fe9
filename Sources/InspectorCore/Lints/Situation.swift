import SocketCore

/// A connection as seen from one of its ends, and what is known of the other end.
package struct Side: Equatable, Sendable {
    package var socket: SocketSnapshot
    /// The other end, if it is on this host.
    package var end: PeerEnd?
    /// How long its amounts have been unchanged.
    package var stall: Stall

    package init(_ socket: SocketSnapshot, end: PeerEnd? = nil, stall: Stall = Stall()) {
        (self.socket, self.end, self.stall) = (socket, end, stall)
    }

    /// The program at the other end, or its address if the program is not known. Not sanitized yet.
    package var reader: String { end?.program?.title ?? socket.peerText }

    /// Returns how long the current write has sent nothing while nothing moved on the way to the reader, or `nil` if no
    /// write waits for the kernel. A blocked sender alone does not show that the reader is stuck: a slow one keeps
    /// moving.
    package func blocked(_ now: MonotonicTime) -> Duration? {
        guard let since = socket.writeStuckSince else { return nil }
        return now - max(since, stall.moved ?? since)
    }

    /// Whether the other end has read everything that arrived, so that it does not hold the bytes up.
    package var hasReadAll: Bool { end?.unread == 0 }

    /// `4.0M unread there`, if that is known.
    var unreadThere: String? { end?.unread.flatMap { $0 > 0 ? "\(Format.size($0)) unread there" : nil } }
}

/// One session and everything known about its connection, for a lint to judge. An engine's session and a socket of the
/// host have the same form. Unknown values are `nil`.
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

/// How long the amounts of one session have been unchanged, as far as snapshots have shown.
package struct Stall: Equatable, Sendable {
    /// When an amount between our write queue and the reader was last seen to change, or `nil` if none has changed
    /// since the write got stuck.
    package var moved: MonotonicTime?
    /// Since when our FIN has been sent, or `nil` if it has not.
    package var shut: MonotonicTime?
    /// Whether the FIN may have been sent before the first look.
    package var shutIsOlder = false
    /// The last look at the other end that found unread bytes there.
    package var unreadThere: Look?

    /// Unread bytes at the other end, and when they were seen.
    package struct Look: Equatable, Sendable {
        package var end: PeerEnd
        package var time: MonotonicTime

        package init(_ end: PeerEnd, _ time: MonotonicTime) { (self.end, self.time) = (end, time) }
    }

    package init() {}
}

extension SocketSnapshot {
    /// Since when the current write has sent nothing because the kernel's send buffer is full.
    var writeStuckSince: MonotonicTime? {
        guard phase == .connected, let write = writing.current, !write.isAsking,
            !flags.contains(.socketCanAcceptBytes)
        else { return nil }
        return [write.lastProgress, write.started, writing.since].compactMap { $0 }.max()
    }

    /// Whether our FIN and everything before it has been sent, and the peer's has not arrived.
    var waitsForFIN: Bool {
        isWriteShut && phase == .connected && writing.current == nil && activity.peerClosed == nil
            && !flags.contains(.socketHasReadEOF)
    }
}
