/// The clients of a relay of datagrams, each of which has an association with the target, as a stream has a connection. It
/// ends when nothing was sent for a while, or when there are too many: then the one that was quiet for longest.
package struct AssociationTable: Sendable {
    /// What a datagram from a client means.
    package enum Step: Equatable, Sendable {
        case known
        /// A new association; that of another client ends for it.
        case new(evicting: SocketAddress?)
    }

    /// How many associations there are at most.
    package let limit: Int
    /// How long one may be quiet.
    package let patience: Duration
    private var lastActivity: [SocketAddress: MonotonicTime] = [:]
    package private(set) var counts = AssociationCounts()

    /// - Parameter limit: at least 1.
    package init(limit: Int = 1_024, patience: Duration = .seconds(30)) {
        (self.limit, self.patience) = (max(1, limit), patience)
    }

    /// A client sent a datagram.
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

    /// The target answered a client.
    package mutating func answered(_ client: SocketAddress, now: MonotonicTime) {
        if lastActivity[client] != nil { lastActivity[client] = now }
    }

    /// Its association is over.
    package mutating func remove(_ client: SocketAddress) {
        lastActivity[client] = nil
        counts.open = lastActivity.count
    }

    /// Ends what was quiet for too long, and returns whose it was. `isBusy`: whether something of it is still on its way,
    /// which counts as activity.
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

    /// When the next one ends unless something is sent; `nil`: there is none.
    package var deadline: MonotonicTime? { lastActivity.values.min().map { $0 + patience } }
}
