import SocketCore

/// A connect in progress: the plan, and the descriptor of each attempt under way. When it is over it keeps what was
/// resolved, tried, refused and won, for the screen and for the error.
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
    /// What our end is bound to, one for each family that the interface has; nil: the kernel chooses.
    let localAddresses: [SocketAddress]?
    var resolvedIn: Duration?
    var plan: ConnectPlan?
    var attempts: [Attempt] = []
    /// When the plan wants to start the next attempt.
    var nextAttempt: MonotonicTime?
    /// An attempt that is made again.
    var retry: (index: Int, time: MonotonicTime)?
    /// How it went, once it is over.
    var summary: ConnectSnapshot?

    init(started: MonotonicTime, timeout: Duration?, localAddresses: [SocketAddress]?) {
        self.localAddresses = localAddresses
        self.started = started
        self.timeout = timeout
    }

    /// Whether our end can be bound to an address of that family; a family that the interface lacks is skipped.
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
