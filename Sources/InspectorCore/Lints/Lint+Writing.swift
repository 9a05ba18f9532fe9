import SocketCore

/// What keeps bytes from going out.
extension Lint {
    static let writing: [Lint] = [
        Lint(
            "write-stalled", "the write in hand got nothing out for 2 seconds and the kernel's send buffer is full",
            remedy: "the peer does not read; wait for it, or close ({close})", writeStalled),
        Lint(
            "write-orphaned",
            "the same on a leg of a relay whose other leg is gone: its sender will not hear of what becomes of it",
            remedy: "close it ({close}) if the peer does not read: nobody waits for these bytes to arrive",
            writeOrphaned),
        Lint(
            "write-backlog", "more is queued for writing than goes out, or than is good",
            remedy: "write no faster than writes complete: wait for didWrite, or use watermarks", writeBacklog),
        Lint(
            "tiny-ops", "more than 1,000 operations a second of less than 64 bytes each",
            remedy: "gather small writes, and read what is there in place of single bytes", tinyOperations),
        Lint(
            "tag-reuse", "operations in flight that have the same tag", remedy: "give each its own tag",
            isAllowed: true, tagReuse),
    ]

    private static func writeStalled(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        socket.relay?.isOtherGone == true ? nil : stalled(socket, now)
    }

    private static func writeOrphaned(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        guard let linked = socket.linked, socket.relay?.isOtherGone == true else { return nil }
        return stalled(socket, now).map { "\($0); \(linked), where it came from, is gone" }
    }

    private static func stalled(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        guard socket.phase == .connected, let write = socket.writing.current, !write.isAsking,
            !socket.flags.contains(.socketCanAcceptBytes),
            let moved = [write.lastProgress, write.started, socket.writing.since].compactMap({ $0 }).max(),
            now - moved > .seconds(2)
        else { return nil }
        let stall = "t\(write.tag) stalled for \(Format.duration(now - moved)), the kernel's send buffer is full"
        return "\(stallCause(socket)): \(stall)"
    }

    /// Bytes in flight wait for an acknowledgement; without any, the peer's window is shut. A stream of this host always
    /// has its bytes at the reader.
    private static func stallCause(_ socket: SocketSnapshot) -> String {
        guard let all = socket.kernel?.sendQueue, let waiting = socket.kernel?.notSent else {
            return socket.peer?.isUnix == true ? "the peer does not read" : "nothing goes out"
        }
        return all > waiting ? "the peer does not acknowledge" : "the peer does not read"
    }

    private static func writeBacklog(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        let queue = socket.writing
        guard socket.phase == .connected, queue.current != nil else { return nil }
        let growth = socket.activity.queueRate.flatMap { queued in socket.sendRate.map { queued - $0 } } ?? 0
        let held = queue.since.map { now - $0 } ?? .zero
        let grows = growth >= 1024 && held > .seconds(1)
        guard grows || queue.pendingBytes > 1 << 20 || queue.pendingCount >= 64 else { return nil }
        var text = "\(Format.size(queue.pendingBytes)) in \(Format.count(clamped(queue.pendingCount) + 1, "write"))"
        if growth.isFinite, abs(growth) >= 1024 {
            text += growth > 0 ? ", +\(Format.rate(growth))/s" : ", -\(Format.rate(-growth))/s"
        }
        if held >= .seconds(1) { text += ", not empty for \(Format.duration(held))" }
        if let rate = socket.sendRate, rate >= 1, growth < 1024 {
            text += ", \(Format.duration(.seconds(min(1e9, Double(queue.pendingBytes) / rate)))) to go"
        } else if let limited = socket.kernel?.receiverWindowLimited, limited > 0.5 {
            text += "; the peer's window is full"
        }
        return text
    }

    private static func clamped(_ count: Int) -> Int { min(count, 1 << 40) }

    private static func tinyOperations(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        guard let rate = socket.activity.operationRate, rate > 1_000 else { return nil }
        let bytes = (socket.receiveRate ?? 0) + (socket.sendRate ?? 0)
        guard bytes.isFinite, bytes / rate < 64 else { return nil }
        return "\(Format.rate(rate)) operations a second of \(Format.size(Int(max(0, bytes / rate) + 0.5)))"
    }

    private static func tagReuse(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        func reused(_ queue: QueueSnapshot) -> Int? {
            var seen: Set<Int> = []
            let operations = (queue.current.map { [$0] } ?? []) + queue.pending
            return operations.first { !$0.isStanding && !seen.insert($0.tag).inserted }?.tag
        }
        if let tag = reused(socket.reading) { return "more than one read in flight has tag \(tag)" }
        return reused(socket.writing).map { "more than one write in flight has tag \($0)" }
    }
}
