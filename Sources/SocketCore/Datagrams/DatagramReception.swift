/// Whether a datagram socket takes datagrams from the kernel: none, the next one, or all.
package struct DatagramReception: Sendable {
    /// GCDAsyncUdpSocket: `pauseReceiving`, `receiveOnce:`, `beginReceiving:`.
    package private(set) var mode = DatagramReceiveMode.paused
    /// Held by a person at a screen, whatever the mode.
    package var isHeld = false
    /// Datagrams that were taken and whose filter has not answered yet.
    package private(set) var judged = 0

    package init() {}

    /// Changes the mode; datagrams that a filter has in hand are delivered by the rules of the new one.
    package mutating func receive(_ mode: DatagramReceiveMode) {
        self.mode = mode
    }

    /// How many datagrams to take at most in one go: none while a filter judges, so that a slow one is felt by the
    /// kernel and not by memory, and so that one asked for is one delivered.
    package func wanted(most: Int) -> Int {
        guard !isHeld, judged == 0 else { return 0 }
        return switch mode {
        case .paused: 0
        case .once: 1
        case .continuous: most
        }
    }

    /// A filter was given so many datagrams to judge.
    package mutating func beginJudgement(of count: Int) {
        judged += count
    }

    /// The filter has answered. Traps when none was asked.
    package mutating func endJudgement() {
        precondition(judged > 0, "a verdict on nothing")
        judged = 0
    }

    /// So many datagrams were delivered: one that was waited for has come.
    package mutating func delivered(_ count: Int) {
        if count > 0, mode == .once { mode = .paused }
    }
}

/// What becomes of datagrams that arrive.
public enum DatagramReceiveMode: String, Hashable, Sendable, Codable {
    /// They stay with the kernel, which drops and counts those it has no room for.
    case paused
    /// The next one that the filter lets pass is delivered; then `paused`.
    case once
    /// Each is delivered.
    case continuous
}
