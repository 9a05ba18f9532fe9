import SocketCore

/// The words for a connection without bytes in transit, of our own or of other programs.
enum QuietWords {
    static let nothing = "Idle: nothing is in transit."

    /// Returns ` Last to send: curl[81], 312 B, 41s ago.`
    static func lastToSend(_ who: String, _ size: String, _ ago: Duration) -> String {
        " Last to send: \(who), \(size), \(Format.duration(ago)) ago."
    }
}

extension Situation {
    /// How long no byte may have been transferred for a connection to count as quiet.
    private static let rest = Duration.seconds(2)

    /// Whether a breakpoint or a rule holds something here, so that bytes are in transit whatever the queues say.
    private var isKept: Bool {
        guard let fault = socket.fault else { return false }
        return fault.hold != nil || fault.delayedBytes > 0
            || fault.rules.contains { $0.effect == "stall" && $0.count > 0 }
    }

    /// Returns a sentence if both queues at both ends are empty, or `nil` if bytes are in transit or that is not known.
    /// `last` is the last item transferred, if it was kept.
    package func quiet(last: TrafficItem?) -> String? {
        guard !isKept, socket.phase == .connected, socket.role != .datagram, socket.writing.current == nil,
            let kernel = socket.kernel, kernel.sendQueue == 0, kernel.receiveQueue == 0, socket.prebuffered == 0,
            side.end?.unread ?? 0 == 0, side.end?.unsent ?? 0 == 0, socket.activity.peerClosed == nil,
            !socket.isWriteShut, let lastByte = socket.activity.lastByte, now - lastByte >= Self.rest
        else { return nil }
        let other = leg ?? side
        guard other.socket.writing.current == nil, other.end?.unread ?? 0 == 0, other.end?.unsent ?? 0 == 0 else {
            return nil
        }
        var text = QuietWords.nothing + " No read is queued here."
        if leg != nil {
            text = "Idle: both ends are silent, and the relay waits for data."
        } else if let read = socket.reading.current {
            text = "Waits for data: t\(read.tag) reads \(read.kind.words). " + QuietWords.nothing
        }
        guard socket.received + socket.sent > 0 else { return text + " Nothing has been sent or received yet." }
        guard let last else {
            return text + " The last byte was sent or received \(Format.duration(now - lastByte)) ago."
        }
        let sender = last.direction == .received ? side.reader : leg?.reader ?? "this end"
        return text + QuietWords.lastToSend(sender, Format.size(last.done), now - last.time)
    }
}
