import SocketCore

/// Bytes received and sent in each of the last sixty seconds, of every session that is listed.
package struct RateHistories: Hashable, Sendable {
    /// The two series of one session, oldest first, one value a second.
    package struct Series: Hashable, Sendable {
        package fileprivate(set) var received: [Float] = []
        package fileprivate(set) var sent: [Float] = []
        fileprivate var lastReceived: UInt64
        fileprivate var lastSent: UInt64
    }

    package static let seconds = 60
    private var series: [SocketID: Series] = [:]
    private var sampled: MonotonicTime?

    package init() {}

    /// The series of a session; empty before its first second is over.
    package subscript(id: SocketID) -> Series? { series[id] }

    package var count: Int { series.count }

    /// Takes a sample of each session once a second, and forgets the sessions that are no longer listed.
    package mutating func take(_ snapshot: EngineSnapshot) {
        let elapsed = sampled.map { snapshot.time - $0 } ?? .seconds(1)
        guard elapsed >= .milliseconds(999) else { return }
        let steps = min(Self.seconds, max(1, Int(min(elapsed.inSeconds, 3600) + 0.5)))
        sampled = snapshot.time
        var kept: [SocketID: Series] = [:]
        kept.reserveCapacity(snapshot.sockets.count)
        for socket in snapshot.sockets {
            var one = series[socket.id] ?? Series(lastReceived: socket.received, lastSent: socket.sent)
            if series[socket.id] != nil && socket.isLive { one.add(socket, steps: steps, over: elapsed) }
            kept[socket.id] = one
        }
        series = kept
    }
}

extension RateHistories.Series {
    fileprivate mutating func add(_ socket: SocketSnapshot, steps: Int, over elapsed: Duration) {
        let seconds = Float(max(0.001, elapsed.inSeconds))
        let receivedRate = Float(socket.received &- min(lastReceived, socket.received)) / seconds
        let sentRate = Float(socket.sent &- min(lastSent, socket.sent)) / seconds
        Self.append(receivedRate, steps, to: &received)
        Self.append(sentRate, steps, to: &sent)
        lastReceived = socket.received
        lastSent = socket.sent
    }

    private static func append(_ value: Float, _ count: Int, to values: inout [Float]) {
        values.append(contentsOf: repeatElement(value, count: count))
        if values.count > RateHistories.seconds { values.removeFirst(values.count - RateHistories.seconds) }
    }
}
