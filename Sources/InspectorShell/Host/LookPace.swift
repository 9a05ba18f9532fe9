import HostSockets
import SocketCore

/// How often the host is looked at: `factor` times the cost of a look apart, which is about 3 % of a core, but not less
/// than `least` and not more than `most`, because a verdict takes several looks.
struct LookPace {
    private static let least = Duration.milliseconds(950)
    private static let most = Duration.seconds(4)
    private static let factor = 30

    /// The interval before the next look.
    private(set) var pause = least

    /// Notes what a look cost in processor time.
    mutating func note(_ cost: Duration) {
        pause = min(max(Self.least, (pause + cost * Self.factor) / 2), Self.most)
    }
}
