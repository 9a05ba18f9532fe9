import SocketCore

/// What a connect is for.
enum ConnectTarget {
    case addresses([SocketAddress])
    case name(String, UInt16)
}

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
    let configuration: SocketConfiguration
    var resolvedIn: Duration?
    var plan: ConnectPlan?
    var attempts: [Attempt] = []
    /// When the plan wants to start the next attempt.
    var nextAttempt: MonotonicTime?
    /// How it went, once it is over.
    var summary: ConnectSnapshot?

    init(started: MonotonicTime, timeout: Duration?, configuration: SocketConfiguration) {
        self.started = started
        self.timeout = timeout
        self.configuration = configuration
    }

    var timesOut: MonotonicTime? { timeout.map { started + $0 } }

    var deadline: MonotonicTime? {
        guard let timesOut else { return nextAttempt }
        return nextAttempt.map { min($0, timesOut) } ?? timesOut
    }

    func snapshot(now: MonotonicTime) -> ConnectSnapshot {
        summary ?? plan?.snapshot(resolvedIn: resolvedIn, now: now) ?? ConnectSnapshot(resolvedIn: resolvedIn)
    }
}
