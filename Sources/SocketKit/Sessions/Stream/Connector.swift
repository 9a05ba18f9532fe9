import SocketCore

/// A connect in progress: the plan, and the descriptor of each running attempt. Afterwards it keeps what was resolved,
/// tried, refused and won, for the screen and for the error.
final class Connector {
    /// One attempt. It owns its descriptor until it wins.
    final class Attempt {
        let index: Int
        var socket: SocketHandle?

        init(index: Int, socket: consuming SocketHandle) {
            self.index = index
            self.socket = consume socket
        }
    }

    let started: MonotonicTime
    let timeout: Duration?
    /// Where to bind the local side, by family, or `nil` if the kernel chooses.
    let localAddresses: [SocketAddress]?
    var resolvedIn: Duration?
    var plan: ConnectPlan?
    var attempts: [Attempt] = []
    /// When the plan starts the next attempt.
    var nextAttempt: MonotonicTime?
    /// An attempt to retry, and when.
    var retry: (index: Int, time: MonotonicTime)?
    /// Set once the connect is over.
    var summary: ConnectSnapshot?

    init(started: MonotonicTime, timeout: Duration?, localAddresses: [SocketAddress]?) {
        self.localAddresses = localAddresses
        self.started = started
        self.timeout = timeout
    }

    /// Whether the local side can be bound to an address of that family. A family that the interface lacks is skipped.
    func canReach(_ address: SocketAddress) -> Bool {
        localAddresses?.contains { $0.isSameFamily(as: address) } ?? true
    }

    var timesOut: MonotonicTime? { timeout.map { started + $0 } }

    var deadline: MonotonicTime? {
        [timesOut, nextAttempt, retry?.time].compactMap(\.self).min()
    }

    func snapshot(now: MonotonicTime) -> ConnectSnapshot {
        if let summary { return summary }
        var snapshot = plan?.snapshot(resolvedIn: resolvedIn, now: now) ?? ConnectSnapshot(resolvedIn: resolvedIn)
        snapshot.deadline = timesOut
        return snapshot
    }
}
