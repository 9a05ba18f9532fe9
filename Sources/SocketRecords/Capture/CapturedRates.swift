import SocketCore

/// The receive and send rates of captured connections, in bytes a second.
package struct CapturedRates: Sendable {
    private var windows: [SocketID: (received: RateWindow, sent: RateWindow)] = [:]

    package init() {}

    /// Measures all listed connections, and sets their rates.
    package mutating func measure(_ sockets: inout [SocketSnapshot], _ now: MonotonicTime) {
        var next: [SocketID: (received: RateWindow, sent: RateWindow)] = [:]
        for index in sockets.indices where sockets[index].phase != .closed {
            let (id, opened) = (sockets[index].id, sockets[index].opened)
            var window =
                windows[id] ?? (RateWindow(since: opened, now: now), RateWindow(since: opened, now: now))
            window.received.sample(total: sockets[index].received, now: now)
            window.sent.sample(total: sockets[index].sent, now: now)
            (sockets[index].receiveRate, sockets[index].sendRate) = (window.received.perSecond, window.sent.perSecond)
            next[id] = window
        }
        windows = next
    }
}
