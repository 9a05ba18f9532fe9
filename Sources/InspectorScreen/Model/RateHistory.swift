import SocketCore

/// The bytes received and sent in each of the last sixty seconds, for every listed session.
package struct RateHistories: Equatable, Sendable {
    /// The two series of one session, oldest first, one value per second.
    package struct Series: Equatable, Sendable {
        package fileprivate(set) var received: [Float] = []
        package fileprivate(set) var sent: [Float] = []
        fileprivate var lastReceived: UInt64
        fileprivate var lastSent: UInt64
    }

    package static let seconds = 60
    private var series: [SocketID: Series] = [:]
    private var sampled: MonotonicTime?

    package init() {}

    /// The series of a session, or `nil` if there is none. Empty until its first second is over.
    package subscript(id: SocketID) -> Series? { series[id] }

    package var count: Int { series.count }

    /// Samples each session once a second, and forgets sessions that are no longer listed.
    package mutating func absorb(_ snapshot: EngineSnapshot) {
        let elapsed = sampled.map { snapshot.time - $0 } ?? .seconds(1)
        guard elapsed >= .milliseconds(999) else { return }
        let steps = min(Self.seconds, max(1, Int(min(elapsed.inSeconds, 3600) + 0.5)))
        sampled = snapshot.time
        var kept: [SocketID: Series] = [:]
        kept.reserveCapacity(snapshot.sockets.count)
        let sockets = snapshot.sockets
        for index in sockets.indices {
            let (id, received, sent) = (sockets[index].id, sockets[index].received, sockets[index].sent)
            guard var one = series.removeValue(forKey: id) else {
                kept[id] = Series(lastReceived: received, lastSent: sent)
                continue
            }
            if sockets[index].isLive { one.add(received, sent, steps: steps, over: elapsed) }
            kept[id] = one
        }
        series = kept
    }
}

extension RateHistories.Series {
    fileprivate mutating func add(_ nowReceived: UInt64, _ nowSent: UInt64, steps: Int, over elapsed: Duration) {
        let seconds = Float(max(0.001, elapsed.inSeconds))
        let receivedRate = Float(nowReceived &- min(lastReceived, nowReceived)) / seconds
        let sentRate = Float(nowSent &- min(lastSent, nowSent)) / seconds
        Self.append(receivedRate, steps, to: &received)
        Self.append(sentRate, steps, to: &sent)
        lastReceived = nowReceived
        lastSent = nowSent
    }

    private static func append(_ value: Float, _ count: Int, to values: inout [Float]) {
        values.append(contentsOf: repeatElement(value, count: count))
        if values.count > RateHistories.seconds { values.removeFirst(values.count - RateHistories.seconds) }
    }
}
