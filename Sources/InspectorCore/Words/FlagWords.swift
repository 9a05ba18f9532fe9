import SocketCore

/// GCDAsyncSocket's flag word, and the reasons for the values of the important flags.
package enum FlagWords {
    /// `0x00050B`
    package static func word(_ flags: SocketFlags) -> String {
        let hex = String(flags.rawValue, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: max(0, 6 - hex.count)) + hex
    }

    /// Returns the names of the set flags, lowest bit first.
    package static func lit(_ flags: SocketFlags) -> [String] {
        SocketFlags.names.filter { flags.contains($0.flag) }.map(\.name)
    }

    /// Returns every set flag with its reason, and the one flag that is informative when it is clear.
    package static func reasons(_ socket: SocketSnapshot, _ now: MonotonicTime) -> [(name: String, reason: String)] {
        guard socket.phase != .closed else { return [] }
        var reasons = SocketFlags.names.filter { socket.flags.contains($0.flag) }.map { flag, name in
            (name: name, reason: reason(flag, socket, now))
        }
        if socket.phase == .connected && !socket.isWriteShut && !socket.flags.contains(.socketCanAcceptBytes) {
            reasons.append((name: "SocketCanAcceptBytes is not set", reason: "the kernel's send buffer is full"))
        }
        return reasons
    }

    private static func reason(_ flag: SocketFlags, _ socket: SocketSnapshot, _ now: MonotonicTime) -> String {
        switch flag {
        case .socketStarted: "started \(Format.duration(now - socket.opened)) ago"
        case .connected: socket.connected.map { "established \(Format.duration(now - $0)) ago" } ?? "open"
        case .forbidReadsWrites: "a close was requested, so nothing new is queued"
        case .readsPaused: "\(tag(socket.reading)) timed out and awaits an answer"
        case .writesPaused: "\(tag(socket.writing)) timed out and awaits an answer"
        case .disconnectAfterReads: "closes after \(left(socket.reading, "read"))"
        case .disconnectAfterWrites: "closes after \(left(socket.writing, "write"))"
        case .socketCanAcceptBytes: "the kernel's send buffer has room"
        case .readSourceSuspended: whySuspended(socket)
        case .writeSourceSuspended: "nothing is waiting for room in the kernel's send buffer"
        case .queuedTLS: "TLS was requested"
        case .startingReadTLS: "no more reads are queued before the TLS handshake"
        case .startingWriteTLS: "no more writes are queued before the TLS handshake"
        case .socketSecure: "the TLS handshake is done"
        case .socketHasReadEOF: "the peer's FIN was read"
        case .readStreamClosed: "all bytes before FIN are delivered; writing continues"
        case .dealloc: "the handle is being released"
        default: ""
        }
    }

    private static func tag(_ queue: QueueSnapshot) -> String {
        queue.current.map { "t\($0.tag)" } ?? "an operation"
    }

    private static func left(_ queue: QueueSnapshot, _ noun: String) -> String {
        let count = queue.pendingCount + (queue.current == nil ? 0 : 1)
        return count == 0 ? "the last \(noun)" : Format.count(count, "more \(noun)")
    }

    private static func whySuspended(_ socket: SocketSnapshot) -> String {
        if socket.role == .listener { return "accepting is paused" }
        if socket.isReadingPaused { return "reading is paused" }
        if let current = socket.reading.current, current.isAsking {
            return "read interest is off while t\(current.tag) is paused"
        }
        if socket.flags.contains(.socketHasReadEOF) { return "nothing arrives after the peer's FIN" }
        if socket.phase == .resolving || socket.phase == .connecting { return "not connected yet" }
        return socket.reading.current == nil
            ? "no read is queued, so bytes wait in the kernel" : "bytes are waiting for a read"
    }
}
