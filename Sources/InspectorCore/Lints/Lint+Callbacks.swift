import SocketCore

/// Problems on this side of the socket: the program's callbacks, the engine, and this inspector.
extension Lint {
    static let callbacks: [Lint] = [
        Lint(
            "delegate-slow", after: .milliseconds(100), "callbacks have waited for %time for the delegate's queue",
            remedy: "do less in the callbacks, or give the sockets their own queue", delegateSlow),
        Lint(
            "delegate-nil", "a read is in progress but no delegate is set",
            remedy: "set a delegate and keep a reference to it: the socket holds it weakly", delegateMissing),
    ]

    static let itself: [Lint] = [
        Lint(
            engine: "descriptors-out", "no file descriptors are left: new connections wait, and connects fail",
            remedy: "start the program with a higher limit (ulimit -n), or close idle connections ({close})",
            descriptorsOut),
        Lint(
            engine: "socket-queue-slow", "work has waited more than 100 ms for the engine's queue",
            remedy: "something blocks it: callbacks without their own queue run there", queueSlow),
        Lint(
            engine: "events-lost", "the engine overwrote events before they were read here",
            remedy: "queues and totals are still correct; a larger eventCapacity keeps more events"
        ) { _, lost in
            lost > 0 ? Verdict("\(lost) events were lost within the last minute: the event buffer was full") : nil
        },
    ]

    private static let slow = Duration.milliseconds(100)

    private static func delegateSlow(_ it: Situation, _ after: Duration) -> Verdict? {
        let (socket, now) = (it.socket, it.now)
        guard let callbacks = socket.callbacks, let lag = callbacks.lag, lag > after else { return nil }
        // A finished batch is reported only briefly, a waiting one until it runs.
        if let ran = callbacks.ran, now - ran > .seconds(2) { return nil }
        let held = callbacks.undelivered > 0 ? "; \(Format.size(callbacks.undelivered)) undelivered" : ""
        return callbacks.ran == nil
            ? "callbacks have waited \(Format.duration(lag)) for the delegate's queue\(held)"
            : "callbacks waited \(Format.duration(lag)) for the delegate's queue\(held)"
    }

    private static func delegateMissing(_ it: Situation, _ after: Duration) -> Verdict? {
        let socket = it.socket
        // A WebSocket handles its own reads.
        guard let callbacks = socket.callbacks, !callbacks.isHeard, let read = socket.reading.current,
            socket.ownWebSocket == nil
        else { return nil }
        return "read t\(read.tag) is in progress but no delegate is set"
    }

    private static func descriptorsOut(_ engine: EngineSnapshot, _ lost: UInt64) -> Verdict? {
        // A listener retries ten times a second, so a lasting shortage stays recent.
        guard let last = engine.times.outOfDescriptors, case let ago = max(.zero, engine.time - last), ago < .seconds(5)
        else { return nil }
        let count = Format.count(Int(clamping: engine.counters.descriptorsRefused), "descriptor")
        return "the kernel refused \(count), the last one \(Format.duration(ago)) ago: none were left"
    }

    private static func queueSlow(_ engine: EngineSnapshot, _ lost: UInt64) -> Verdict? {
        let times = engine.times
        guard times.queueLag > slow || times.longestTurn > slow else { return nil }
        return Verdict(
            "ready work waited \(Format.duration(times.queueLag)); the longest turn took "
                + Format.duration(times.longestTurn))
    }
}
