/// The traffic with one address.
public struct DatagramPeer: Hashable, Sendable {
    /// The peer's address.
    public var address: SocketAddress
    /// Datagrams received from it.
    public var packetsReceived: UInt64 = 0
    /// Payload bytes received from it.
    public var received: UInt64 = 0
    /// Datagrams to it that the kernel accepted.
    public var packetsSent: UInt64 = 0
    /// Payload bytes of those datagrams.
    public var sent: UInt64 = 0
    /// When a datagram was last sent or received.
    public var lastActivity: MonotonicTime

    /// Describes a peer without traffic.
    public init(address: SocketAddress, lastActivity: MonotonicTime) {
        self.address = address
        self.lastActivity = lastActivity
    }

    /// Datagrams sent and received.
    public var packets: UInt64 { packetsReceived + packetsSent }
}

/// The busiest peers of one datagram socket, up to a limit. A new peer replaces the one with the fewest datagrams, or
/// among equals the one that has been silent longest.
package struct PeerTable: Sendable {
    private var peers: [SocketAddress: DatagramPeer] = [:]
    private let limit: Int
    /// The number of peers that were dropped to make room.
    package private(set) var forgotten: UInt64 = 0

    /// Creates an empty table for up to `limit` peers, and at least 1.
    package init(limit: Int = 64) {
        self.limit = max(1, limit)
    }

    /// The number of peers in the table.
    package var count: Int { peers.count }

    /// Counts datagrams received from an address.
    package mutating func received(from address: SocketAddress, packets: Int, bytes: Int, now: MonotonicTime) {
        update(address, now) { peer in
            peer.packetsReceived += UInt64(packets)
            peer.received += UInt64(bytes)
        }
    }

    /// Counts a datagram to an address that the kernel accepted.
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

    /// Returns up to `most` peers with the most datagrams, busiest first.
    package func busiest(_ most: Int) -> [DatagramPeer] {
        let order = peers.values.sorted {
            ($0.packets, $0.received + $0.sent, $0.address.description)
                > ($1.packets, $1.received + $1.sent, $1.address.description)
        }
        return Array(order.prefix(most))
    }
}
