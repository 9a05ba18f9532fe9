import SocketCore

/// What the screen shows about a session in addition to its queues and its bytes.
extension SocketJSON {
    /// Returns the watermarks of the write queue, and whether it is above them, or null if none are set.
    func watermarks(_ socket: SocketSnapshot) -> JSON {
        guard let marks = socket.watermarks else { return .null }
        return [
            "low_bytes": JSON(marks.low), "high_bytes": JSON(marks.high), "above_high": .bool(socket.isAboveHighMark),
        ]
    }

    func callbacks(_ callbacks: CallbackSnapshot) -> JSON {
        [
            "has_receiver": .bool(callbacks.isHeard), "lag_s": JSON(seconds: callbacks.lag),
            "last_batch": time(callbacks.ran), "undelivered_bytes": JSON(callbacks.undelivered),
        ]
    }

    func activity(_ activity: ActivitySnapshot) -> JSON {
        [
            "last_byte": time(activity.lastByte), "unread_since": time(activity.unreadSince),
            "peer_closed": time(activity.peerClosed), "operations_per_s": JSON(activity.operationRate),
            "queued_bytes_per_s": JSON(activity.queueRate), "idle_timeout_s": JSON(seconds: activity.idleTimeout),
            "keepalive": .bool(activity.isKeptAlive),
        ]
    }

    /// Returns the other end of a connection, as far as this host's kernel reveals it.
    func peerEnd(_ end: PeerEnd) -> JSON {
        [
            "program": JSON(end.program?.name), "process": JSON(end.program?.process),
            "fd": JSON(end.program.map { Int($0.descriptor) }), "unread_bytes": JSON(end.unread),
        ]
    }
}
