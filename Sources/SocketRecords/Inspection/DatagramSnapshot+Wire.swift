import SocketCore

// The blocks of datagram sockets.

extension DatagramSnapshot: WireMessage {
    package static var blank: DatagramSnapshot { DatagramSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &mode, "mode", "how it receives")
        try coder.field(2, &flags, "flags", "GCDAsyncUdpSocket's flags")
        try coder.field(3, &locals, "locals", "the addresses it is bound to")
        try coder.field(4, &groups, "groups", "the groups it has joined")
        try coder.inlined(5, &counters)
        try coder.field(6, &kernelDrops, "kernel_drops", "dropped by the kernel for lack of room")
        try coder.field(7, &peers, "peers", "the 16 busiest peers")
        try coder.field(8, &peerCount, "peers_known", "how many are known")
        try coder.field(9, &peersForgotten, "peers_forgotten", "how many have been forgotten")
        try coder.field(10, &client, "client", "for a relay's association, its client")
        try coder.field(
            11, &associations, "associations", "a relay's associations, for the socket that clients send to")
    }
}

extension AssociationCounts: WireMessage {
    package static var blank: AssociationCounts { AssociationCounts() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &open, "open", "how many there are")
        try coder.field(2, &opened, "opened", "how many there were in total")
        try coder.field(3, &expired, "expired", "how many ended because they were idle")
        try coder.field(4, &evicted, "evicted", "how many ended for lack of room")
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
        try coder.field(1, &received, "received", "datagrams received")
        try coder.field(2, &sent, "sent", "datagrams sent")
        try coder.field(3, &failed, "failed", "datagrams that could not be sent")
        try coder.field(4, &filteredIn, "dropped_by_receive_filter", "received, and rejected by the filter")
        try coder.field(
            5, &filteredOut, "dropped_by_send_filter", "not sent, because the filter rejected them",
            after: "dropped_backlog_full")
        try coder.field(
            6, &foreign, "dropped_foreign", "not from the connected peer", after: "dropped_by_receive_filter")
        try coder.field(
            7, &unfetched, "dropped_backlog_full", "dropped because the program could not keep up",
            after: "dropped_foreign")
        try coder.field(8, &truncated, "truncated", "longer than the program wanted")
        try coder.field(9, &errors, "errors", "errors that the kernel reported", after: "failed")
    }
}

extension DatagramPeer: WireMessage {
    package static var blank: DatagramPeer { DatagramPeer(address: .unnamed, lastActivity: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &address, "address", "its address")
        try coder.field(2, &packetsReceived, "received", "datagrams from it")
        try coder.field(3, &received, "received_bytes", "their bytes")
        try coder.field(4, &packetsSent, "sent", "datagrams to it")
        try coder.field(5, &sent, "sent_bytes", "their bytes")
        try coder.field(6, &lastActivity, "last_activity", "when the last one was sent or received")
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
