import SocketCore

/// The clients of a datagram relay. Each has an association with the target, as a stream has a connection. An
/// association ends when it has been idle for a while, or when there are too many and it has been idle the longest.
package struct AssociationTable: Sendable {
    /// The meaning of a datagram from a client.
    package enum Step: Equatable, Sendable {
        case known
        /// It begins a new association, which may end that of another client.
        case new(evicting: SocketAddress?)
    }

    /// The most associations.
    package let limit: Int
    /// How long an association can be idle.
    package let patience: Duration
    private var lastActivity: [SocketAddress: MonotonicTime] = [:]
    package private(set) var counts = AssociationCounts()

    /// - Parameter limit: at least 1.
    package init(limit: Int = 1_024, patience: Duration = .seconds(30)) {
        (self.limit, self.patience) = (max(1, limit), patience)
    }

    /// Records a datagram from a client.
    package mutating func heard(from client: SocketAddress, now: MonotonicTime) -> Step {
        if lastActivity.updateValue(now, forKey: client) != nil { return .known }
        counts.opened += 1
        counts.open = lastActivity.count
        guard lastActivity.count > limit else { return .new(evicting: nil) }
        let oldest = lastActivity.filter { $0.key != client }.min { $0.value < $1.value }?.key
        if let oldest {
            remove(oldest)
            counts.evicted += 1
        }
        return .new(evicting: oldest)
    }

    /// Records an answer of the target to a client.
    package mutating func answered(_ client: SocketAddress, now: MonotonicTime) {
        if lastActivity[client] != nil { lastActivity[client] = now }
    }

    /// Ends a client's association.
    package mutating func remove(_ client: SocketAddress) {
        lastActivity[client] = nil
        counts.open = lastActivity.count
    }

    /// Ends the associations that were idle for too long, and returns their clients. `isBusy` returns whether a client
    /// still has pending datagrams, which counts as activity.
    package mutating func expire(
        now: MonotonicTime, isBusy: (SocketAddress) -> Bool = { _ in false }
    ) -> [SocketAddress] {
        var late: [SocketAddress] = []
        for (client, time) in lastActivity where now - time >= patience {
            if isBusy(client) { lastActivity[client] = now } else { late.append(client) }
        }
        late.forEach { remove($0) }
        counts.expired += UInt64(late.count)
        return late
    }

    /// When the next association ends unless there is activity, or `nil` if there is none.
    package var deadline: MonotonicTime? { lastActivity.values.min().map { $0 + patience } }
}
