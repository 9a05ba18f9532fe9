import SocketCore

/// Reasons why bytes are not sent.
extension Lint {
    static let writing: [Lint] = [
        Lint(
            "write-backlog", "the write queue is too large, or fills faster than it drains",
            remedy: "write no faster than writes complete: wait for didWrite, or set watermarks", writeBacklog
        ).following([deadlock, writeBlocked, writeOrphaned]),
        Lint(
            "tiny-ops", "more than 1,000 operations per second of less than 64 bytes each",
            remedy: "combine small writes, and read everything available instead of single bytes", tinyOperations),
        Lint(
            "tag-reuse", as: .note, "operations in flight share a tag", remedy: "give each its own tag",
            isAllowed: true, tagReuse),
    ]

    private static func writeBacklog(_ it: Situation, _ after: Duration) -> Verdict? {
        let (socket, now) = (it.socket, it.now)
        let queue = socket.writing
        // A relay stops reading one leg while the other has much to write. Its peers determine how much.
        guard socket.phase == .connected, queue.current != nil, it.leg == nil else { return nil }
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
        return Verdict(text, lasting: held)
    }

    private static func clamped(_ count: Int) -> Int { min(count, 1 << 40) }

    private static func tinyOperations(_ it: Situation, _ after: Duration) -> Verdict? {
        let socket = it.socket
        guard let rate = socket.activity.operationRate, rate > 1_000 else { return nil }
        let bytes = (socket.receiveRate ?? 0) + (socket.sendRate ?? 0)
        guard bytes.isFinite, bytes / rate < 64 else { return nil }
        return "\(Format.rate(rate)) operations per second of \(Format.size(Int(max(0, bytes / rate) + 0.5)))"
    }

    private static func tagReuse(_ it: Situation, _ after: Duration) -> Verdict? {
        let socket = it.socket
        func reused(_ queue: QueueSnapshot) -> Int? {
            var seen: Set<Int> = []
            let operations = (queue.current.map { [$0] } ?? []) + queue.pending
            return operations.first { !$0.isStanding && !seen.insert($0.tag).inserted }?.tag
        }
        if let tag = reused(socket.reading) { return "more than one read in flight has tag \(tag)" }
        return reused(socket.writing).map { "more than one write in flight has tag \($0)" }
    }
}
