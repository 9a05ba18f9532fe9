/// Traffic with one address.
public struct DatagramPeer: Hashable, Sendable, Codable {
    /// Who.
    public var address: SocketAddress
    /// Datagrams that came from there.
    public var packetsReceived: UInt64 = 0
    /// Their bytes.
    public var received: UInt64 = 0
    /// Datagrams that the kernel took for it.
    public var packetsSent: UInt64 = 0
    /// Their bytes.
    public var sent: UInt64 = 0
    /// When one last passed, either way.
    public var lastActivity: MonotonicTime

    /// Nothing so far.
    public init(address: SocketAddress, lastActivity: MonotonicTime) {
        self.address = address
        self.lastActivity = lastActivity
    }

    /// Datagrams both ways.
    public var packets: UInt64 { packetsReceived + packetsSent }
}

/// The peers of one datagram socket by traffic, as many as there is room for. A new one takes the place of the one with
/// the fewest datagrams, the longest silent among equals, so that those who matter stay.
package struct PeerTable: Sendable {
    private var peers: [SocketAddress: DatagramPeer] = [:]
    private let limit: Int
    /// Peers that were forgotten for room.
    package private(set) var forgotten: UInt64 = 0

    /// An empty table for so many peers, at least 1.
    package init(limit: Int = 64) {
        self.limit = max(1, limit)
    }

    /// How many are known.
    package var count: Int { peers.count }

    /// Counts datagrams that came from an address.
    package mutating func received(from address: SocketAddress, packets: Int, bytes: Int, now: MonotonicTime) {
        update(address, now) { peer in
            peer.packetsReceived += UInt64(packets)
            peer.received += UInt64(bytes)
        }
    }

    /// Counts a datagram that the kernel took for an address.
    package mutating func sent(to address: SocketAddress, bytes: Int, now: MonotonicTime) {
        update(address, now) { peer in
            peer.packetsSent += 1
            peer.sent += UInt64(bytes)
        }
    }

    private mutating func update(
        _ address: SocketAddress, _ now: MonotonicTime, _ change: (inout DatagramPeer) -> Void
    ) {
        if peers[address] == nil, peers.count >= limit { forgetOne() }
        change(&peers[address, default: DatagramPeer(address: address, lastActivity: now)])
        peers[address]?.lastActivity = now
    }

    private mutating func forgetOne() {
        let least = peers.values.min { ($0.packets, $0.lastActivity) < ($1.packets, $1.lastActivity) }
        guard let least else { return }
        peers[least.address] = nil
        forgotten += 1
    }

    /// The peers with the most datagrams, busiest first, at most so many.
    package func busiest(_ most: Int) -> [DatagramPeer] {
        let order = peers.values.sorted {
            ($0.packets, $0.received + $0.sent, $0.address.description)
                > ($1.packets, $1.received + $1.sent, $1.address.description)
        }
        return Array(order.prefix(most))
    }
}
