import SocketCore

// The blocks of datagram sockets.

extension DatagramSnapshot: WireMessage {
    package static var blank: DatagramSnapshot { DatagramSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &mode)
        try coder.field(2, &flags)
        try coder.field(3, &locals)
        try coder.field(4, &groups)
        try coder.field(5, &counters)
        try coder.field(6, &kernelDrops)
        try coder.field(7, &peers)
        try coder.field(8, &peerCount)
        try coder.field(9, &peersForgotten)
        try coder.field(10, &client)
        try coder.field(11, &associations)
    }
}

extension AssociationCounts: WireMessage {
    package static var blank: AssociationCounts { AssociationCounts() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &open)
        try coder.field(2, &opened)
        try coder.field(3, &expired)
        try coder.field(4, &evicted)
    }
}

extension DatagramReceiveMode: WireWord {}

extension DatagramFlags: WireAlias {
    package var written: UInt64 { UInt64(rawValue) }
    package init(written: UInt64) { self.init(rawValue: UInt32(truncatingIfNeeded: written)) }
}

extension DatagramCounters: WireMessage {
    package static var blank: DatagramCounters { DatagramCounters() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &received)
        try coder.field(2, &sent)
        try coder.field(3, &failed)
        try coder.field(4, &filteredIn)
        try coder.field(5, &filteredOut)
        try coder.field(6, &foreign)
        try coder.field(7, &unfetched)
        try coder.field(8, &truncated)
        try coder.field(9, &errors)
    }
}

extension DatagramPeer: WireMessage {
    package static var blank: DatagramPeer { DatagramPeer(address: .unnamed, lastActivity: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &address)
        try coder.field(2, &packetsReceived)
        try coder.field(3, &received)
        try coder.field(4, &packetsSent)
        try coder.field(5, &sent)
        try coder.field(6, &lastActivity)
    }
}

extension Endpoint: WireAlias {
    private static let hostWord = "udp"

    package var written: WireVariant {
        if case .host(let host, let port) = self { return WireVariant(Self.hostWord, number: Int(port), text: host) }
        return (address ?? .unnamed).written
    }

    package init(written: WireVariant) throws(WireError) {
        if written.word == Self.hostWord {
            self = .host(written.text, port: UInt16(clamping: written.number))
        } else if let endpoint = Endpoint(try SocketAddress(written: written)), endpoint.host == nil {
            self = endpoint
        } else {
            throw .unknown
        }
    }
}
