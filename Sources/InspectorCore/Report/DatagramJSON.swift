import SocketCore

extension SocketJSON {
    /// Returns what only a datagram socket has.
    func datagrams(_ facts: DatagramSnapshot) -> JSON {
        let counters = facts.counters
        return [
            "mode": JSON(word: facts.mode.rawValue),
            "flags": .array(DatagramFlags.names.filter { facts.flags.contains($0.flag) }.map { JSON($0.name) }),
            "locals": .array(facts.locals.map { JSON($0.description) }),
            "groups": .array(facts.groups.map { JSON($0) }), "received": JSON(counters.received),
            "sent": JSON(counters.sent), "failed": JSON(counters.failed), "errors": JSON(counters.errors),
            "dropped_by_receive_filter": JSON(counters.filteredIn), "dropped_foreign": JSON(counters.foreign),
            "dropped_backlog_full": JSON(counters.unfetched), "dropped_by_send_filter": JSON(counters.filteredOut),
            "truncated": JSON(counters.truncated), "kernel_drops": JSON(facts.kernelDrops),
            "peers": .array(facts.peers.map(peer)), "peers_known": JSON(facts.peerCount),
            "peers_forgotten": JSON(facts.peersForgotten), "client": JSON(facts.client?.description),
            "associations": facts.associations.map(associations) ?? .null,
        ]
    }

    private func associations(_ counts: AssociationCounts) -> JSON {
        [
            "open": JSON(counts.open), "opened": JSON(counts.opened), "expired": JSON(counts.expired),
            "evicted": JSON(counts.evicted),
        ]
    }

    private func peer(_ peer: DatagramPeer) -> JSON {
        [
            "address": JSON(peer.address.description), "received": JSON(peer.packetsReceived),
            "received_bytes": JSON(peer.received), "sent": JSON(peer.packetsSent), "sent_bytes": JSON(peer.sent),
            "last_activity": time(peer.lastActivity),
        ]
    }
}
