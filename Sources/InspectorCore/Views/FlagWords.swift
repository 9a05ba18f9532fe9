import SocketCore

/// GCDAsyncSocket's flag word, and why the flags that matter are as they are.
package enum FlagWords {
    /// `0x00050B`
    package static func word(_ flags: SocketFlags) -> String {
        let hex = String(flags.rawValue, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: max(0, 6 - hex.count)) + hex
    }

    /// The names of the flags that are lit, lowest bit first.
    package static func lit(_ flags: SocketFlags) -> [String] {
        SocketFlags.names.filter { flags.contains($0.flag) }.map(\.name)
    }

    /// A sentence for each flag that is not as it usually is.
    package static func reasons(_ socket: SocketSnapshot) -> [String] {
        guard socket.phase != .closed, socket.role != .listener else { return [] }
        let flags = socket.flags
        var reasons: [String] = []
        func add(_ flag: SocketFlags, _ reason: String) {
            if flags.contains(flag) { reasons.append(reason) }
        }
        add(.forbidReadsWrites, "ForbidReadsWrites: a close was asked for, so nothing new is queued")
        add(.readsPaused, "ReadsPaused: \(tag(socket.reading)) timed out and awaits an answer")
        add(.writesPaused, "WritesPaused: \(tag(socket.writing)) timed out and awaits an answer")
        add(.disconnectAfterReads, "DisconnectAfterReads: closes after \(left(socket.reading, "read"))")
        add(.disconnectAfterWrites, "DisconnectAfterWrites: closes after \(left(socket.writing, "write"))")
        add(.readSourceSuspended, "ReadSourceSuspended: \(whySuspended(socket))")
        add(.socketHasReadEOF, "SocketHasReadEOF: the peer's FIN was read")
        add(.readStreamClosed, "ReadStreamClosed: all before the FIN was delivered; writing goes on")
        if socket.phase == .connected && !socket.isWriteShut && !flags.contains(.socketCanAcceptBytes) {
            reasons.append("SocketCanAcceptBytes is unlit: the kernel's send buffer is full")
        }
        return reasons
    }

    private static func tag(_ queue: QueueSnapshot) -> String {
        queue.current.map { "t\($0.tag)" } ?? "an operation"
    }

    private static func left(_ queue: QueueSnapshot, _ noun: String) -> String {
        let count = queue.pendingCount + (queue.current == nil ? 0 : 1)
        return count == 0 ? "the last \(noun)" : Format.count(count, "more \(noun)")
    }

    private static func whySuspended(_ socket: SocketSnapshot) -> String {
        if socket.isReadingPaused { return "reading was paused by hand" }
        if let current = socket.reading.current, current.isAsking {
            return "read interest is off while t\(current.tag) is paused"
        }
        if socket.flags.contains(.socketHasReadEOF) { return "nothing comes after the peer's FIN" }
        if socket.phase == .resolving || socket.phase == .connecting { return "not connected yet" }
        return socket.reading.current == nil
            ? "no read is queued, so bytes wait in the kernel" : "bytes are there that no read takes yet"
    }
}
