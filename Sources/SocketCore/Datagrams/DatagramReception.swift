/// How many datagrams a datagram socket receives from the kernel: none, the next one, or all.
package struct DatagramReception: Sendable {
    /// GCDAsyncUdpSocket: `pauseReceiving`, `receiveOnce:`, `beginReceiving:`.
    package private(set) var mode = DatagramReceiveMode.paused
    /// Whether the user has paused the socket in the inspector, whatever the mode.
    package var isHeld = false
    /// The number of received datagrams that await their filter's answer.
    package private(set) var judged = 0

    package init() {}

    /// Changes the mode. Datagrams that are with a filter are delivered by the rules of the new mode.
    package mutating func receive(_ mode: DatagramReceiveMode) {
        self.mode = mode
    }

    /// Returns the most datagrams to receive at once. While a filter is busy that is none, so that a slow filter fills
    /// the kernel's buffer rather than memory, and `once` delivers exactly one datagram.
    package func wanted(most: Int) -> Int {
        guard !isHeld, judged == 0 else { return 0 }
        return switch mode {
        case .paused: 0
        case .once: 1
        case .continuous: most
        }
    }

    /// Records that a filter was given `count` datagrams.
    package mutating func beginJudgement(of count: Int) {
        judged += count
    }

    /// Records that the filter has answered. Traps if none was asked.
    package mutating func endJudgement() {
        precondition(judged > 0, "no datagrams to decide on")
        judged = 0
    }

    /// Records that `count` datagrams were delivered, which ends `once`.
    package mutating func delivered(_ count: Int) {
        if count > 0, mode == .once { mode = .paused }
    }
}

/// What happens to datagrams that arrive.
public enum DatagramReceiveMode: String, Hashable, Sendable, CaseIterable {
    /// They stay in the kernel, which drops and counts those that don't fit its buffer.
    case paused
    /// The next datagram that the filter passes is delivered, then the mode becomes `paused`.
    case once
    /// Every datagram is delivered.
    case continuous
}
